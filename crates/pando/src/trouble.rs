//! What went wrong, or what a server has to say besides, whether the session is in this process or far away.

use std::fmt;

/// The code of a connection that has been lost.
const LOST: &str = "08006";

/// An error, warning or notice with everything that a person is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SqlError {
    /// `ERROR`, `FATAL`, `WARNING`, `NOTICE`, ...
    pub(crate) severity: String,
    /// PostgreSQL's five characters. Any server's, so more than our own [`pando::SqlState`] knows.
    pub(crate) code: String,
    /// The sentence.
    pub(crate) message: String,
    /// The values involved.
    pub(crate) detail: Option<String>,
    /// The way out.
    pub(crate) hint: Option<String>,
    /// What it was doing.
    pub(crate) context: Option<String>,
    /// Character of the statement's text, counted from 1.
    pub(crate) position: Option<usize>,
}

impl SqlError {
    /// An error of ours.
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
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

    /// A connection is gone, for a reason.
    pub(crate) fn lost(address: impl fmt::Display, reason: impl fmt::Display) -> Self {
        Self::new(LOST, format!("the connection to {address} was lost: {reason}"))
    }

    /// Something to be told that is no error.
    pub(crate) fn notice(severity: &str, message: impl Into<String>) -> Self {
        Self { severity: severity.to_owned(), ..Self::new("", message) }
    }

    /// Whether a connection is gone.
    pub(crate) fn is_loss(&self) -> bool {
        self.code == LOST
    }

    /// The same with the values involved.
    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The same with a way out.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The parts that follow the message, with their labels.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let parts = [("DETAIL", &self.detail), ("HINT", &self.hint), ("CONTEXT", &self.context)];
        parts.into_iter().filter_map(|(label, part)| Some((label, part.as_deref()?)))
    }

    /// `ERROR 42P01`, or only `NOTICE` where the code says nothing.
    pub(crate) fn label(&self) -> String {
        match self.code.as_str() {
            "00000" | "" => self.severity.clone(),
            code => format!("{} {code}", self.severity),
        }
    }
}

impl From<pando::Error> for SqlError {
    fn from(error: pando::Error) -> Self {
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
