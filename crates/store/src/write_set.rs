//! A transaction's own writes, before anybody else sees them.
//!
//! Per table: single rows as changes by key, bulk loads as runs, and whether the table was emptied
//! first. All of it is persistent, so a savepoint is a copy and a running scan keeps what it began with.

use crate::catalog::TableId;
use crate::chunk::{Chunk, Run};
use crate::delta::std_range;
use crate::row::Row;
use imbl::{OrdMap, Vector};
use sdds::{Key, KeyRange};
use std::sync::Arc;

/// All writes of a transaction.
pub(crate) type WriteSet = OrdMap<TableId, TableWrites>;

/// The writes to one table.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableWrites {
    /// A row, or that there is none. Wins over `runs`.
    pub(crate) changes: OrdMap<Key, Option<Row>>,
    /// Bulk loads; no key is in two of them. Their timestamps mean nothing yet.
    pub(crate) runs: Vector<Arc<Run>>,
    /// Whether what was committed before counts for nothing.
    pub(crate) truncated: bool,
}

impl TableWrites {
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.runs.is_empty() && !self.truncated
    }

    pub(crate) fn find_in_runs(&self, key: &Key) -> Option<(&Arc<Chunk>, usize)> {
        self.runs.iter().find_map(|run| run.find(key))
    }

    pub(crate) fn changes_in<'a>(
        &'a self,
        range: &KeyRange,
    ) -> impl Iterator<Item = (&'a Key, &'a Option<Row>)> + use<'a> {
        self.changes.range::<_, Key>(std_range(range))
    }
}
