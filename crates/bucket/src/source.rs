//! What a reader sees of one bucket: the committed state at a snapshot, below the writes of its own
//! transaction.

use crate::Error;
use crate::chunk::{Chunk, Run};
use crate::row::{Row, decode_column};
use crate::state::BucketState;
use crate::write_set::TableWrites;
use crate::zone::Zone;
use arrow::array::{Array, ArrayRef};
use catalog::Table;
use sdds::{BucketId, Key, KeyRange, Timestamp};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The state of a bucket as seen by a reader.
#[derive(Debug, Clone)]
pub struct Source {
    pub(crate) bucket: BucketId,
    /// `None` if there is no committed data: a new table, or one that the reader has truncated.
    pub(crate) state: Option<Arc<BucketState>>,
    pub(crate) snapshot: Timestamp,
    pub(crate) writes: Option<TableWrites>,
}

/// A range of rows of a chunk.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) chunk: Arc<Chunk>,
    pub(crate) rows: Range<usize>,
}

impl Part {
    /// Returns the zone of a column: the bounds of the whole chunk, and the number of NULLs in
    /// these rows.
    pub(crate) fn zone(&self, table: &Table, column: usize) -> Option<Cow<'_, Zone>> {
        let zone = self.chunk.zone(table.columns[column].id)?;
        if self.rows.len() == self.chunk.rows() {
            return Some(Cow::Borrowed(zone));
        }
        let nulls = match zone.nulls {
            0 => 0,
            _ => self.chunk.column(table, column, &self.rows).null_count() as u64,
        };
        Some(Cow::Owned(Zone { nulls, exact: false, ..zone.clone() }))
    }
}

/// A key whose row differs from the chunks.
pub(crate) struct Change<'a> {
    pub(crate) key: &'a Key,
    pub(crate) row: Option<&'a Row>,
}

/// The location of a row.
enum Found<'a> {
    Row(&'a Row),
    InChunk(&'a Arc<Chunk>, usize),
}

/// A row that was found: where it is in a chunk, or its values in some columns, arrays of length 1.
#[derive(Debug)]
pub enum Located {
    /// A row of a chunk.
    InChunk(Arc<Chunk>, usize),
    /// A row that is in no chunk.
    Values(Vec<ArrayRef>),
}

impl Found<'_> {
    /// Returns the values of the row in some columns.
    fn values(&self, table: &Table, columns: &[usize]) -> Result<Vec<ArrayRef>, Error> {
        let value = |&column: &usize| match self {
            Self::Row(row) => decode_column(&[row], table, column),
            Self::InChunk(chunk, row) => Ok(chunk.column(table, column, &(*row..row + 1))),
        };
        columns.iter().map(value).collect()
    }
}

/// What a source knows of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trace {
    /// Nothing.
    None,
    /// Its row has been deleted, but the deletion is still recorded.
    Dead,
    /// It has a row.
    Live,
}

impl Source {
    /// Creates the view of a reader at a snapshot. `state` is `None` if there is no committed data:
    /// the table is new, or the reader has truncated it. `writes` are those of the reader's
    /// transaction.
    pub fn new(
        bucket: BucketId,
        state: Option<Arc<BucketState>>,
        snapshot: Timestamp,
        writes: Option<TableWrites>,
    ) -> Self {
        Self { bucket, state, snapshot, writes }
    }

    /// Whether a key has a row.
    pub fn contains(&self, key: &Key) -> bool {
        self.find(key).is_some()
    }

    /// Returns the values of a key's row in some columns; `None` if it has no row.
    ///
    /// # Errors
    /// [`Error::Arrow`] for values that do not fit their types, which is a defect.
    pub fn get(
        &self,
        key: &Key,
        table: &Table,
        columns: &[usize],
    ) -> Result<Option<Vec<ArrayRef>>, Error> {
        self.find(key).map(|found| found.values(table, columns)).transpose()
    }

    /// As [`Self::get`], where a row of a chunk stays there.
    ///
    /// # Errors
    /// As of [`Self::get`].
    pub fn locate(
        &self,
        key: &Key,
        table: &Table,
        columns: &[usize],
    ) -> Result<Option<Located>, Error> {
        Ok(match self.find(key) {
            Some(Found::InChunk(chunk, row)) => Some(Located::InChunk(Arc::clone(chunk), row)),
            Some(found) => Some(Located::Values(found.values(table, columns)?)),
            None => None,
        })
    }

    /// Returns what is known of a key, at any timestamp.
    pub fn trace(&self, key: &Key) -> Trace {
        if self.contains(key) {
            return Trace::Live;
        }
        let is_written = |writes: &TableWrites| {
            writes.changes.contains_key(key) || writes.find_in_runs(key).is_some()
        };
        let is_own = self.writes.as_ref().is_some_and(is_written);
        let is_committed = self.state.as_ref().is_some_and(|state| state.last_write(key).is_some());
        if is_own || is_committed { Trace::Dead } else { Trace::None }
    }

    /// Whether nothing is known of the keys of a range. May return false if a chunk spans the
    /// range.
    pub fn is_untraced(&self, range: &KeyRange) -> bool {
        let has_chunks = |run: &Arc<Run>| run.chunks_in(range).next().is_some();
        let is_untraced = |state: &Arc<BucketState>| {
            state.delta.range(range).next().is_none() && !state.runs.iter().any(has_chunks)
        };
        let is_unwritten = |writes: &TableWrites| {
            writes.changes_in(range).next().is_none() && !writes.runs.iter().any(has_chunks)
        };
        self.state.as_ref().is_none_or(is_untraced) && self.writes.as_ref().is_none_or(is_unwritten)
    }

    /// Finds the row of a key.
    fn find(&self, key: &Key) -> Option<Found<'_>> {
        if let Some(writes) = &self.writes {
            if let Some(change) = writes.changes.get(key) {
                return change.as_ref().map(Found::Row);
            }
            if let Some((chunk, row)) = writes.find_in_runs(key) {
                return Some(Found::InChunk(chunk, row));
            }
        }
        let state = self.state.as_ref()?;
        if let Some(version) = state.version_at(key, self.snapshot) {
            return version.row.as_ref().map(Found::Row);
        }
        let (chunk, row, timestamp) = state.find_in_runs(key)?;
        (timestamp <= self.snapshot).then_some(Found::InChunk(chunk, row))
    }

    /// Returns the keys of a range whose rows differ from the chunks, in key order.
    pub(crate) fn changes(&self, range: &KeyRange) -> Vec<Change<'_>> {
        let delta = self.state.iter().flat_map(|state| state.delta.range(range));
        let delta = delta.filter_map(|(key, chain)| {
            Some(Change { key, row: chain.at(self.snapshot)?.row.as_ref() })
        });
        let Some(writes) = self.writes.as_ref().filter(|writes| !writes.changes.is_empty()) else {
            return delta.collect();
        };
        let mut changes: Vec<Change<'_>> =
            delta.filter(|change| !writes.changes.contains_key(change.key)).collect();
        let own = writes.changes_in(range);
        changes.extend(own.map(|(key, row)| Change { key, row: row.as_ref() }));
        changes.sort_by(|a, b| a.key.cmp(b.key));
        changes
    }

    /// Returns how many keys of a range have rows that differ from the chunks, at most: a key in the delta that the reader
    /// has written counts twice.
    pub(crate) fn changes_max(&self, range: &KeyRange) -> usize {
        let delta = self.state.iter().flat_map(|state| state.delta.range(range));
        let writes = self.writes.iter().flat_map(|writes| writes.changes_in(range));
        delta.filter(|(_, chain)| chain.at(self.snapshot).is_some()).count() + writes.count()
    }

    /// Whether rows of a range differ from the chunks.
    pub(crate) fn has_changes(&self, range: &KeyRange) -> bool {
        let delta = self.state.iter().flat_map(|state| state.delta.range(range));
        delta.into_iter().any(|(_, chain)| chain.at(self.snapshot).is_some())
            || self.writes.as_ref().is_some_and(|w| w.changes_in(range).next().is_some())
    }

    /// Returns the visible rows of a range in chunks, ordered by first key.
    pub(crate) fn parts(&self, range: &KeyRange) -> Vec<Part> {
        let committed = self.state.iter().flat_map(|state| &state.runs);
        let visible = committed.filter(|run| run.timestamp <= self.snapshot);
        let own = self.writes.iter().flat_map(|writes| &writes.runs);
        let mut parts: Vec<Part> = visible
            .chain(own)
            .flat_map(|run| run.chunks_in(range))
            .map(|chunk| Part { chunk: Arc::clone(chunk), rows: chunk.rows_in(range) })
            .filter(|part| !part.rows.is_empty())
            .collect();
        parts.sort_by(|a, b| a.chunk.first().cmp(b.chunk.first()));
        parts
    }
}
