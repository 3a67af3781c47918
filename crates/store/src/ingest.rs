//! Bulk loads: batches in, sorted disjoint chunks out.
//!
//! Each [`IngestPart`] takes batches on its own, so that several threads can fill one load. A batch whose
//! rows ascend by key becomes chunks as it is; other batches are sorted. When the load ends, chunks of all
//! parts that overlap are merged, which is also where duplicate keys within the load come to light. The
//! result is one run per load, still private to the transaction.

use crate::Error;
use crate::catalog::Table;
use crate::chunk::{CHUNK_ROWS, Chunk, Run, take_rows};
use crate::key::{self, KeyEncoder};
use crate::layout::Layout;
use crate::memory::{Memory, Reservation};
use crate::row::check_value_size;
use crate::view::key_encoder;
use crate::views::{compact_views, longest_value};
use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, interleave};
use sdds::{Key, Timestamp};
use std::sync::Arc;

/// A load of one table that is still taking rows.
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

/// What parts have gathered, sorted.
pub(crate) struct Gathered {
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

    /// Takes rows with all columns of the table.
    ///
    /// # Errors
    /// [`Error::NullKey`], [`Error::ValueTooLarge`], [`Error::OutOfMemory`], [`Error::DuplicateKey`] within
    /// the batch.
    pub fn append(&mut self, batch: RecordBatch) -> Result<(), Error> {
        self.rows += batch.num_rows() as u64;
        self.pending_rows += batch.num_rows();
        self.pending.push(batch);
        match self.pending_rows >= CHUNK_ROWS {
            true => self.cut_chunks(CHUNK_ROWS),
            false => Ok(()),
        }
    }

    /// Makes chunks of what is pending; less than `rows_min` rows stay for the next batch.
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
        let keys = key_encoder(&self.table, batch)?;
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

    /// All rows of some parts of one load, in key order.
    pub(crate) fn gather(parts: Vec<Self>) -> Result<Option<Gathered>, Error> {
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
        Ok(Some(Gathered { chunks, rows: all.rows, reservation: all.reservation }))
    }
}

/// The order that sorts rows by key, or `None` where they are sorted.
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
        return Err(duplicate(table, &pair[0].0));
    }
    Ok(Some(UInt32Array::from_iter_values(order.into_iter().map(|(_, row)| row))))
}

pub(crate) fn duplicate(table: &Table, key: &Key) -> Error {
    Error::DuplicateKey {
        schema: table.schema.clone(),
        table: table.name.clone(),
        constraint: table.key_name(),
        key: key::describe(table, key),
    }
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
        return Err(duplicate(table, &pair[0].0));
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

/// A run that nobody else sees yet.
pub(crate) fn private_run(chunks: Vec<Arc<Chunk>>) -> Arc<Run> {
    Run::new(Timestamp::ZERO, chunks)
}
