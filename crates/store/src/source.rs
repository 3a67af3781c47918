//! What a reader sees of one bucket: the committed state at a snapshot, under a transaction's own writes.

use crate::bucket::BucketState;
use crate::catalog::Table;
use crate::chunk::Chunk;
use crate::row::{Row, decode_column};
use crate::write_set::TableWrites;
use crate::{Error, Morsel, Zone};
use arrow::array::{Array, ArrayRef};
use sdds::{BucketId, Key, KeyRange, Timestamp};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A bucket's state, and how a reader looks at it.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) bucket: BucketId,
    /// `None` where nothing committed counts: a new table, or one emptied by the reader.
    pub(crate) state: Option<Arc<BucketState>>,
    pub(crate) snapshot: Timestamp,
    pub(crate) writes: Option<TableWrites>,
}

/// Some rows of a chunk.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) chunk: Arc<Chunk>,
    pub(crate) rows: Range<usize>,
}

impl Part {
    /// What is known of a column's values in these rows: bounds of all the chunk's, and how many are NULL here.
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

/// A key whose row is not what the chunks say.
pub(crate) struct Change<'a> {
    pub(crate) key: &'a Key,
    pub(crate) row: Option<&'a Row>,
}

/// Where a key's row is.
pub(crate) enum Found<'a> {
    Row(&'a Row),
    InChunk(&'a Arc<Chunk>, usize),
}

impl Found<'_> {
    /// The row's values in some columns.
    pub(crate) fn values(&self, table: &Table, columns: &[usize]) -> Result<Vec<ArrayRef>, Error> {
        let value = |&column: &usize| match self {
            Self::Row(row) => decode_column(&[row], table, column),
            Self::InChunk(chunk, row) => Ok(chunk.column(table, column, &(*row..row + 1))),
        };
        columns.iter().map(value).collect()
    }
}

impl Source {
    /// The row of a key.
    pub(crate) fn find(&self, key: &Key) -> Option<Found<'_>> {
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

    /// The keys of a range whose rows are not what the chunks say, in order.
    pub(crate) fn changes(&self, range: &KeyRange) -> Vec<Change<'_>> {
        let mut changes = BTreeMap::new();
        if let Some(state) = &self.state {
            for (key, chain) in state.delta.range(range) {
                if let Some(version) = chain.at(self.snapshot) {
                    changes.insert(key, version.row.as_ref());
                }
            }
        }
        if let Some(writes) = &self.writes {
            for (key, row) in writes.changes_in(range) {
                changes.insert(key, row.as_ref());
            }
        }
        changes.into_iter().map(|(key, row)| Change { key, row }).collect()
    }

    fn has_changes(&self, range: &KeyRange) -> bool {
        let delta = self.state.iter().flat_map(|state| state.delta.range(range));
        delta.into_iter().any(|(_, chain)| chain.at(self.snapshot).is_some())
            || self.writes.as_ref().is_some_and(|w| w.changes_in(range).next().is_some())
    }

    /// Cuts a range, which lies in the bucket, into morsels: a chunk each (or chunks that overlap), and
    /// the changes around it.
    pub(crate) fn morsels(&self, table: &Arc<Table>, range: &KeyRange, out: &mut Vec<Morsel>) {
        let source = Arc::new(self.clone());
        let mut clusters = clusters(self.parts(range));
        if clusters.is_empty() {
            if self.has_changes(range) {
                out.push(Morsel::new(source, Arc::clone(table), range.clone(), Vec::new(), true));
            }
            return;
        }
        let mut low = range.low.clone();
        for index in 0..clusters.len() {
            let high = match clusters.get(index + 1) {
                Some(next) => sdds::Bound::At(next[0].chunk.first().clone()),
                None => range.high.clone(),
            };
            let range = KeyRange { low, high: high.clone() };
            let parts = std::mem::take(&mut clusters[index]);
            let changed = self.has_changes(&range);
            out.push(Morsel::new(Arc::clone(&source), Arc::clone(table), range, parts, changed));
            low = high;
        }
    }

    /// The visible chunks' rows of a range, by first key.
    fn parts(&self, range: &KeyRange) -> Vec<Part> {
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

/// Groups parts whose key bounds overlap. Almost always each is alone.
fn clusters(parts: Vec<Part>) -> Vec<Vec<Part>> {
    let mut clusters: Vec<Vec<Part>> = Vec::with_capacity(parts.len());
    let mut last: Option<Key> = None;
    for part in parts {
        let overlaps = last.as_ref().is_some_and(|last| part.chunk.first() <= last);
        let end = part.chunk.last();
        last = Some(last.map_or_else(|| end.clone(), |last| last.max(end.clone())));
        match clusters.last_mut() {
            Some(cluster) if overlaps => cluster.push(part),
            _ => clusters.push(vec![part]),
        }
    }
    clusters
}
