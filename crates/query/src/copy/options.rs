//! The options of COPY to and from files.

use parser::commands::{Copy, CopyPlace, Given};
use scan::files::Format;
use values::error::{Error, Result, SqlState};

/// The options of a COPY, including defaults.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// The file, as named in the statement.
    pub(crate) path: String,
    pub(crate) format: Format,
    /// CSV: the separator of values.
    pub(crate) delimiter: u8,
    /// CSV: whether the first line has the column names.
    pub(crate) header: bool,
    /// CSV: the quote character.
    pub(crate) quote: u8,
    /// CSV: the escape character in quoted values; `None` for the quote character.
    pub(crate) escape: Option<u8>,
    /// CSV: the text that stands for NULL; `None` for the empty text.
    pub(crate) null: Option<String>,
}

impl Options {
    /// Reads the options of a COPY statement. Without FORMAT, the file extension decides.
    ///
    /// # Errors
    /// 0A000 for STDIN and STDOUT and for unsupported options; 22023 for invalid values.
    pub(crate) fn of(copy: &Copy) -> Result<Self> {
        let CopyPlace::File(path) = &copy.place else {
            return Err(Error::unsupported("COPY with the client requires a client connection")
                .with_hint("Give a file name: COPY t FROM 'file.csv' (FORMAT csv)."));
        };
        let named = copy.options.iter().find(|option| option.name == "format");
        let named = named.and_then(|option| option.words.first()).map(|name| Format::named(name));
        // With FORMAT, the defaults are PostgreSQL's. Without FORMAT, which PostgreSQL would read
        // as text, the file has a header with the column names, as in queries of files.
        let header = named.is_none();
        let format = match named {
            Some(format) => format?,
            None => Format::of_path(path)?,
        };
        let path = path.clone();
        let mut options =
            Self { path, format, delimiter: b',', header, quote: b'"', escape: None, null: None };
        copy.options.iter().try_for_each(|option| options.take(option))?;
        Ok(options)
    }

    fn take(&mut self, option: &Given) -> Result<()> {
        let word = option.words.first().map_or("", String::as_str);
        match option.name.as_str() {
            "format" | "freeze" => {}
            "delimiter" => self.delimiter = byte("delimiter", word)?,
            "header" => {
                self.header = match word.to_lowercase().as_str() {
                    "" | "true" | "on" | "1" => true,
                    "false" | "off" | "0" => false,
                    other => {
                        let what = format!("COPY header \"{other}\" with a file");
                        return Err(Error::unsupported(format!("{what} is not supported")));
                    }
                };
            }
            "quote" => self.quote = byte("quote", word)?,
            "escape" => self.escape = Some(byte("escape", word)?),
            "null" => self.null = Some(word.to_owned()),
            "encoding" if word.to_lowercase().replace(['-', '_'], "") == "utf8" => {}
            other => {
                let other = other.to_uppercase();
                let message = format!("COPY option {other} is not supported with a file");
                return Err(Error::unsupported(message));
            }
        }
        Ok(())
    }
}

fn byte(option: &str, word: &str) -> Result<u8> {
    match word.as_bytes() {
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err(Error::new(
            SqlState::InvalidParameterValue,
            format!("COPY {option} must be a single one-byte character, not \"{word}\""),
        )),
    }
}
