//! Commands: every change of a store is one. It is decided once, appended to the log, and applied in
//! order.
//!
//! Applying a command reads nothing but the state that it is applied to: no clock, no snapshots in
//! use that change an answer, no configuration. [`crate::encode`] is its stable encoding. Compaction is no
//! command: it changes no answer, and each copy of a bucket compacts on its own.

use crate::cluster_state::Frozen;
use crate::write_set::WriteSet;
use bucket::BucketState;
use catalog::{Catalog, CatalogChange, RelationId, TableId};
use sdds::{Bound, Key, KeyRange, MoveId, Timestamp, TransactionId};
use std::fmt;
use std::sync::Arc;

/// A change of the state.
#[derive(Debug, Clone)]
pub enum Command {
    /// The writes and catalog changes of a transaction.
    Commit {
        /// When it becomes visible.
        timestamp: Timestamp,
        /// The changes of the catalog, in order.
        catalog: Vec<CatalogChange>,
        /// The rows.
        writes: WriteSet,
    },
    /// Splits a bucket at a key.
    Split {
        /// The table.
        table: TableId,
        /// The first key of the upper half.
        at: Key,
    },
    /// Merges the bucket that begins at `low` with the next one.
    Merge {
        /// The table.
        table: TableId,
        /// Where the lower bucket begins.
        low: Bound,
    },
    /// Installs a catalog in a store without tables. Other servers own all rows.
    Install {
        /// When it becomes visible.
        timestamp: Timestamp,
        /// The catalog.
        catalog: Arc<Catalog>,
    },
    /// Takes ownership of keys of another server, with their rows.
    Adopt {
        /// The move that brings them.
        of: MoveId,
        /// The table.
        table: TableId,
        /// The keys.
        range: KeyRange,
        /// The rows.
        state: BucketState,
        /// Average accesses per second.
        accesses: u64,
    },
    /// Passes ownership of keys to another server.
    Release {
        /// The table.
        table: TableId,
        /// The keys.
        range: KeyRange,
    },
    /// Sets the last value of a sequence.
    SequenceAdvance {
        /// The sequence.
        sequence: RelationId,
        /// The value.
        last: i64,
        /// Whether the value may have been returned to a client.
        called: bool,
    },
    /// Keeps the part that a transaction on several servers has here, until its outcome is known.
    Prepare {
        /// The transaction.
        transaction: TransactionId,
        /// The changes of the catalog, in order.
        catalog: Vec<CatalogChange>,
        /// The rows.
        writes: WriteSet,
    },
    /// Ends a prepared part.
    Decide {
        /// The transaction.
        transaction: TransactionId,
        /// When it becomes visible; `None` if it is rolled back.
        outcome: Option<Timestamp>,
    },
    /// Stops reads and writes of keys that another server is about to adopt.
    Freeze(Frozen),
    /// Ends a freeze: the other server has not adopted the keys, and never will.
    Thaw {
        /// The move.
        of: MoveId,
    },
    /// Sets a fact of the cluster, or removes it.
    SetFact {
        /// Its name.
        name: String,
        /// Its value, in the form of whoever keeps it.
        value: Option<Vec<u8>>,
    },
    /// Row ids below this number may have been given to rows: after a restart they are not allocated
    /// again.
    RowIds {
        /// The number.
        below: i64,
    },
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
            Self::Prepare { transaction, .. } => write!(f, "prepare {transaction}"),
            Self::Decide { transaction, outcome: Some(at) } => {
                write!(f, "commit {transaction} at {at}")
            }
            Self::Decide { transaction, outcome: None } => write!(f, "roll back {transaction}"),
            Self::Freeze(Frozen { of, table, range, .. }) => {
                write!(f, "freeze table {} {range} for move {of}", table.0)
            }
            Self::Thaw { of } => write!(f, "thaw move {of}"),
            Self::SetFact { name, .. } => write!(f, "set {name}"),
            Self::RowIds { below } => write!(f, "row ids below {below}"),
        }
    }
}
