//! Errors of parsing and analysis.

/// A statement that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The SQLSTATE.
    pub state: &'static str,
    /// The message, as PostgreSQL writes it where it has the same error.
    pub message: String,
    /// The byte of the statement that it is about, from 0.
    pub position: Option<usize>,
    /// More about the cause.
    pub detail: Option<String>,
    /// What to do.
    pub hint: Option<String>,
    /// Whether PostgreSQL accepts the statement, but the analysis does not know how to read it.
    pub is_missing: bool,
}

/// The result of parsing or analysis.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with a SQLSTATE.
    pub fn new(state: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { state, message, position: None, detail: None, hint: None, is_missing: false }
    }

    /// A statement that PostgreSQL accepts and Pando does not: 0A000, with the name of what is missing.
    pub fn missing(what: impl std::fmt::Display) -> Self {
        let message = format!("{what} is not supported");
        Self { is_missing: true, ..Self::new("0A000", message) }
    }

    /// Adds the location of a node of the parse tree, if the error has none. Negative locations are unknown.
    pub fn at(mut self, location: i32) -> Self {
        self.position = self.position.or(usize::try_from(location).ok());
        self
    }

    /// Adds a detail.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
