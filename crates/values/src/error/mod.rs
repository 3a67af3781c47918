//! What goes wrong, named by what the caller can do about it: a SQLSTATE, a message, and the way out.
//!
//! Every error that leaves this crate is an [`Error`]. Its [`SqlState`] is PostgreSQL's five-character
//! code, so that a client program decides by code and a person by message, detail and hint. How errors
//! of the engine below become ours is in [`translate`](crate::translate).

mod sql_state;

pub use sql_state::SqlState;

use std::fmt;

/// An error with everything that a client shows: code, message, detail, hint, place in the statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error(Box<Fields>);

/// What in the database an error is about, where it names something.
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

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The part of a statement that is to blame, to be looked for in the statement's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Culprit {
    /// A quoted constant with this text.
    Literal(String),
    /// A table, as the statement writes its name.
    Relation(String),
    /// A call of a function, and the types of its arguments.
    Call { name: String, types: Vec<String> },
    /// A column, with the table that it is said to be of.
    Column { table: Option<String>, name: String },
    /// What WHERE, NOT or the like is given, the type that it takes, and the one that it was given.
    Argument { of: String, needed: String, given: String },
    /// An operator, and the types beside it.
    Operator { operator: String, types: [String; 2] },
}

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
    culprit: Option<Culprit>,
}

impl Error {
    /// An error with a code and one sentence that names the offending value.
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
            culprit: None,
        }))
    }

    /// Shorthand for what Pando understands and does not do.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::new(SqlState::FeatureNotSupported, what)
    }

    /// Adds what a person needs to understand the message: the values involved.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds what a person can do now.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds where in the statement's text the trouble is: characters, counted from 1.
    pub fn at(mut self, position: usize) -> Self {
        self.0.position = Some(position);
        self
    }

    /// Adds what was being done: `COPY t, line 2`.
    pub fn with_context(mut self, context: impl Into<String>) -> Self {
        self.0.context = Some(context.into());
        self
    }

    /// Adds the routine of PostgreSQL that says this. Drivers tell some errors apart by it.
    pub fn with_routine(mut self, routine: &'static str) -> Self {
        self.0.routine = Some(routine);
        self
    }

    /// Adds the table that it is about.
    pub fn of_table(mut self, schema: &str, table: &str) -> Self {
        self.0.subject.schema = Some(schema.to_owned());
        self.0.subject.table = Some(table.to_owned());
        self
    }

    /// Adds the column that it is about.
    pub fn of_column(mut self, column: &str) -> Self {
        self.0.subject.column = Some(column.to_owned());
        self
    }

    /// Adds the constraint that was violated.
    pub fn of_constraint(mut self, constraint: &str) -> Self {
        self.0.subject.constraint = Some(constraint.to_owned());
        self
    }

    /// Adds which part of the statement is to blame.
    pub fn blaming(mut self, culprit: Culprit) -> Self {
        self.0.culprit = Some(culprit);
        self
    }

    /// Adds which quoted constant of the statement is to blame.
    pub fn blaming_literal(self, text: &str) -> Self {
        self.blaming(Culprit::Literal(text.to_owned()))
    }

    /// The part of the statement that is to blame.
    pub fn culprit(&self) -> Option<&Culprit> {
        self.0.culprit.as_ref()
    }

    /// The code.
    pub fn state(&self) -> SqlState {
        self.0.state
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The values involved, where there is more to say.
    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    /// The way out, where there is one.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Character of the statement's text, counted from 1.
    pub fn position(&self) -> Option<usize> {
        self.0.position
    }

    /// What was being done.
    pub fn context(&self) -> Option<&str> {
        self.0.context.as_deref()
    }

    /// The routine of PostgreSQL that says this, where drivers look at it.
    pub fn routine(&self) -> Option<&'static str> {
        self.0.routine
    }

    /// What in the database it is about.
    pub fn subject(&self) -> &Subject {
        &self.0.subject
    }

    /// Whether the same statement or transaction may succeed when it is run again.
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
