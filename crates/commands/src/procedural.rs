//! DO, and CALL of a procedure.

use crate::options::{elements, text};
use crate::{Error, Result};
use grammar::tree::DoStmt;

/// DO.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Do {
    /// The source.
    pub source: String,
}

impl Do {
    pub(crate) fn of(statement: &DoStmt) -> Result<Self> {
        let (mut source, mut language) = (None, None);
        for element in elements(&statement.args) {
            let value = element.arg.as_deref().and_then(text);
            let slot = if element.defname == "as" { &mut source } else { &mut language };
            if slot.is_some() {
                let message = "conflicting or redundant options";
                return Err(Error::new("42601", message).at(element.location));
            }
            *slot = value;
        }
        let language = language.unwrap_or_else(|| "plpgsql".to_owned());
        match (language.as_str(), source) {
            (_, None) => Err(Error::new("42601", "no inline code specified")),
            ("plpgsql", Some(source)) => Ok(Self { source }),
            ("sql" | "c" | "internal", _) => {
                let message =
                    format!("language \"{language}\" does not support inline code execution");
                Err(Error::new("0A000", message))
            }
            _ => {
                let message = format!("language \"{language}\" does not exist");
                Err(Error::new("42704", message))
            }
        }
    }
}
