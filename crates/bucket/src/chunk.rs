//! Chunks and runs: the immutable, sorted, columnar part of a bucket.
//!
//! ```text
//! run (visible from its timestamp on)
//!   chunk 0: keys 1..8192      zones  columns
//!   chunk 1: keys 8193..16001  zones  columns
//! ```
//!
//! A chunk stores only the keys of its first and last row. A search encodes the keys of the rows
//! that it probes. Cutting a chunk shares its columns, and the place on disk where they are.

use crate::Error;
use crate::arrays::array_bytes;
use crate::key::KeyEncoder;
use crate::layout::{Layout, missing_values};
use crate::zone::{self, Zone};
use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::take;
use catalog::{ColumnId, Table};
use sdds::{Bound, Key, KeyRange, Timestamp};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Number of rows of a full chunk, and of a batch of the query engine.
pub const CHUNK_ROWS: usize = 8192;

/// Rows in key order. Not empty.
#[derive(Debug)]
pub struct Chunk {
    pub(crate) layout: Arc<Layout>,
    columns: Vec<ArrayRef>,
    rows: usize,
    /// Encodes the keys of the rows.
    keys: KeyEncoder,
    first: Key,
    last: Key,
    zones: Vec<Option<Zone>>,
    bytes: u64,
    place: OnceLock<Place>,
}

/// Where the rows of a chunk are on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The number of the file.
    pub file: u64,
    /// The number of the chunk in the file.
    pub index: u32,
    /// The rows of that chunk.
    pub rows: Range<u32>,
}

impl Chunk {
    /// Creates a chunk of rows that strictly ascend by key.
    ///
    /// # Errors
    /// [`Error::KeyType`].
    pub fn new(layout: &Arc<Layout>, columns: Vec<ArrayRef>) -> Result<Self, Error> {
        let rows = columns.first().map_or(0, |column| column.len());
        assert!(rows > 0, "a chunk has rows");
        let keys = key_encoder(layout, &columns)?;
        let (first, last) = (keys.key(0), keys.key(rows - 1));
        assert!(first <= last, "a chunk's rows are in key order");
        let zones = columns.iter().map(|column| zone::of_array(column)).collect();
        let bytes = columns.iter().map(array_bytes).sum();
        let (layout, place) = (Arc::clone(layout), OnceLock::new());
        Ok(Self { layout, columns, rows, keys, first, last, zones, bytes, place })
    }

    /// Returns its layout.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Returns the columns in the order of the layout.
    pub fn columns(&self) -> &[ArrayRef] {
        &self.columns
    }

    /// Returns where it is on disk; `None` if it has not been written.
    pub fn place(&self) -> Option<&Place> {
        self.place.get()
    }

    /// Records where it is on disk. Only the first call has an effect.
    pub fn set_place(&self, place: Place) {
        debug_assert_eq!(place.rows.len(), self.rows);
        let _ = self.place.set(place);
    }

    /// Gives a part of this chunk its place.
    fn placed(&self, part: Self, rows: &Range<usize>) -> Self {
        if let Some(Place { file, index, rows: whole }) = self.place() {
            let rows = whole.start + rows.start as u32..whole.start + rows.end as u32;
            part.set_place(Place { file: *file, index: *index, rows });
        }
        part
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the bytes of its part of the columns.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Recomputes the byte count.
    pub(crate) fn count_bytes(&self) -> u64 {
        self.columns.iter().map(array_bytes).sum()
    }

    /// Returns the first key.
    pub fn first(&self) -> &Key {
        &self.first
    }

    /// Returns the last key.
    pub fn last(&self) -> &Key {
        &self.last
    }

    /// Returns an encoder for the keys of its rows.
    pub fn keys(&self) -> &KeyEncoder {
        &self.keys
    }

    /// Returns the position of a key, or the position where it would be inserted.
    pub fn search(&self, key: &Key) -> Result<usize, usize> {
        search(&self.keys, 0..self.rows, key)
    }

    /// Returns the positions of the rows within a range.
    pub fn rows_in(&self, range: &KeyRange) -> Range<usize> {
        let place = |bound: &Bound| match bound {
            Bound::NegInf => 0,
            Bound::At(key) if *key <= self.first => 0,
            Bound::At(key) if *key > self.last => self.rows,
            Bound::At(key) => self.search(key).unwrap_or_else(|place| place),
            Bound::PosInf => self.rows,
        };
        place(&range.low)..place(&range.high)
    }

    /// Returns the part of the chunk within a range, which shares the columns; `None` if it is
    /// empty.
    pub fn cut(self: &Arc<Self>, range: &KeyRange) -> Option<Arc<Self>> {
        let rows = self.rows_in(range);
        if rows.len() == self.rows {
            return Some(Arc::clone(self));
        }
        if rows.is_empty() {
            return None;
        }
        let columns = self.columns.iter().map(|c| c.slice(rows.start, rows.len())).collect();
        let part = Self::new(&self.layout, columns);
        let part = part.expect("the types were keys when the whole was made");
        Some(Arc::new(self.placed(part, &rows)))
    }

    /// Returns some of the rows, at least one, which share the columns.
    ///
    /// # Errors
    /// [`Error::KeyType`].
    pub fn slice(&self, rows: Range<usize>) -> Result<Self, Error> {
        let columns = self.columns.iter().map(|c| c.slice(rows.start, rows.len())).collect();
        Ok(self.placed(Self::new(&self.layout, columns)?, &rows))
    }

    /// Returns all rows of a column; `None` if it was added to the table later.
    pub fn whole_column(&self, column: ColumnId) -> Option<&ArrayRef> {
        self.layout.position(column).map(|index| &self.columns[index])
    }

    /// Returns some rows of a column, as the table defines it now.
    pub fn column(&self, table: &Table, column: usize, rows: &Range<usize>) -> ArrayRef {
        match self.layout.position(table.columns[column].id) {
            Some(index) if rows.len() == self.rows => Arc::clone(&self.columns[index]),
            Some(index) => self.columns[index].slice(rows.start, rows.len()),
            None => missing_values(table, column, rows.len()),
        }
    }

    /// Returns the zone of a column; `None` if it is unknown.
    pub fn zone(&self, column: ColumnId) -> Option<&Zone> {
        self.zones[self.layout.position(column)?].as_ref()
    }
}

fn key_encoder(layout: &Layout, columns: &[ArrayRef]) -> Result<KeyEncoder, Error> {
    let key: Vec<ArrayRef> = layout.key.iter().map(|&index| Arc::clone(&columns[index])).collect();
    KeyEncoder::new(&key)
}

/// Binary search in rows that are sorted by key.
pub(crate) fn search(keys: &KeyEncoder, rows: Range<usize>, key: &Key) -> Result<usize, usize> {
    let (mut low, mut high) = (rows.start, rows.end);
    let mut probe = Vec::new();
    while low < high {
        let middle = low + (high - low) / 2;
        match keys.compare(middle, key, &mut probe) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Equal => return Ok(middle),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Err(low)
}

/// Returns the rows of columns at some positions.
///
/// # Errors
/// [`Error::Arrow`].
pub fn take_rows(columns: &[ArrayRef], rows: &UInt32Array) -> Result<Vec<ArrayRef>, Error> {
    Ok(columns.iter().map(|column| take(column, rows, None)).collect::<Result<_, _>>()?)
}

/// Chunks in key order, disjoint, which become visible together.
#[derive(Debug)]
pub struct Run {
    /// Snapshots from this timestamp on see the run.
    pub timestamp: Timestamp,
    /// The chunks. Not empty.
    pub chunks: Vec<Arc<Chunk>>,
    /// Number of rows.
    pub rows: u64,
    /// Bytes of the chunks.
    pub bytes: u64,
}

impl Run {
    /// Creates a run of at least one chunk, visible from a timestamp on.
    pub fn new(timestamp: Timestamp, chunks: Vec<Arc<Chunk>>) -> Arc<Self> {
        assert!(!chunks.is_empty(), "a run has chunks");
        assert!(
            chunks.windows(2).all(|pair| pair[0].last < pair[1].first),
            "a run's chunks are sorted and disjoint"
        );
        let rows = chunks.iter().map(|chunk| chunk.rows as u64).sum();
        let bytes = chunks.iter().map(|chunk| chunk.bytes).sum();
        Arc::new(Self { timestamp, chunks, rows, bytes })
    }

    /// Returns the first key.
    pub fn first(&self) -> &Key {
        &self.chunks[0].first
    }

    /// Returns the last key.
    pub fn last(&self) -> &Key {
        &self.chunks[self.chunks.len() - 1].last
    }

    /// Returns the chunk and the position of a key.
    pub fn find(&self, key: &Key) -> Option<(&Arc<Chunk>, usize)> {
        let chunk = self.chunks.get(self.chunks.partition_point(|chunk| chunk.last < *key))?;
        if chunk.first > *key {
            return None;
        }
        chunk.search(key).ok().map(|row| (chunk, row))
    }

    /// Returns the chunks that may contain keys of a range.
    pub fn chunks_in<'a>(&'a self, range: &'a KeyRange) -> impl Iterator<Item = &'a Arc<Chunk>> {
        let start = self.chunks.partition_point(|chunk| !range.low.is_at_or_before(&chunk.last));
        self.chunks[start..].iter().take_while(|chunk| !range.high.is_at_or_before(&chunk.first))
    }

    /// Returns the part of the run within a range, which shares the columns; `None` if it is empty.
    pub fn cut(self: &Arc<Self>, range: &KeyRange) -> Option<Arc<Self>> {
        if range.contains(self.first()) && range.contains(self.last()) {
            return Some(Arc::clone(self));
        }
        let chunks: Vec<_> = self.chunks_in(range).filter_map(|chunk| chunk.cut(range)).collect();
        (!chunks.is_empty()).then(|| Self::new(self.timestamp, chunks))
    }
}
