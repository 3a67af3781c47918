//! Portals: bound statements and cursors, whose rows a client fetches in parts.

use super::prepared::Prepared;
use super::reading::Reading;
use frontend::Format;
use query::{Field, Listing, ScalarValue};
use std::sync::Arc;

/// A statement with values, and its progress.
pub(crate) struct Portal {
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) values: Vec<ScalarValue>,
    pub(crate) formats: Vec<Format>,
    pub(crate) state: State,
    pub(crate) kind: Kind,
    /// The number of open savepoints of its transaction that it is behind: 0 once that has committed.
    pub(crate) savepoints: usize,
    /// Whether it outlives the current transaction: a cursor WITH HOLD of a committed transaction.
    pub(crate) is_committed: bool,
    /// `None` without a name.
    pub(crate) listing: Option<Listing>,
}

/// The origin of a portal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A Bind message.
    Bound,
    /// DECLARE.
    Cursor { binary: bool, hold: bool },
}

/// The progress of a portal.
pub(crate) enum State {
    Bound,
    Open(Box<Reading>),
    /// All rows are fetched. A further Execute returns this tag.
    Done(String),
    /// It was executed without rows, and cannot be executed again.
    Ran,
    /// A fetch has failed. No other is possible.
    Failed,
}

impl Portal {
    /// The format that DECLARE BINARY sets for all columns.
    pub(crate) fn own_format(&self) -> Option<Format> {
        match self.kind {
            Kind::Cursor { binary: true, .. } => Some(Format::Binary),
            Kind::Cursor { .. } | Kind::Bound => None,
        }
    }

    /// Whether it outlives a commit of its transaction.
    pub(crate) fn holds(&self) -> bool {
        matches!((self.kind, &self.state), (Kind::Cursor { hold: true, .. }, State::Open(_)))
    }

    /// The columns of its rows, if they are known.
    pub(crate) fn fields(&self) -> Option<&[Field]> {
        match &self.state {
            State::Open(reading) => Some(&reading.rows.fields),
            State::Bound | State::Done(_) | State::Ran | State::Failed => None,
        }
    }
}
