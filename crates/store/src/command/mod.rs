//! Commands: every change of a store is one. It is decided once, appended to the log, and applied in
//! order.
//!
//! Applying a command reads nothing but the state that it is applied to: no clock, no snapshots in
//! use that change an answer, no configuration. [`form`] is its stable encoding. Compaction is no
//! command: it changes no answer, and each copy of a bucket compacts on its own.

pub(crate) mod form;
pub(crate) mod state_form;

use crate::write_set::WriteSet;
use bucket::BucketState;
use catalog::{Catalog, CatalogChange, RelationId, TableId};
use sdds::{Bound, Key, KeyRange, Timestamp};
use std::fmt;
use std::sync::Arc;

/// A change of the state.
#[derive(Debug, Clone)]
pub(crate) enum Command {
    /// The writes and catalog changes of a transaction.
    Commit { timestamp: Timestamp, catalog: Vec<CatalogChange>, writes: WriteSet },
    /// Splits a bucket at a key.
    Split { table: TableId, at: Key },
    /// Merges the bucket that begins at `low` with the next one.
    Merge { table: TableId, low: Bound },
    /// Installs a catalog in a store without tables. Other servers own all rows.
    Install { timestamp: Timestamp, catalog: Arc<Catalog> },
    /// Takes ownership of keys of another server, with their rows.
    Adopt { table: TableId, range: KeyRange, state: BucketState, accesses: u64 },
    /// Passes ownership of keys to another server.
    Release { table: TableId, range: KeyRange },
    /// Sets the last value of a sequence.
    SequenceAdvance { sequence: RelationId, last: i64, called: bool },
    /// Row ids below this number may have been given to rows: after a restart they are not allocated
    /// again.
    RowIds { below: i64 },
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Commit { timestamp, .. } => write!(f, "commit {timestamp}"),
            Self::Split { table, at } => write!(f, "split table {} at {at}", table.0),
            Self::Merge { table, low } => write!(f, "merge table {} from {low}", table.0),
            Self::Install { timestamp, .. } => write!(f, "install the catalog of {timestamp}"),
            Self::Adopt { table, range, .. } => write!(f, "adopt table {} {range}", table.0),
            Self::Release { table, range } => write!(f, "release table {} {range}", table.0),
            Self::SequenceAdvance { sequence, last, .. } => {
                write!(f, "sequence {} at {last}", sequence.0)
            }
            Self::RowIds { below } => write!(f, "row ids below {below}"),
        }
    }
}
