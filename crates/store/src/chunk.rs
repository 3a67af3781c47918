//! Chunks and runs: the immutable, sorted, columnar part of a bucket.
//!
//! ```text
//! run (visible from its timestamp on)
//!   chunk 0: keys 1..8192      zones  columns
//!   chunk 1: keys 8193..16001  zones  columns
//! ```
//!
//! Encoded keys are not kept: only the first and the last of each chunk. Within a chunk a search encodes
//! the rows that it probes. Cutting a chunk shares its columns.

use crate::Error;
use crate::catalog::{ColumnId, Table};
use crate::key::KeyEncoder;
use crate::layout::{Layout, missing_values};
use crate::views::array_bytes;
use crate::zone::{self, Zone};
use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::take;
use sdds::{Bound, Key, KeyRange, Timestamp};
use std::ops::Range;
use std::sync::Arc;

/// Rows of a full chunk: as many as the engine likes in a batch.
pub const CHUNK_ROWS: usize = 8192;

/// A batch of rows in key order.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) layout: Arc<Layout>,
    columns: Vec<ArrayRef>,
    rows: usize,
    first: Key,
    last: Key,
    zones: Vec<Option<Zone>>,
    bytes: u64,
}

impl Chunk {
    /// A chunk of rows that are strictly ascending by key.
    pub(crate) fn new(layout: &Arc<Layout>, columns: Vec<ArrayRef>) -> Result<Self, Error> {
        let rows = columns.first().map_or(0, |column| column.len());
        assert!(rows > 0, "a chunk has rows");
        let keys = key_encoder(layout, &columns)?;
        let (first, last) = (keys.key(0), keys.key(rows - 1));
        assert!(first <= last, "a chunk's rows are in key order");
        let zones = columns.iter().map(|column| zone::of_array(column)).collect();
        let bytes = columns.iter().map(array_bytes).sum();
        Ok(Self { layout: Arc::clone(layout), columns, rows, first, last, zones, bytes })
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes of its own share of the columns.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What the byte count should be, counted again.
    pub(crate) fn count_bytes(&self) -> u64 {
        self.columns.iter().map(array_bytes).sum()
    }

    pub(crate) fn first(&self) -> &Key {
        &self.first
    }

    pub(crate) fn last(&self) -> &Key {
        &self.last
    }

    /// The keys of all rows that can be probed.
    pub(crate) fn keys(&self) -> KeyEncoder {
        key_encoder(&self.layout, &self.columns).expect("the types were keys when it was made")
    }

    /// Where a key is, or where it would be.
    pub(crate) fn search(&self, key: &Key) -> Result<usize, usize> {
        search(&self.keys(), 0..self.rows, key)
    }

    /// The rows inside a range.
    pub(crate) fn rows_in(&self, range: &KeyRange) -> Range<usize> {
        let place = |bound: &Bound| match bound {
            Bound::NegInf => 0,
            Bound::At(key) if *key <= self.first => 0,
            Bound::At(key) if *key > self.last => self.rows,
            Bound::At(key) => self.search(key).unwrap_or_else(|place| place),
            Bound::PosInf => self.rows,
        };
        place(&range.low)..place(&range.high)
    }

    /// The part of the chunk inside a range, sharing its columns; `None` where there is none.
    pub(crate) fn cut(self: &Arc<Self>, range: &KeyRange) -> Option<Arc<Self>> {
        let rows = self.rows_in(range);
        if rows.len() == self.rows {
            return Some(Arc::clone(self));
        }
        if rows.is_empty() {
            return None;
        }
        let columns = self.columns.iter().map(|c| c.slice(rows.start, rows.len())).collect();
        let part = Self::new(&self.layout, columns);
        Some(Arc::new(part.expect("the types were keys when the whole was made")))
    }

    /// Some of the rows, at least one; shares the columns.
    pub(crate) fn slice(&self, rows: Range<usize>) -> Result<Self, Error> {
        let columns = self.columns.iter().map(|c| c.slice(rows.start, rows.len())).collect();
        Self::new(&self.layout, columns)
    }

    /// Some rows of a column as the table has it now.
    pub(crate) fn column(&self, table: &Table, column: usize, rows: &Range<usize>) -> ArrayRef {
        match self.layout.position(table.columns[column].id) {
            Some(index) if rows.len() == self.rows => Arc::clone(&self.columns[index]),
            Some(index) => self.columns[index].slice(rows.start, rows.len()),
            None => missing_values(table, column, rows.len()),
        }
    }

    /// The zone of a column; `None` where nothing is known.
    pub(crate) fn zone(&self, column: ColumnId) -> Option<&Zone> {
        self.zones[self.layout.position(column)?].as_ref()
    }
}

fn key_encoder(layout: &Layout, columns: &[ArrayRef]) -> Result<KeyEncoder, Error> {
    let key: Vec<ArrayRef> = layout.key.iter().map(|&index| Arc::clone(&columns[index])).collect();
    KeyEncoder::new(&key)
}

/// Binary search among rows that are sorted by key.
pub(crate) fn search(keys: &KeyEncoder, rows: Range<usize>, key: &Key) -> Result<usize, usize> {
    let (mut low, mut high) = (rows.start, rows.end);
    let mut probe = Vec::with_capacity(key.as_bytes().len() + 8);
    while low < high {
        let middle = low + (high - low) / 2;
        probe.clear();
        keys.encode(middle, &mut probe);
        match probe.as_slice().cmp(key.as_bytes()) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Equal => return Ok(middle),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Err(low)
}

/// The rows of columns at some positions.
pub(crate) fn take_rows(columns: &[ArrayRef], rows: &UInt32Array) -> Result<Vec<ArrayRef>, Error> {
    Ok(columns.iter().map(|column| take(column, rows, None)).collect::<Result<_, _>>()?)
}

/// Chunks in key order, disjoint, all visible from one timestamp on.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) timestamp: Timestamp,
    pub(crate) chunks: Vec<Arc<Chunk>>,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

impl Run {
    /// A run of at least one chunk.
    pub(crate) fn new(timestamp: Timestamp, chunks: Vec<Arc<Chunk>>) -> Arc<Self> {
        assert!(!chunks.is_empty(), "a run has chunks");
        assert!(
            chunks.windows(2).all(|pair| pair[0].last < pair[1].first),
            "a run's chunks are sorted and disjoint"
        );
        let rows = chunks.iter().map(|chunk| chunk.rows as u64).sum();
        let bytes = chunks.iter().map(|chunk| chunk.bytes).sum();
        Arc::new(Self { timestamp, chunks, rows, bytes })
    }

    pub(crate) fn first(&self) -> &Key {
        &self.chunks[0].first
    }

    pub(crate) fn last(&self) -> &Key {
        &self.chunks[self.chunks.len() - 1].last
    }

    /// The chunk and row that hold a key.
    pub(crate) fn find(&self, key: &Key) -> Option<(&Arc<Chunk>, usize)> {
        let chunk = self.chunks.get(self.chunks.partition_point(|chunk| chunk.last < *key))?;
        if chunk.first > *key {
            return None;
        }
        chunk.search(key).ok().map(|row| (chunk, row))
    }

    /// The chunks that may hold keys of a range.
    pub(crate) fn chunks_in<'a>(
        &'a self,
        range: &'a KeyRange,
    ) -> impl Iterator<Item = &'a Arc<Chunk>> {
        let start = self.chunks.partition_point(|chunk| !range.low.is_at_or_before(&chunk.last));
        self.chunks[start..].iter().take_while(|chunk| !range.high.is_at_or_before(&chunk.first))
    }

    /// The part of the run inside a range, sharing its columns.
    pub(crate) fn cut(self: &Arc<Self>, range: &KeyRange) -> Option<Arc<Self>> {
        if range.contains(self.first()) && range.contains(self.last()) {
            return Some(Arc::clone(self));
        }
        let chunks: Vec<_> = self.chunks_in(range).filter_map(|chunk| chunk.cut(range)).collect();
        (!chunks.is_empty()).then(|| Self::new(self.timestamp, chunks))
    }
}
