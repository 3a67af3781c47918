//! The options of COPY with the client, with PostgreSQL's defaults.

use commands::Given;
use values::error::{Error, Result, SqlState};

/// The format of the data (FORMAT).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Tab-separated text.
    Text,
    /// Comma-separated values.
    Csv,
    /// PostgreSQL's binary format.
    Binary,
}

/// Treatment of the first line (HEADER).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// It is a row.
    None,
    /// It is skipped on input. On output it has the names of the columns.
    Skip,
    /// It must have the names of the columns.
    Match,
}

/// The options of a COPY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The format.
    pub form: Form,
    /// Separates the columns of a row.
    pub delimiter: u8,
    /// Represents NULL.
    pub null: String,
    /// Treatment of the first line.
    pub header: Header,
    /// Quotes values in CSV.
    pub quote: u8,
    /// Precedes a quote inside a quoted value in CSV. Defaults to `quote`.
    pub escape: u8,
    /// Columns whose values are always quoted; `*` means all.
    pub force_quote: Vec<String>,
    /// Columns whose quoted values may be NULL; `*` means all.
    pub force_null: Vec<String>,
    /// Columns whose values are never NULL; `*` means all.
    pub force_not_null: Vec<String>,
    /// Whether rows that cannot be converted are skipped (ON_ERROR ignore).
    pub ignore_errors: bool,
    /// The highest number of skipped rows.
    pub reject_limit: Option<u64>,
    /// The condition for the rows that are taken (WHERE), which the statement gives.
    pub condition: Option<String>,
}

impl Options {
    /// Reads and checks the options of a statement.
    ///
    /// # Errors
    /// 22023, 42601 and 0A000 for an unknown option, a value out of range or a conflict.
    pub fn of(given: &[Given]) -> Result<Self> {
        let format = given.iter().find(|given| given.name == "format");
        let form = match format.and_then(|given| given.words.first()).map(String::as_str) {
            None => Form::Text,
            Some(name) => match name.to_lowercase().as_str() {
                "text" => Form::Text,
                "csv" => Form::Csv,
                "binary" => Form::Binary,
                _ => {
                    let message = format!("COPY format \"{name}\" not recognized");
                    return Err(Error::new(SqlState::InvalidParameterValue, message)
                        .with_hint("Supported formats: text, csv, binary."));
                }
            },
        };
        let no_binary =
            given.iter().find(|given| ["delimiter", "null"].contains(&given.name.as_str()));
        if let (Form::Binary, Some(given)) = (form, no_binary) {
            let name = given.name.to_uppercase();
            let message = format!("cannot specify {name} in BINARY mode");
            return Err(Error::new(SqlState::SyntaxError, message));
        }
        let csv = form == Form::Csv;
        let mut options = Self {
            form,
            delimiter: if csv { b',' } else { b'\t' },
            null: if csv { String::new() } else { "\\N".to_owned() },
            header: Header::None,
            quote: b'"',
            escape: b'"',
            force_quote: Vec::new(),
            force_null: Vec::new(),
            force_not_null: Vec::new(),
            ignore_errors: false,
            reject_limit: None,
            condition: None,
        };
        let mut escape = None;
        for Given { name, words, .. } in given {
            options.set(name, words, &mut escape)?;
        }
        options.escape = escape.unwrap_or(options.quote);
        options.check()?;
        Ok(options)
    }

    /// Sets one option. `escape` is kept apart because its default depends on QUOTE.
    fn set(&mut self, name: &str, words: &[String], escape: &mut Option<u8>) -> Result<()> {
        let word = words.first().map_or("", String::as_str);
        match name {
            "format" | "freeze" | "log_verbosity" => {}
            "delimiter" => self.delimiter = byte(name, word)?,
            "null" => word.clone_into(&mut self.null),
            "header" => {
                self.header = match word.to_lowercase().as_str() {
                    "match" => Header::Match,
                    "" | "true" | "on" | "1" => Header::Skip,
                    "false" | "off" | "0" => Header::None,
                    _ => {
                        let message = "header requires a Boolean value or \"match\"";
                        return Err(Error::new(SqlState::SyntaxError, message));
                    }
                };
            }
            "quote" => self.quote = byte(name, word)?,
            "escape" => *escape = Some(byte(name, word)?),
            "force_quote" => self.force_quote = words.to_vec(),
            "force_null" => self.force_null = words.to_vec(),
            "force_not_null" => self.force_not_null = words.to_vec(),
            "on_error" => match word.to_lowercase().as_str() {
                "ignore" => self.ignore_errors = true,
                "stop" => self.ignore_errors = false,
                _ => return Err(invalid(name, word)),
            },
            "reject_limit" => match word.parse() {
                Ok(limit) if limit > 0 => self.reject_limit = Some(limit),
                _ => return Err(invalid(name, word)),
            },
            "encoding" => check_encoding(word)?,
            other => {
                let message = format!("option \"{other}\" not recognized");
                return Err(Error::new(SqlState::SyntaxError, message));
            }
        }
        Ok(())
    }

    /// Checks that the columns that options name are copied, and that the options are for the direction of the COPY.
    ///
    /// # Errors
    /// 42703 for a column that is not copied, 0A000 for an option of the other direction.
    pub fn check_columns(&self, is_from: bool, is_copied: impl Fn(&str) -> bool) -> Result<()> {
        let all = [
            ("force quote", &self.force_quote, false),
            ("force null", &self.force_null, true),
            ("force not null", &self.force_not_null, true),
        ];
        if self.header == Header::Match && !is_from {
            let message = "cannot use \"match\" with HEADER in COPY TO";
            return Err(Error::unsupported(message));
        }
        for (option, columns, of_from) in all {
            if !columns.is_empty() && of_from != is_from {
                let direction = if of_from { "FROM" } else { "TO" };
                let message = format!("COPY {option} only available using COPY {direction}");
                return Err(Error::new(SqlState::FeatureNotSupported, message));
            }
            for column in columns.iter().filter(|column| *column != "*") {
                if !is_copied(column) {
                    let message = format!("column \"{column}\" does not exist");
                    return Err(Error::new(SqlState::UndefinedColumn, message));
                }
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let wrong = |message: &str| Err(Error::new(SqlState::InvalidParameterValue, message));
        if self.null.contains(['\n', '\r']) {
            return wrong("COPY null representation cannot use newline or carriage return");
        }
        if [b'\n', b'\r', b'\\', b'.'].contains(&self.delimiter) {
            return wrong("COPY delimiter cannot be newline, carriage return, backslash or period");
        }
        if self.form == Form::Csv && self.delimiter == self.quote {
            return wrong("COPY delimiter and quote must be different");
        }
        if self.null.as_bytes().contains(&self.delimiter) {
            return wrong("COPY delimiter character must not appear in the NULL specification");
        }
        if self.reject_limit.is_some() && !self.ignore_errors {
            return wrong("COPY REJECT_LIMIT requires ON_ERROR to be set to IGNORE");
        }
        if self.form == Form::Binary && self.header != Header::None {
            return wrong("cannot specify HEADER in BINARY mode");
        }
        Ok(())
    }
}

/// How the names of PostgreSQL's other encodings begin.
const ENCODINGS: [&str; 13] = [
    "big5", "euc", "gb18030", "gbk", "iso8859", "johab", "koi8", "latin", "mule", "shiftjis",
    "sjis", "uhc", "win",
];

/// Checks ENCODING. Text is not converted, so it is UTF-8 for SQL_ASCII, too.
fn check_encoding(word: &str) -> Result<()> {
    let name = word.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "");
    if matches!(name.as_str(), "utf8" | "unicode" | "sqlascii") {
        return Ok(());
    }
    if ENCODINGS.iter().any(|start| name.starts_with(start)) {
        let message = format!("the encoding \"{word}\" of COPY is not supported");
        return Err(Error::unsupported(message).with_hint("The only supported encoding is UTF-8."));
    }
    let message = "argument to option \"encoding\" must be a valid encoding name";
    Err(Error::new(SqlState::InvalidParameterValue, message))
}

fn invalid(name: &str, word: &str) -> Error {
    let message = format!("COPY {} \"{word}\" not recognized", name.to_uppercase());
    Error::new(SqlState::InvalidParameterValue, message)
}

fn byte(name: &str, word: &str) -> Result<u8> {
    match word.as_bytes() {
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => {
            let message = format!("COPY {name} must be a single one-byte character");
            Err(Error::new(SqlState::FeatureNotSupported, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_name_copied_columns() {
        let forced = vec!["a".to_owned()];
        let options = Options { force_quote: forced, ..Options::of(&[]).expect("no options") };
        let refused = |is_from, copied: &str| {
            options.check_columns(is_from, |name| name == copied).map_err(|error| error.state())
        };
        assert_eq!(refused(false, "a"), Ok(()));
        assert_eq!(refused(false, "b"), Err(SqlState::UndefinedColumn));
        assert_eq!(refused(true, "a"), Err(SqlState::FeatureNotSupported));
    }
}
