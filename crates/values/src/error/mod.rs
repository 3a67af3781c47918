//! Errors: a SQLSTATE, a message, and the optional fields of PostgreSQL's error response.
//!
//! Programs decide by the [`SqlState`]; people read message, detail and hint. Errors of the engine
//! and the store are converted in [`translate`](crate::translate).

mod chosen;
mod sql_state;

pub use sql_state::SqlState;

use std::fmt;

/// An error with all fields that a client receives.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error(Box<Fields>);

/// The database object that an error is about, as far as the error names one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// The schema of the table or the type.
    pub schema: Option<String>,
    /// The table.
    pub table: Option<String>,
    /// The table's column.
    pub column: Option<String>,
    /// The constraint that was violated.
    pub constraint: Option<String>,
    /// The type.
    pub data_type: Option<String>,
}

/// A result whose error is [`Error`] by default.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Fields {
    state: SqlState,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
    position: Option<usize>,
    context: Option<String>,
    routine: Option<&'static str>,
    subject: Subject,
    literal: Option<String>,
}

impl Error {
    /// An error with a code and a message.
    pub fn new(state: SqlState, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Fields {
            state,
            message,
            detail: None,
            hint: None,
            position: None,
            context: None,
            routine: None,
            subject: Subject::default(),
            literal: None,
        }))
    }

    /// An error for a feature that is not supported (0A000).
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::new(SqlState::FeatureNotSupported, what)
    }

    /// Adds the detail: more about the problem, such as the values involved.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds the hint: what the user can do about it.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds the error position: a character of the statement, counted from 1.
    pub fn at(mut self, position: usize) -> Self {
        self.0.position = Some(position);
        self
    }

    /// Removes the error position, which is of another text than the statement.
    pub fn without_position(mut self) -> Self {
        self.0.position = None;
        self
    }

    /// Adds the context: `COPY t, line 2`.
    pub fn with_context(mut self, context: impl Into<String>) -> Self {
        self.0.context = Some(context.into());
        self
    }

    /// Adds a line to the context, for what is around: `PL/pgSQL function f() line 2 at RAISE`.
    pub fn within(mut self, around: impl std::fmt::Display) -> Self {
        self.0.context = Some(match self.0.context {
            Some(inner) => format!("{inner}\n{around}"),
            None => around.to_string(),
        });
        self
    }

    /// Adds the name of the PostgreSQL routine that reports this error. Some drivers look at it.
    pub fn with_routine(mut self, routine: &'static str) -> Self {
        self.0.routine = Some(routine);
        self
    }

    /// Adds the table that the error is about.
    pub fn of_table(mut self, schema: &str, table: &str) -> Self {
        self.0.subject.schema = Some(schema.to_owned());
        self.0.subject.table = Some(table.to_owned());
        self
    }

    /// Adds the column that the error is about.
    pub fn of_column(mut self, column: &str) -> Self {
        self.0.subject.column = Some(column.to_owned());
        self
    }

    /// Adds the constraint that was violated.
    pub fn of_constraint(mut self, constraint: &str) -> Self {
        self.0.subject.constraint = Some(constraint.to_owned());
        self
    }

    /// Adds the offending quoted constant of the statement.
    pub fn at_literal(mut self, text: &str) -> Self {
        self.0.literal = Some(text.to_owned());
        self
    }

    /// The offending quoted constant of the statement, from which the position is found later.
    pub fn literal(&self) -> Option<&str> {
        self.0.literal.as_deref()
    }

    /// The SQLSTATE.
    pub fn state(&self) -> SqlState {
        self.0.state
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The detail.
    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    /// The hint.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The error position: a character of the statement, counted from 1.
    pub fn position(&self) -> Option<usize> {
        self.0.position
    }

    /// The context.
    pub fn context(&self) -> Option<&str> {
        self.0.context.as_deref()
    }

    /// The PostgreSQL routine that reports this error.
    pub fn routine(&self) -> Option<&'static str> {
        self.0.routine
    }

    /// The database object that the error is about.
    pub fn subject(&self) -> &Subject {
        &self.0.subject
    }

    /// Whether the transaction may succeed when it is run again.
    pub fn is_retryable(&self) -> bool {
        self.0.state == SqlState::SerializationFailure
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.state.code(), self.0.message)?;
        if let Some(detail) = &self.0.detail {
            write!(f, "\nDETAIL: {detail}")?;
        }
        if let Some(hint) = &self.0.hint {
            write!(f, "\nHINT: {hint}")?;
        }
        Ok(())
    }
}
