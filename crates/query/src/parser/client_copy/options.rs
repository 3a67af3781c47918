//! The options of a client's COPY, with PostgreSQL's defaults.

use crate::values::error::{Error, Result, SqlState};

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Csv,
    Binary,
}

/// What becomes of the first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    None,
    /// It is passed over.
    Skip,
    /// It must name the columns.
    Match,
}

/// Everything that COPY was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) form: Form,
    pub(crate) delimiter: u8,
    pub(crate) null: String,
    pub(crate) header: Header,
    pub(crate) quote: u8,
    pub(crate) escape: u8,
    /// Columns whose values are always quoted; `*` is all.
    pub(crate) force_quote: Vec<String>,
    pub(crate) force_null: Vec<String>,
    pub(crate) force_not_null: Vec<String>,
    /// Whether rows that cannot be read are passed over.
    pub(crate) ignore_errors: bool,
    /// How many rows may be passed over.
    pub(crate) reject_limit: Option<u64>,
}

/// An option as it is written: its name in lower case, and its words.
pub(crate) type Given = (String, Vec<String>);

impl Options {
    pub(crate) fn of(given: &[Given]) -> Result<Self> {
        let format = given.iter().find(|(name, _)| name == "format");
        let form = match format.and_then(|(_, words)| words.first()).map(String::as_str) {
            None => Form::Text,
            Some(name) => match name.to_lowercase().as_str() {
                "text" => Form::Text,
                "csv" => Form::Csv,
                "binary" => Form::Binary,
                _ => {
                    let message = format!("COPY format \"{name}\" not recognized");
                    return Err(Error::new(SqlState::InvalidParameterValue, message)
                        .with_hint("Formats: text, csv, binary."));
                }
            },
        };
        let no_binary = given.iter().find(|(name, _)| name == "delimiter" || name == "null");
        if let (Form::Binary, Some((name, _))) = (form, no_binary) {
            let message = format!("cannot specify {} in BINARY mode", name.to_uppercase());
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
        };
        let mut escape = None;
        for (name, words) in given {
            options.take(name, words, &mut escape)?;
        }
        options.escape = escape.unwrap_or(options.quote);
        options.check()?;
        Ok(options)
    }

    fn take(&mut self, name: &str, words: &[String], escape: &mut Option<u8>) -> Result<()> {
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
                    _ => return Err(invalid(name, word)),
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
            "encoding" if word.to_lowercase().replace(['-', '_'], "") == "utf8" => {}
            "encoding" => return Err(invalid(name, word).with_hint("Texts are UTF-8.")),
            other => {
                let message = format!("option \"{other}\" not recognized");
                return Err(Error::new(SqlState::SyntaxError, message));
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
            return wrong(
                "COPY delimiter cannot be newline, carriage return, backslash or a point",
            );
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
