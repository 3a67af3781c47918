//! The log: everything that changes is an entry, decided once, applied in order.
//!
//! For now the log lives in memory and forgets what it has applied, but for a short tail that says which
//! buckets split, merged and moved; entries carry physical values, so that a replica or a restart will need nothing else to apply them.

use crate::bucket::BucketState;
use crate::catalog::{Catalog, CatalogChange, RelationId, TableId};
use crate::write_set::WriteSet;
use sdds::{Bound, Key, KeyRange, Timestamp};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Descriptions that are kept for [`crate::Store::log_tail`].
const TAIL_LENGTH: usize = 256;

/// One change of the state.
#[derive(Debug, Clone)]
pub(crate) enum Entry {
    /// A transaction's writes, all at once.
    Commit { timestamp: Timestamp, catalog: Vec<CatalogChange>, writes: WriteSet },
    /// A bucket divides at a key.
    Split { table: TableId, at: Key },
    /// The bucket that begins at `low` and the next become one.
    Merge { table: TableId, low: Bound },
    /// A store without tables begins with a catalog whose rows other servers have.
    Install { timestamp: Timestamp, catalog: Arc<Catalog> },
    /// Keys of another server, with their rows, are owned here from now on.
    Adopt { table: TableId, range: KeyRange, state: BucketState, accesses: u64 },
    /// Another server owns these keys from now on.
    Release { table: TableId, range: KeyRange },
    /// A sequence has given values up to this one.
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

/// The position after the last entry, and what the last ones were.
#[derive(Debug, Default)]
pub(crate) struct Log {
    position: u64,
    tail: VecDeque<String>,
    /// All entries, where a test asked for them.
    #[cfg(test)]
    pub(crate) recorded: Option<Vec<Entry>>,
}

impl Log {
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

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    pub(crate) fn tail(&self) -> Vec<String> {
        self.tail.iter().cloned().collect()
    }
}
