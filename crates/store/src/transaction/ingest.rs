//! Bulk loads: converts batches of rows into sorted, disjoint chunks.
//!
//! Several threads can fill one load, each with an [`IngestPart`]. Batches that ascend by key
//! become chunks unchanged; others are sorted. At the end of the load, overlapping chunks of all
//! parts are merged, which also detects duplicate keys within the load. The result is one run,
//! private to the transaction.

use crate::Error;
use crate::memory::{Memory, Reservation};
use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, interleave};
use bucket::arrays::{compact_views, longest_value};
use bucket::key::{self, KeyEncoder};
use bucket::{CHUNK_ROWS, Chunk, Layout, check_value_size, take_rows};
use catalog::Table;
use sdds::Key;
use std::sync::Arc;

/// A part of a bulk load of one table.
#[derive(Debug)]
pub struct IngestPart {
    table: Arc<Table>,
    layout: Arc<Layout>,
    pending: Vec<RecordBatch>,
    pending_rows: usize,
    chunks: Vec<Arc<Chunk>>,
    rows: u64,
    reservation: Reservation,
}

/// The sorted rows of a load.
pub(crate) struct SortedLoad {
    pub(crate) chunks: Vec<Arc<Chunk>>,
    pub(crate) rows: u64,
    pub(crate) reservation: Reservation,
}

impl IngestPart {
    pub(crate) fn new(table: &Arc<Table>, memory: &Arc<Memory>) -> Self {
        Self {
            table: Arc::clone(table),
            layout: Layout::of(table),
            pending: Vec::new(),
            pending_rows: 0,
            chunks: Vec::new(),
            rows: 0,
            reservation: Reservation::new(memory),
        }
    }

    /// Adds rows with all columns of the table.
    ///
    /// # Errors
    /// [`Error::Bucket`] for NULL in a key and values that are too large; [`Error::OutOfMemory`];
    /// [`Error::DuplicateKey`] within the batch.
    pub fn append(&mut self, batch: RecordBatch) -> Result<(), Error> {
        self.rows += batch.num_rows() as u64;
        self.pending_rows += batch.num_rows();
        self.pending.push(batch);
        if self.pending_rows >= CHUNK_ROWS { self.cut_chunks(CHUNK_ROWS) } else { Ok(()) }
    }

    /// Makes chunks of the pending rows. Less than `rows_min` rows remain pending.
    fn cut_chunks(&mut self, rows_min: usize) -> Result<(), Error> {
        let batches = std::mem::take(&mut self.pending);
        self.pending_rows = 0;
        let batch = match &batches[..] {
            [] => return Ok(()),
            [batch] => batch.clone(),
            [first, ..] => concat_batches(&first.schema(), &batches)?,
        };
        for start in (0..batch.num_rows()).step_by(CHUNK_ROWS) {
            let rows = batch.slice(start, CHUNK_ROWS.min(batch.num_rows() - start));
            if rows.num_rows() < rows_min {
                self.pending_rows = rows.num_rows();
                self.pending.push(rows);
            } else {
                self.add_chunk(&rows)?;
            }
        }
        Ok(())
    }

    fn add_chunk(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let keys = key::encoder(&self.table, batch)?;
        let columns = match sorting(&self.table, &keys, batch.num_rows())? {
            None => batch.columns().to_vec(),
            Some(order) => take_rows(batch.columns(), &order)?,
        };
        let columns: Vec<ArrayRef> = columns.iter().map(compact_views).collect();
        self.refuse_large_values(&columns)?;
        let chunk = Chunk::new(&self.layout, columns)?;
        self.reservation.try_grow(chunk.bytes())?;
        self.chunks.push(Arc::new(chunk));
        Ok(())
    }

    fn refuse_large_values(&self, columns: &[ArrayRef]) -> Result<(), Error> {
        for (column, array) in self.layout.columns.iter().zip(columns) {
            check_value_size(column, longest_value(array))?;
        }
        Ok(())
    }

    /// Returns all rows of the parts of a load in key order; `None` if there are none.
    pub(crate) fn gather(parts: Vec<Self>) -> Result<Option<SortedLoad>, Error> {
        let mut all: Option<Self> = None;
        for mut part in parts {
            part.cut_chunks(1)?;
            match &mut all {
                None => all = Some(part),
                Some(all) => {
                    all.chunks.append(&mut part.chunks);
                    all.rows += part.rows;
                    all.reservation.absorb(part.reservation);
                }
            }
        }
        let Some(all) = all.filter(|all| !all.chunks.is_empty()) else { return Ok(None) };
        let chunks = merge_overlapping(&all.table, &all.layout, all.chunks)?;
        Ok(Some(SortedLoad { chunks, rows: all.rows, reservation: all.reservation }))
    }
}

/// Returns the order that sorts rows by key; `None` if they are sorted.
fn sorting(table: &Table, keys: &KeyEncoder, rows: usize) -> Result<Option<UInt32Array>, Error> {
    let (mut previous, mut current) = (Vec::new(), Vec::new());
    let ascending = (0..rows).all(|row| {
        current.clear();
        keys.encode(row, &mut current);
        std::mem::swap(&mut previous, &mut current);
        row == 0 || current < previous
    });
    if ascending {
        return Ok(None);
    }
    let mut order: Vec<(Key, u32)> = (0..rows).map(|row| (keys.key(row), row as u32)).collect();
    order.sort_unstable();
    if let Some(pair) = order.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(Error::duplicate_key(table, &pair[0].0));
    }
    Ok(Some(UInt32Array::from_iter_values(order.into_iter().map(|(_, row)| row))))
}

/// Sorts chunks by first key and merges those that overlap.
fn merge_overlapping(
    table: &Table,
    layout: &Arc<Layout>,
    mut chunks: Vec<Arc<Chunk>>,
) -> Result<Vec<Arc<Chunk>>, Error> {
    chunks.sort_by(|a, b| a.first().cmp(b.first()));
    let mut merged = Vec::with_capacity(chunks.len());
    let mut cluster: Vec<Arc<Chunk>> = Vec::new();
    let mut last: Option<Key> = None;
    for chunk in chunks {
        if last.as_ref().is_some_and(|last| last < chunk.first()) {
            merge_cluster(table, layout, &mut cluster, &mut merged)?;
        }
        last = last.max(Some(chunk.last().clone()));
        cluster.push(chunk);
    }
    merge_cluster(table, layout, &mut cluster, &mut merged)?;
    Ok(merged)
}

fn merge_cluster(
    table: &Table,
    layout: &Arc<Layout>,
    cluster: &mut Vec<Arc<Chunk>>,
    out: &mut Vec<Arc<Chunk>>,
) -> Result<(), Error> {
    let chunks = std::mem::take(cluster);
    if chunks.len() <= 1 {
        out.extend(chunks);
        return Ok(());
    }
    let mut order: Vec<(Key, u32, u32)> = Vec::new();
    for (source, chunk) in chunks.iter().enumerate() {
        let keys = chunk.keys();
        order.extend((0..chunk.rows()).map(|row| (keys.key(row), source as u32, row as u32)));
    }
    order.sort_unstable();
    if let Some(pair) = order.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(Error::duplicate_key(table, &pair[0].0));
    }
    for rows in order.chunks(CHUNK_ROWS) {
        let rows: Vec<(usize, usize)> =
            rows.iter().map(|(_, source, row)| (*source as usize, *row as usize)).collect();
        let mut columns = Vec::with_capacity(layout.columns.len());
        for column in 0..layout.columns.len() {
            let whole = |chunk: &Arc<Chunk>| chunk.column(table, column, &(0..chunk.rows()));
            let sources: Vec<ArrayRef> = chunks.iter().map(whole).collect();
            let sources: Vec<_> = sources.iter().map(AsRef::as_ref).collect();
            columns.push(compact_views(&interleave(&sources, &rows)?));
        }
        out.push(Arc::new(Chunk::new(layout, columns)?));
    }
    Ok(())
}
