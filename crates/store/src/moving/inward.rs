//! The receiver's side of a move. Pieces come from another server: whatever is wrong with them is an error.

use super::piece::{self, DELTA_FIELDS};
use crate::Error;
use crate::bucket::BucketState;
use crate::catalog::{Table, TableId};
use crate::chunk::{Chunk, Run};
use crate::compaction;
use crate::delta::{VERSION_OVERHEAD, Version};
use crate::file::{TableFile, Tile};
use crate::key::KeyEncoder;
use crate::layout::Layout;
use crate::log::Entry;
use crate::memory::Reservation;
use crate::row::{Row, RowEncoder};
use crate::store::Store;
use crate::wire::malformed;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::UInt64Type;
use sdds::{Bound, Key, KeyRange, Timestamp, splitting};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Keys that are coming from another server. Dropping it before [`Self::adopt`] forgets them.
#[derive(Debug)]
pub struct MoveIn {
    store: Arc<Store>,
    table: TableId,
    file: Arc<TableFile>,
    range: KeyRange,
    /// Of the rounds that have ended.
    state: BucketState,
    /// Of the one that goes on.
    chunks: BTreeMap<Timestamp, Vec<Arc<Chunk>>>,
    versions: Vec<(Key, Timestamp, Option<Row>)>,
    reservation: Reservation,
}

impl Store {
    /// Begins to take keys over.
    ///
    /// # Errors
    /// [`Error::RelationMissing`].
    pub fn move_in(self: &Arc<Self>, table: TableId, range: &KeyRange) -> Result<MoveIn, Error> {
        let missing = || Error::RelationMissing { relation: format!("with id {}", table.0) };
        let file = self.snapshots().newest().files.get(&table).cloned().ok_or_else(missing)?;
        Ok(MoveIn {
            store: Arc::clone(self),
            table,
            file,
            range: range.clone(),
            state: BucketState::default(),
            chunks: BTreeMap::new(),
            versions: Vec::new(),
            reservation: Reservation::new(self.memory()),
        })
    }
}

impl MoveIn {
    /// Takes a piece; those of each [`super::MoveOut::copy`], with [`Self::end_round`] after them, and then those of
    /// [`super::MoveOut::rest`], in their order.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::SchemaConflict`] where the table's definition is another there;
    /// [`Error::Arrow`] for a piece that is malformed. The move comes to nothing then: drop this.
    pub fn take(&mut self, bytes: bytes::Bytes) -> Result<(), Error> {
        let catalog = self.store.catalog();
        let missing = || Error::RelationMissing { relation: format!("with id {}", self.table.0) };
        let table = catalog.table_by_id(self.table).ok_or_else(missing)?;
        let piece = piece::read(table, bytes)?;
        for batch in &piece.batches {
            if batch.num_rows() == 0 {
                return Err(malformed("a batch is empty"));
            }
            match piece.timestamp {
                Some(timestamp) => self.take_chunk(table, timestamp, batch)?,
                None => self.take_versions(table, batch)?,
            }
        }
        Ok(())
    }

    fn take_chunk(
        &mut self,
        table: &Table,
        timestamp: Timestamp,
        batch: &RecordBatch,
    ) -> Result<(), Error> {
        let keys = key_columns(table, batch.columns())?;
        if keys.iter().any(|column| column.null_count() > 0) {
            return Err(malformed("a key is NULL"));
        }
        let keys = KeyEncoder::new(&keys)?;
        let mut previous: Option<Key> = None;
        for row in 0..batch.num_rows() {
            let key = keys.key(row);
            if !self.range.contains(&key) || previous.as_ref().is_some_and(|last| *last >= key) {
                return Err(malformed("a key is out of place"));
            }
            previous = Some(key);
        }
        let chunk = Chunk::new(&Layout::of(table), batch.columns().to_vec())?;
        self.reservation.try_grow(chunk.bytes())?;
        self.chunks.entry(timestamp).or_default().push(Arc::new(chunk));
        Ok(())
    }

    fn take_versions(&mut self, table: &Table, batch: &RecordBatch) -> Result<(), Error> {
        let (fixed, columns) = batch.columns().split_at(DELTA_FIELDS);
        if fixed.iter().any(|column| column.null_count() > 0) {
            return Err(malformed("a version lacks its key"));
        }
        let keys = fixed[0].as_binary::<i32>();
        let timestamps = fixed[1].as_primitive::<UInt64Type>();
        let live = fixed[2].as_boolean();
        let key_columns = key_columns(table, columns)?;
        let encoder = KeyEncoder::new(&key_columns)?;
        let rows = RowEncoder::new(&self.store.row_layout(table), columns)?;
        for row in 0..batch.num_rows() {
            let key = Key::from(keys.value(row));
            let timestamp = Timestamp(timestamps.value(row));
            let in_order = self
                .versions
                .last()
                .is_none_or(|(last, at, _)| *last < key || (*last == key && timestamp < *at));
            if !self.range.contains(&key) || !in_order {
                return Err(malformed("a version is out of place"));
            }
            let version = match live.value(row) {
                false => None,
                true if key_columns.iter().any(|column| column.is_null(row)) => {
                    return Err(malformed("a key is NULL"));
                }
                true if encoder.key(row) != key => {
                    return Err(malformed("a version's key is not its row's"));
                }
                true => Some(rows.encode(row)?),
            };
            let bytes = version.as_ref().map_or(0, |row| row.len() as u64);
            self.reservation.try_grow(VERSION_OVERHEAD + bytes)?;
            self.versions.push((key, timestamp, version));
        }
        Ok(())
    }

    /// Puts together what has come since the last round.
    ///
    /// # Errors
    /// [`Error::Arrow`] where the pieces do not fit together. The move comes to nothing then: drop this.
    pub fn end_round(&mut self) -> Result<(), Error> {
        let chunks = std::mem::take(&mut self.chunks);
        refuse_shared_keys(&self.state, chunks.values().flatten())?;
        for (timestamp, chunks) in chunks {
            for run in runs(timestamp, chunks) {
                put_run(&mut self.state, run)?;
            }
        }
        let mut chain: Option<(Key, Arc<Version>)> = None;
        for (key, timestamp, row) in std::mem::take(&mut self.versions).into_iter().rev() {
            let older = match chain.take() {
                Some((of, older)) if of == key => Some(older),
                done => {
                    put_chain(&mut self.state, done)?;
                    None
                }
            };
            chain = Some((key, Arc::new(Version { timestamp, row, older })));
        }
        put_chain(&mut self.state, chain)
    }

    /// Owns the keys, with the rows that have come: at once, for everybody. They were accessed so often a second where they come
    /// from.
    ///
    /// # Errors
    /// [`Error::NotOwned`] where the table was emptied or dropped or is about to be, or some of the keys are here already;
    /// [`Error::Arrow`] where the pieces do not fit together.
    pub fn adopt(mut self, accesses: u64) -> Result<(), Error> {
        self.end_round()?;
        let Self { store, table, file, range, state, reservation, .. } = self;
        let mut machine = store.machine();
        let published = machine.snapshots.newest();
        let same = published.files.get(&table).map(Arc::as_ptr) == Some(Arc::as_ptr(&file));
        let is_free =
            file.directory().cover(&range).all(|(_, tile)| matches!(tile, Tile::Elsewhere));
        // A change of all of the table was checked without these rows.
        let is_changing = store.holds().lock().has_changes_of(table);
        if !same || !is_free || is_changing {
            return Err(Error::NotOwned { range });
        }
        let is_full = published.catalog.table_by_id(table).is_some_and(|table| {
            splitting::should_split(state.weight(), state.rows, table.bucket_size)
                || compaction::is_due(&state, table.bucket_size)
        });
        machine.commit_entry(Entry::Adopt { table, range: range.clone(), state, accesses });
        drop((reservation, machine));
        if is_full {
            // Whoever waits for the keys does not wait for this.
            store.queue().ask(table, range.low);
        }
        Ok(())
    }
}

fn key_columns(table: &Table, columns: &[ArrayRef]) -> Result<Vec<ArrayRef>, Error> {
    let column = |index: usize| columns.get(index).cloned();
    let found: Option<Vec<ArrayRef>> = table.key_indices().into_iter().map(column).collect();
    found.ok_or_else(|| malformed("it lacks key columns"))
}

/// Chunks that became visible together, as runs.
fn runs(timestamp: Timestamp, mut chunks: Vec<Arc<Chunk>>) -> impl Iterator<Item = Arc<Run>> {
    chunks.sort_by(|a, b| a.first().cmp(b.first()));
    let mut runs: Vec<Vec<Arc<Chunk>>> = Vec::new();
    for chunk in chunks {
        let ends_before =
            |run: &&mut Vec<Arc<Chunk>>| run.last().is_some_and(|c| c.last() < chunk.first());
        match runs.iter_mut().find(ends_before) {
            Some(run) => run.push(chunk),
            None => runs.push(vec![chunk]),
        }
    }
    runs.into_iter().map(move |run| Run::new(timestamp, run))
}

/// Adds a run to what has come.
fn put_run(state: &mut BucketState, run: Arc<Run>) -> Result<(), Error> {
    let span = KeyRange::new(Bound::At(run.first().clone()), Bound::At(run.last().successor()));
    let mut known = 0;
    for (_, chain) in span
        .iter()
        .flat_map(|span| state.delta.range(span))
        .filter(|(key, _)| run.find(key).is_some())
    {
        if chain.timestamp < run.timestamp {
            return Err(malformed("a version is older than its run"));
        }
        known += 1;
    }
    state.add_run(run);
    state.rows -= known;
    Ok(())
}

/// Puts a key's versions in the place of those that have come before.
fn put_chain(state: &mut BucketState, chain: Option<(Key, Arc<Version>)>) -> Result<(), Error> {
    let Some((key, newest)) = chain else { return Ok(()) };
    let in_run = state.find_in_runs(&key);
    if in_run.is_some_and(|(_, _, timestamp)| newest.timestamp < timestamp) {
        return Err(malformed("a version is older than its run"));
    }
    let was_live = state.is_live(&key);
    state.newest = state.newest.max(newest.timestamp);
    state.rows += u64::from(newest.row.is_some());
    state.rows -= u64::from(was_live);
    state.delta.put(key, Some(newest));
    Ok(())
}

/// No key is in two chunks, of those that have come now and before. Chunks that lie apart are not looked into.
fn refuse_shared_keys<'a>(
    state: &'a BucketState,
    new: impl Iterator<Item = &'a Arc<Chunk>>,
) -> Result<(), Error> {
    let mut chunks: Vec<(&Arc<Chunk>, bool)> = new.map(|chunk| (chunk, true)).collect();
    if chunks.is_empty() {
        return Ok(());
    }
    chunks.extend(state.runs.iter().flat_map(|run| &run.chunks).map(|chunk| (chunk, false)));
    chunks.sort_by(|a, b| a.0.first().cmp(b.0.first()));
    let mut open: Vec<(&Arc<Chunk>, bool)> = Vec::new();
    for (chunk, is_new) in chunks {
        open.retain(|(earlier, _)| earlier.last() >= chunk.first());
        let others = || open.iter().filter(|(_, was_new)| is_new || *was_new);
        if others().next().is_some() {
            let keys = chunk.keys();
            let mut keys = (0..chunk.rows()).map(|row| keys.key(row));
            if keys.any(|key| others().any(|(earlier, _)| earlier.search(&key).is_ok())) {
                return Err(malformed("a key is in two runs"));
            }
        }
        open.push((chunk, is_new));
    }
    Ok(())
}
