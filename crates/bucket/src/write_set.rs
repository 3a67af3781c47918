//! The uncommitted writes of a transaction to one table.
//!
//! Single rows are changes by key, and bulk loads are runs. The collections are persistent, so that
//! a savepoint is a copy, and a running scan is not affected by later writes.

use crate::chunk::{Chunk, Run};
use crate::delta::{VERSION_OVERHEAD, std_range};
use crate::row::Row;
use imbl::{OrdMap, OrdSet, Vector};
use sdds::{Bound, Key, KeyRange};
use std::sync::Arc;

/// The writes of a transaction to one table.
#[derive(Debug, Clone, Default)]
pub struct TableWrites {
    /// New rows by key; `None` for a deleted row. They supersede `runs`.
    pub changes: OrdMap<Key, Option<Row>>,
    /// Bulk loads without common keys. Their timestamps are not set yet.
    pub runs: Vector<Arc<Run>>,
    /// Whether the table was truncated before these writes.
    pub truncated: bool,
    /// Keys that must have a row when the transaction commits, and keep it until then: other rows
    /// refer to theirs.
    pub required: OrdSet<Key>,
    /// Bytes of changes and runs, as the bucket will account for them.
    pub bytes: u64,
}

impl TableWrites {
    /// Whether there are no writes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.runs.is_empty()
            && self.required.is_empty()
            && !self.truncated
    }

    /// Writes a row, or deletes it (`None`).
    pub fn put(&mut self, key: Key, row: Option<Row>) {
        let fixed = VERSION_OVERHEAD + (std::mem::size_of::<Key>() + key.heap_bytes()) as u64;
        let bytes = |row: &Option<Row>| fixed + row.as_ref().map_or(0, |row| row.bytes());
        self.bytes += bytes(&row);
        self.bytes -= self.changes.insert(key, row).as_ref().map_or(0, bytes);
    }

    /// Adds a bulk load.
    pub fn put_run(&mut self, run: Arc<Run>) {
        self.bytes += run.bytes;
        self.runs.push_back(run);
    }

    /// Finds a key in the bulk loads.
    pub fn find_in_runs(&self, key: &Key) -> Option<(&Arc<Chunk>, usize)> {
        self.runs.iter().find_map(|run| run.find(key))
    }

    /// Returns the changes of a range in key order.
    pub fn changes_in<'a>(
        &'a self,
        range: &KeyRange,
    ) -> impl DoubleEndedIterator<Item = (&'a Key, &'a Option<Row>)> + use<'a> {
        self.changes.range::<_, Key>(std_range(range))
    }

    /// Whether there are writes to keys of a range.
    pub fn has_writes_in(&self, range: &KeyRange) -> bool {
        let has_rows = |run: &Arc<Run>| run.chunks_in(range).any(|c| !c.rows_in(range).is_empty());
        self.changes_in(range).next().is_some()
            || self.runs.iter().any(has_rows)
            || self.required.range::<_, Key>(std_range(range)).next().is_some()
    }

    /// Whether a key gets a row by these writes, or loses it; `None` if they do not change it.
    pub fn gives_row(&self, key: &Key) -> Option<bool> {
        match self.changes.get(key) {
            Some(change) => Some(change.is_some()),
            None => self.find_in_runs(key).map(|_| true),
        }
    }

    /// Returns a key that must have a row by these writes, and loses it by others.
    pub fn required_key_lost(&self, other: &Self) -> Option<&Key> {
        let is_lost = |key: &&Key| other.truncated || matches!(other.changes.get(*key), Some(None));
        self.required.iter().find(is_lost)
    }

    /// Returns a key that both have written.
    pub fn shared_key(&self, other: &Self) -> Option<Key> {
        let (few, many) =
            if self.changes.len() <= other.changes.len() { (self, other) } else { (other, self) };
        if let Some(key) = few.changes.keys().find(|key| many.changes.contains_key(*key)) {
            return Some(key.clone());
        }
        for (runs, changes) in [(self, other), (other, self)] {
            let hit = |key: &&Key| runs.find_in_runs(key).is_some();
            if let Some(key) = changes.changes.keys().find(hit) {
                return Some(key.clone());
            }
        }
        let chunks = self.runs.iter().flat_map(|run| &run.chunks);
        chunks.flat_map(|chunk| other.runs.iter().map(move |run| (chunk, run))).find_map(
            |(chunk, run)| {
                let last = Bound::At(chunk.last().successor());
                let span = KeyRange::new(Bound::At(chunk.first().clone()), last)?;
                run.chunks_in(&span).next()?;
                let keys = chunk.keys();
                (0..chunk.rows()).map(|row| keys.key(row)).find(|key| run.find(key).is_some())
            },
        )
    }
}
