//! The options of COPY to and from files.

use datafusion::sql::sqlparser::ast::{CopyOption, CopyTarget, Statement};
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
    pub(crate) fn of(statement: &Statement) -> Result<Self> {
        let Statement::Copy { target, options, .. } = statement else {
            unreachable!("the statement is a COPY");
        };
        let path = match target {
            CopyTarget::File { filename } => filename.clone(),
            other => {
                return Err(Error::unsupported(format!(
                    "COPY with {other} requires a client connection"
                ))
                .with_hint("Give a file name: COPY t FROM 'file.csv' (FORMAT csv)."));
            }
        };
        let named = options.iter().find_map(|option| match option {
            CopyOption::Format(name) => Some(Format::named(&name.value)),
            _ => None,
        });
        // With FORMAT, the defaults are PostgreSQL's. Without FORMAT, which PostgreSQL would read
        // as text, the file has a header with the column names, as in queries of files.
        let header = named.is_none();
        let format = match named {
            Some(format) => format?,
            None => Format::of_path(&path)?,
        };
        let mut copy =
            Self { path, format, delimiter: b',', header, quote: b'"', escape: None, null: None };
        for option in options {
            copy.take(option)?;
        }
        Ok(copy)
    }

    fn take(&mut self, option: &CopyOption) -> Result<()> {
        match option {
            CopyOption::Format(_) | CopyOption::Freeze(_) => {}
            CopyOption::Delimiter(c) => self.delimiter = byte("delimiter", *c)?,
            CopyOption::Header(header) => self.header = *header,
            CopyOption::Quote(c) => self.quote = byte("quote", *c)?,
            CopyOption::Escape(c) => self.escape = Some(byte("escape", *c)?),
            CopyOption::Null(text) => self.null = Some(text.clone()),
            CopyOption::Encoding(name) if name.to_lowercase().replace('-', "") == "utf8" => {}
            other => {
                return Err(Error::unsupported(format!("COPY option {other} is not supported")));
            }
        }
        Ok(())
    }
}

fn byte(option: &str, c: char) -> Result<u8> {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => Ok(byte),
        _ => Err(Error::new(
            SqlState::InvalidParameterValue,
            format!("COPY {option} must be a single one-byte character, not \"{c}\""),
        )),
    }
}
