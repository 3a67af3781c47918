//! Portals: prepared statements with values, and cursors. Both are rows that a client takes bit by bit.

use super::prepared::Prepared;
use super::reading::Reading;
use frontend::Format;
use query::{Field, Listing, ScalarValue};
use std::sync::Arc;

/// A statement with values, and how far its rows have been fetched.
pub(crate) struct Portal {
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) values: Vec<ScalarValue>,
    pub(crate) formats: Vec<Format>,
    pub(crate) state: State,
    pub(crate) kind: Kind,
    /// Whether it may outlive the transaction that runs now, as a cursor WITH HOLD that was committed.
    pub(crate) is_committed: bool,
    /// `None` without a name.
    pub(crate) _listing: Option<Listing>,
}

/// Who made a portal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A Bind message.
    Bound,
    /// DECLARE.
    Cursor { binary: bool, hold: bool },
}

/// How far a portal is.
pub(crate) enum State {
    Bound,
    Open(Box<Reading>),
    /// All rows are fetched: the tag to answer once more with.
    Done(String),
    /// It gave no rows, and is not done twice.
    Ran,
}

impl Portal {
    /// The format that DECLARE BINARY sets for all columns.
    pub(crate) fn own_format(&self) -> Option<Format> {
        match self.kind {
            Kind::Cursor { binary: true, .. } => Some(Format::Binary),
            Kind::Cursor { .. } | Kind::Bound => None,
        }
    }

    /// Whether it lives on when its transaction is committed.
    pub(crate) fn holds(&self) -> bool {
        matches!(self.kind, Kind::Cursor { hold: true, .. })
    }

    /// The columns of its rows, as far as they are known.
    pub(crate) fn fields(&self) -> Option<&[Field]> {
        match &self.state {
            State::Open(reading) => Some(&reading.rows.fields),
            State::Bound | State::Done(_) | State::Ran => None,
        }
    }
}
