//! The options of COPY.

use crate::planner::files::Format;
use crate::values::error::{Error, Result, SqlState};
use datafusion::sql::sqlparser::ast::{CopyOption, CopyTarget, Statement};

/// What COPY was told, with the defaults filled in.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) path: String,
    pub(crate) format: Format,
    pub(crate) delimiter: u8,
    pub(crate) header: bool,
    pub(crate) quote: u8,
    pub(crate) escape: Option<u8>,
    pub(crate) null: Option<String>,
}

impl Options {
    pub(crate) fn of(statement: &Statement) -> Result<Self> {
        let Statement::Copy { target, options, .. } = statement else {
            unreachable!("only COPY has these options");
        };
        let path = match target {
            CopyTarget::File { filename } => filename.clone(),
            other => {
                return Err(Error::unsupported(format!(
                    "COPY with {other} needs a client connection"
                ))
                .with_hint("Give a file name: COPY t FROM 'file.csv' (FORMAT csv)."));
            }
        };
        let named = options.iter().find_map(|option| match option {
            CopyOption::Format(name) => Some(Format::named(&name.value)),
            _ => None,
        });
        // A statement of PostgreSQL's means what it means there. One that goes by the file's name is ours, and so is the
        // file: with the names of its columns, as it is queried.
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
