//! The receiver's side of a move. Pieces come from another server: whatever is wrong with them is an error.

use super::piece::{self, DELTA_FIELDS};
use crate::Error;
use crate::bucket::BucketState;
use crate::catalog::{Table, TableId};
use crate::chunk::{Chunk, Run};
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
use sdds::{Key, KeyRange, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Keys that are coming from another server. Dropping it before [`Self::adopt`] forgets them.
#[derive(Debug)]
pub struct MoveIn {
    store: Arc<Store>,
    table: TableId,
    file: Arc<TableFile>,
    range: KeyRange,
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
            chunks: BTreeMap::new(),
            versions: Vec::new(),
            reservation: Reservation::new(self.memory()),
        })
    }
}

impl MoveIn {
    /// Takes a piece; those of [`super::MoveOut::copy`] and then those of [`super::MoveOut::rest`], in their order.
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

    /// Owns the keys, with the rows that have come: at once, for everybody.
    ///
    /// # Errors
    /// [`Error::NotOwned`] where the table was emptied or dropped or is about to be, or some of the keys are here already;
    /// [`Error::Arrow`] where the pieces do not fit together.
    pub fn adopt(self) -> Result<(), Error> {
        let Self { store, table, file, range, chunks, versions, reservation } = self;
        let state = assemble(chunks, versions)?;
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
        machine.commit_entry(Entry::Adopt { table, range: range.clone(), state });
        drop(reservation);
        if let Some(table) = published.catalog.table_by_id(table) {
            store.settle(&mut machine, table, &[range]);
        }
        Ok(())
    }
}

fn key_columns(table: &Table, columns: &[ArrayRef]) -> Result<Vec<ArrayRef>, Error> {
    let column = |index: usize| columns.get(index).cloned();
    let found: Option<Vec<ArrayRef>> = table.key_indices().into_iter().map(column).collect();
    found.ok_or_else(|| malformed("it lacks key columns"))
}

/// One state of everything that has come.
fn assemble(
    chunks: BTreeMap<Timestamp, Vec<Arc<Chunk>>>,
    versions: Vec<(Key, Timestamp, Option<Row>)>,
) -> Result<BucketState, Error> {
    refuse_shared_keys(chunks.values().flatten().cloned().collect())?;
    let mut state = BucketState::default();
    for (timestamp, mut chunks) in chunks {
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
        runs.into_iter().for_each(|run| state.add_run(Run::new(timestamp, run)));
    }
    let mut chain: Option<(Key, Arc<Version>)> = None;
    for (key, timestamp, row) in versions.into_iter().rev() {
        let older = match chain.take() {
            Some((of, older)) if of == key => Some(older),
            done => {
                put_chain(&mut state, done)?;
                None
            }
        };
        chain = Some((key, Arc::new(Version { timestamp, row, older })));
    }
    put_chain(&mut state, chain)?;
    state.rows = state.count_rows();
    Ok(state)
}

fn put_chain(state: &mut BucketState, chain: Option<(Key, Arc<Version>)>) -> Result<(), Error> {
    let Some((key, newest)) = chain else { return Ok(()) };
    let in_run = state.find_in_runs(&key);
    if in_run.is_some_and(|(_, _, timestamp)| newest.timestamp < timestamp) {
        return Err(malformed("a version is older than its run"));
    }
    state.newest = state.newest.max(newest.timestamp);
    state.delta.put(key, Some(newest));
    Ok(())
}

/// No key is in two chunks. Chunks that lie apart are not looked into.
fn refuse_shared_keys(mut chunks: Vec<Arc<Chunk>>) -> Result<(), Error> {
    chunks.sort_by(|a, b| a.first().cmp(b.first()));
    let mut open: Vec<Arc<Chunk>> = Vec::new();
    for chunk in chunks {
        open.retain(|earlier| earlier.last() >= chunk.first());
        if !open.is_empty() {
            let keys = chunk.keys();
            let mut keys = (0..chunk.rows()).map(|row| keys.key(row));
            if keys.any(|key| open.iter().any(|earlier| earlier.search(&key).is_ok())) {
                return Err(malformed("a key is in two runs"));
            }
        }
        open.push(chunk);
    }
    Ok(())
}
