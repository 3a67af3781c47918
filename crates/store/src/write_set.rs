//! A transaction's own writes, before anybody else sees them.
//!
//! Per table: single rows as changes by key, bulk loads as runs, and whether the table was emptied
//! first. All of it is persistent, so a savepoint is a copy and a running scan keeps what it began with.

use crate::catalog::TableId;
use crate::chunk::{Chunk, Run};
use crate::delta::{VERSION_OVERHEAD, std_range};
use crate::row::Row;
use imbl::{OrdMap, Vector};
use sdds::{Key, KeyRange};
use std::sync::Arc;

/// All writes of a transaction.
pub(crate) type WriteSet = OrdMap<TableId, TableWrites>;

/// Bytes of writes to all tables.
pub(crate) fn bytes(writes: &WriteSet) -> u64 {
    writes.values().map(|writes| writes.bytes).sum()
}

/// The writes to one table.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableWrites {
    /// A row, or that there is none. Wins over `runs`.
    pub(crate) changes: OrdMap<Key, Option<Row>>,
    /// Bulk loads; no key is in two of them. Their timestamps mean nothing yet.
    pub(crate) runs: Vector<Arc<Run>>,
    /// Whether what was committed before counts for nothing.
    pub(crate) truncated: bool,
    /// What changes and runs hold, as the bucket that takes them will count it.
    pub(crate) bytes: u64,
}

impl TableWrites {
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.runs.is_empty() && !self.truncated
    }

    /// Writes one row, or with `None` removes it.
    pub(crate) fn put(&mut self, key: Key, row: Option<Row>) {
        let fixed = VERSION_OVERHEAD + (std::mem::size_of::<Key>() + key.heap_bytes()) as u64;
        let bytes = |row: &Option<Row>| fixed + row.as_ref().map_or(0, |row| row.len() as u64);
        self.bytes += bytes(&row);
        self.bytes -= self.changes.insert(key, row).as_ref().map_or(0, bytes);
    }

    /// Takes a bulk load in.
    pub(crate) fn put_run(&mut self, run: Arc<Run>) {
        self.bytes += run.bytes;
        self.runs.push_back(run);
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
