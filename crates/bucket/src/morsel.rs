//! Morsels: the units of work of a scan (morsel-driven parallelism, Leis et al. 2014).
//!
//! A morsel is a part of a bucket at a snapshot: usually one chunk, with the changes between its
//! first key and that of the next chunk. The morsels of a range are disjoint, in key order, and
//! together contain every visible row. Without changes, reading a morsel returns the stored
//! columns. Otherwise its rows are gathered in key order.

use crate::Error;
use crate::chunk::{Chunk, search};
use crate::row::{Row, decode_column};
use crate::source::{Change, Part, Source};
use crate::zone::{Zone, ZoneValue};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::interleave;
use arrow::datatypes::SchemaRef;
use catalog::Table;
use sdds::{BucketId, Key, KeyRange};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// A part of a bucket at a snapshot.
#[derive(Debug, Clone)]
pub struct Morsel {
    pub(crate) source: Arc<Source>,
    pub(crate) table: Arc<Table>,
    pub(crate) range: KeyRange,
    pub(crate) parts: Vec<Part>,
    pub(crate) changed: bool,
}

impl Morsel {
    fn new(
        source: Arc<Source>,
        table: Arc<Table>,
        range: KeyRange,
        parts: Vec<Part>,
        changed: bool,
    ) -> Self {
        Self { source, table, range, parts, changed }
    }

    /// Returns the id of the bucket.
    pub fn bucket(&self) -> BucketId {
        self.source.bucket
    }

    /// Returns the range of keys.
    pub fn range(&self) -> &KeyRange {
        &self.range
    }

    /// Returns the number of rows: exact without changes, otherwise an upper bound.
    pub fn rows(&self) -> usize {
        let in_chunks: usize = self.parts.iter().map(|part| part.rows.len()).sum();
        in_chunks + if self.changed { self.source.changes_max(&self.range) } else { 0 }
    }

    /// Returns the bytes of its rows in chunks, in all columns.
    pub fn bytes(&self) -> u64 {
        let share =
            |part: &Part| part.chunk.bytes() * part.rows.len() as u64 / part.chunk.rows() as u64;
        self.parts.iter().map(share).sum()
    }

    /// Whether it contains rows of a chunk.
    pub fn has_chunk(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Whether its rows differ from the chunk.
    pub fn has_changes(&self) -> bool {
        self.changed
    }

    /// Returns the chunk if the morsel consists of exactly one whole chunk.
    pub fn whole_chunk(&self) -> Option<&Arc<Chunk>> {
        match &self.parts[..] {
            [part] if !self.changed && part.rows.len() == part.chunk.rows() => Some(&part.chunk),
            _ => None,
        }
    }

    /// Returns the zone of a column in the chunk; `None` if it is unknown.
    pub fn zone(&self, column: usize) -> Option<Cow<'_, Zone>> {
        if let [part] = &self.parts[..] {
            return part.zone(&self.table, column);
        }
        let zone = |part: &Part| {
            Some((part.rows.len() as u64, part.zone(&self.table, column)?.into_owned()))
        };
        let mut zones = self.parts.iter().map(zone);
        let first = zones.next()??;
        zones.try_fold(first, |all, zone| Some(widen(all, zone?))).map(|(_, zone)| Cow::Owned(zone))
    }

    /// Reads some columns of the table in key order, as a batch of a schema with as many fields.
    ///
    /// # Errors
    /// [`Error::Arrow`] for arrays that do not fit the schema, which is a defect.
    pub fn read(&self, columns: &[usize], schema: &SchemaRef) -> Result<RecordBatch, Error> {
        if let ([part], false) = (&self.parts[..], self.changed) {
            let column = |&c: &usize| part.chunk.column(&self.table, c, &part.rows);
            return batch(schema, columns.iter().map(column).collect(), part.rows.len());
        }
        let changes = self.source.changes(&self.range);
        let order = self.order(&changes);
        if order.is_empty() {
            return Ok(RecordBatch::new_empty(Arc::clone(schema)));
        }
        let rows: Vec<&Row> = changes.iter().filter_map(|change| change.row).collect();
        let mut arrays = Vec::with_capacity(columns.len());
        for &column in columns {
            let mut sources: Vec<ArrayRef> = Vec::with_capacity(self.parts.len() + 1);
            for part in &self.parts {
                sources.push(part.chunk.column(&self.table, column, &part.rows));
            }
            sources.push(decode_column(&rows, &self.table, column)?);
            let sources: Vec<_> = sources.iter().map(AsRef::as_ref).collect();
            arrays.push(interleave(&sources, &order)?);
        }
        batch(schema, arrays, order.len())
    }

    /// Reads the rows of the delta and the reader's own writes: what remains if a zone map excludes
    /// the chunk.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_changes(
        &self,
        columns: &[usize],
        schema: &SchemaRef,
    ) -> Result<RecordBatch, Error> {
        let changes = self.source.changes(&self.range);
        let rows: Vec<&Row> = changes.iter().filter_map(|change| change.row).collect();
        let arrays: Result<Vec<_>, _> =
            columns.iter().map(|&column| decode_column(&rows, &self.table, column)).collect();
        batch(schema, arrays?, rows.len())
    }

    /// Returns every row as (source, position). The sources are the parts, followed by the changed
    /// rows.
    fn order(&self, changes: &[Change<'_>]) -> Vec<(usize, usize)> {
        match &self.parts[..] {
            [] => (0..changes.iter().filter(|c| c.row.is_some()).count()).map(|i| (0, i)).collect(),
            [part] => order_of_one(part, changes),
            parts => order_of_many(parts, changes),
        }
    }
}

impl Source {
    /// Divides a range within the bucket into morsels: one for each chunk (or group of overlapping
    /// chunks), with the changes around it.
    pub fn morsels(&self, table: &Arc<Table>, range: &KeyRange, out: &mut Vec<Morsel>) {
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
}

/// Groups parts whose key ranges overlap. Most groups consist of one part.
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

fn order_of_one(part: &Part, changes: &[Change<'_>]) -> Vec<(usize, usize)> {
    let Range { start, end } = part.rows;
    let keys = part.chunk.keys();
    let mut order = Vec::with_capacity(part.rows.len() + changes.len());
    let (mut next, mut changed_rows) = (start, 0);
    for change in changes {
        let (place, after) = match search(keys, next..end, change.key) {
            Ok(place) => (place, place + 1),
            Err(place) => (place, place),
        };
        order.extend((next..place).map(|row| (0, row - start)));
        next = after;
        if change.row.is_some() {
            order.push((1, changed_rows));
            changed_rows += 1;
        }
    }
    order.extend((next..end).map(|row| (0, row - start)));
    order
}

fn order_of_many(parts: &[Part], changes: &[Change<'_>]) -> Vec<(usize, usize)> {
    let mut entries: Vec<(Key, usize, usize)> = Vec::new();
    for (source, part) in parts.iter().enumerate() {
        let keys = part.chunk.keys();
        let rows = part.rows.clone();
        entries.extend(rows.map(|row| (keys.key(row), source, row - part.rows.start)));
    }
    let changed = |key: &Key| changes.binary_search_by(|change| change.key.cmp(key)).is_ok();
    entries.retain(|(key, _, _)| !changed(key));
    let rows = changes.iter().filter(|change| change.row.is_some());
    entries.extend(rows.enumerate().map(|(i, change)| (change.key.clone(), parts.len(), i)));
    entries.sort();
    entries.into_iter().map(|(_, source, row)| (source, row)).collect()
}

fn batch(schema: &SchemaRef, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, Error> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)?)
}

/// Returns the number of rows and the zone of two groups of rows. A group of only NULLs has no
/// bounds.
fn widen((a_rows, a): (u64, Zone), (b_rows, b): (u64, Zone)) -> (u64, Zone) {
    let (rows, nulls) = (a_rows + b_rows, a.nulls + b.nulls);
    let bounds = if a.nulls == a_rows {
        Zone { exact: a.exact && b.exact, ..b }
    } else if b.nulls == b_rows {
        Zone { exact: a.exact && b.exact, ..a }
    } else {
        let pick = |a: Option<ZoneValue>, b: Option<ZoneValue>, outer: Ordering| {
            let (a, b) = (a?, b?);
            Some(if b.partial_cmp(&a) == Some(outer) { b } else { a })
        };
        Zone {
            nulls,
            min: pick(a.min, b.min, Ordering::Less),
            max: pick(a.max, b.max, Ordering::Greater),
            exact: a.exact && b.exact,
        }
    };
    (rows, Zone { nulls, ..bounds })
}
