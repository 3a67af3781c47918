//! The log: every change is an entry, which is decided once and applied in order.
//!
//! The log is in memory and discards entries after they are applied, except the descriptions of the
//! last ones. Entries contain physical values, so that applying them needs no other input.

use crate::write_set::WriteSet;
use bucket::BucketState;
use catalog::{Catalog, CatalogChange, RelationId, TableId};
use sdds::{Bound, Key, KeyRange, Timestamp};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Number of descriptions that are kept for [`crate::Store::log_tail`].
const TAIL_LENGTH: usize = 256;

/// A change of the state.
#[derive(Debug, Clone)]
pub(crate) enum Entry {
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
}

impl fmt::Display for Entry {
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
        }
    }
}

/// The position after the last entry, and descriptions of the last entries.
#[derive(Debug, Default)]
pub(crate) struct Log {
    position: u64,
    tail: VecDeque<String>,
    /// All entries, if a test records them.
    #[cfg(test)]
    pub(crate) recorded: Option<Vec<Entry>>,
}

impl Log {
    /// Appends an entry.
    pub(crate) fn append(&mut self, entry: &Entry) {
        self.position += 1;
        if !matches!(entry, Entry::Commit { .. }) {
            self.remember(entry);
        }
        #[cfg(test)]
        if let Some(recorded) = &mut self.recorded {
            recorded.push(entry.clone());
        }
    }

    fn remember(&mut self, entry: &Entry) {
        if self.tail.len() == TAIL_LENGTH {
            self.tail.pop_front();
        }
        self.tail.push_back(format!("{} {entry}", self.position));
    }

    /// Returns the number of entries so far.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Returns the descriptions of the last entries, oldest first.
    pub(crate) fn tail(&self) -> Vec<String> {
        self.tail.iter().cloned().collect()
    }
}
