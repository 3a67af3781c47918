//! Morsels: the pieces of work that a scan is made of (morsel-driven parallelism, Leis et al. 2014).
//!
//! A morsel is a piece of one bucket at a snapshot: mostly one chunk, and the delta's changes between its
//! first key and the next chunk's. Morsels of a range are disjoint, in key order, and together hold every
//! visible row. Reading one costs nothing where there are no changes: the columns are handed out as they
//! are. Where there are, rows are gathered in key order.

use crate::catalog::Table;
use crate::chunk::search;
use crate::row::{Row, decode_column};
use crate::source::{Change, Part, Source};
use crate::{Error, Zone, ZoneValue};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::interleave;
use arrow::datatypes::SchemaRef;
use sdds::{BucketId, Key, KeyRange};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// A piece of a bucket at a snapshot.
#[derive(Debug, Clone)]
pub struct Morsel {
    source: Arc<Source>,
    table: Arc<Table>,
    range: KeyRange,
    parts: Vec<Part>,
    changed: bool,
}

impl Morsel {
    pub(crate) fn new(
        source: Arc<Source>,
        table: Arc<Table>,
        range: KeyRange,
        parts: Vec<Part>,
        changed: bool,
    ) -> Self {
        Self { source, table, range, parts, changed }
    }

    /// The bucket that it is a piece of.
    pub fn bucket(&self) -> BucketId {
        self.source.bucket
    }

    /// The keys that it answers for.
    pub fn range(&self) -> &KeyRange {
        &self.range
    }

    /// Rows: exact without changes, else not less than there are.
    pub fn rows(&self) -> usize {
        let in_chunks: usize = self.parts.iter().map(|part| part.rows.len()).sum();
        in_chunks + if self.changed { self.source.changes(&self.range).len() } else { 0 }
    }

    /// Bytes of its chunk's rows, all columns.
    pub fn bytes(&self) -> u64 {
        let share =
            |part: &Part| part.chunk.bytes() * part.rows.len() as u64 / part.chunk.rows() as u64;
        self.parts.iter().map(share).sum()
    }

    /// Whether it has a chunk.
    pub fn has_chunk(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Whether rows differ from what the chunk says.
    pub fn has_changes(&self) -> bool {
        self.changed
    }

    /// The one whole chunk that this morsel is, if it is that.
    pub(crate) fn whole_chunk(&self) -> Option<&Arc<crate::chunk::Chunk>> {
        match &self.parts[..] {
            [part] if !self.changed && part.rows.len() == part.chunk.rows() => Some(&part.chunk),
            _ => None,
        }
    }

    /// What is known of a column's values in the chunk; `None` where nothing is.
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

    /// All its rows in key order: some columns of the table, under a schema with as many fields.
    ///
    /// # Errors
    /// Only defects: arrays that do not fit the schema.
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

    /// The rows that come from the delta or the reader's own writes: what is left of the morsel when a
    /// zone map excludes its chunk.
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

    /// Every row as (source, position): sources are the parts, and after them the changed rows.
    fn order(&self, changes: &[Change<'_>]) -> Vec<(usize, usize)> {
        match &self.parts[..] {
            [] => (0..changes.iter().filter(|c| c.row.is_some()).count()).map(|i| (0, i)).collect(),
            [part] => order_of_one(part, changes),
            parts => order_of_many(parts, changes),
        }
    }
}

fn order_of_one(part: &Part, changes: &[Change<'_>]) -> Vec<(usize, usize)> {
    let Range { start, end } = part.rows;
    let keys = part.chunk.keys();
    let mut order = Vec::with_capacity(part.rows.len() + changes.len());
    let (mut next, mut changed_rows) = (start, 0);
    for change in changes {
        let (place, after) = match search(&keys, next..end, change.key) {
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

/// The rows and the zone of two stretches of rows. One of only NULLs has no bounds to add.
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
