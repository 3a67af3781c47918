//! Errors, warnings and notices of a session in this process or of a server.

use std::fmt;

/// SQLSTATE of a lost connection.
const LOST: &str = "08006";

/// An error, warning or notice, with all its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlError {
    /// `ERROR`, `FATAL`, `WARNING`, `NOTICE`, ...
    pub severity: String,
    /// SQLSTATE: five characters. A server may use codes that [`query::SqlState`] does not have.
    pub code: String,
    /// The message.
    pub message: String,
    /// Details, like the values involved.
    pub detail: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// What the server was doing.
    pub context: Option<String>,
    /// Position in the statement's text, in characters from 1.
    pub position: Option<usize>,
}

impl SqlError {
    /// A new error with a SQLSTATE and a message.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            severity: "ERROR".to_owned(),
            code: code.to_owned(),
            message: message.into(),
            detail: None,
            hint: None,
            context: None,
            position: None,
        }
    }

    /// The connection to a server is lost.
    pub fn lost(address: impl fmt::Display, reason: impl fmt::Display) -> Self {
        Self::new(LOST, format!("the connection to {address} was lost: {reason}"))
    }

    /// A notice or warning.
    pub fn notice(severity: &str, message: impl Into<String>) -> Self {
        Self { severity: severity.to_owned(), ..Self::new("", message) }
    }

    /// Whether the connection is lost.
    pub fn is_loss(&self) -> bool {
        self.code == LOST
    }

    /// Sets the detail.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Sets the hint.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The parts that follow the message, with their labels.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let parts = [("DETAIL", &self.detail), ("HINT", &self.hint), ("CONTEXT", &self.context)];
        parts.into_iter().filter_map(|(label, part)| Some((label, part.as_deref()?)))
    }

    /// `ERROR 42P01`, or `NOTICE` if the code says nothing.
    pub fn label(&self) -> String {
        match self.code.as_str() {
            "00000" | "" => self.severity.clone(),
            code => format!("{} {code}", self.severity),
        }
    }
}

impl From<query::Error> for SqlError {
    fn from(error: query::Error) -> Self {
        let owned = |part: Option<&str>| part.map(str::to_owned);
        Self {
            detail: owned(error.detail()),
            hint: owned(error.hint()),
            context: owned(error.context()),
            position: error.position(),
            ..Self::new(error.state().code(), error.message())
        }
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.label(), self.message)?;
        self.parts().try_for_each(|(label, part)| write!(f, "\n{label}: {part}"))
    }
}

impl std::error::Error for SqlError {}
