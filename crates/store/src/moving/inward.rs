//! The destination of a move. Pieces come from another server, so they are validated.

use super::piece::{self, DELTA_FIELDS};
use crate::Error;
use crate::error::missing;
use crate::file::{TableFile, Tile};
use crate::log::Proposal;
use crate::memory::Reservation;
use crate::store::Store;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::UInt64Type;
use bucket::key::KeyEncoder;
use bucket::{Assembly, BucketState, Chunk, Layout, RowEncoder, VERSION_OVERHEAD, compaction};
use bytes::Bytes;
use catalog::ipc::malformed;
use catalog::{Table, TableId};
use durable::Command;
use protocols::planted::{Bug, is_planted};
use sdds::{Key, KeyRange, MoveId, Timestamp, splitting};
use std::sync::Arc;

/// Keys that are moving to this server. Dropping it before [`Self::adopt`] discards them.
#[derive(Debug)]
pub struct MoveIn {
    store: Arc<Store>,
    of: MoveId,
    table: TableId,
    file: Arc<TableFile>,
    range: KeyRange,
    assembly: Assembly,
    reservation: Reservation,
}

impl Store {
    /// Begins to receive a range of keys.
    ///
    /// # Errors
    /// [`Error::Catalog`] if the table does not exist.
    pub fn move_in(
        self: &Arc<Self>,
        of: MoveId,
        table: TableId,
        range: &KeyRange,
    ) -> Result<MoveIn, Error> {
        let file = self.snapshots().newest().files.get(&table).cloned();
        let file = file.ok_or_else(|| missing(table))?;
        Ok(MoveIn {
            store: Arc::clone(self),
            of,
            table,
            file,
            range: range.clone(),
            assembly: Assembly::default(),
            reservation: Reservation::new(self.memory()),
        })
    }
}

impl Store {
    /// Whether the keys of a move were adopted here, as far as that is durable. It waits for that.
    ///
    /// # Errors
    /// 58030 if the disk fails.
    pub async fn has_adopted(&self, of: MoveId) -> Result<bool, Error> {
        let (is_adopted, position) = {
            let machine = self.machine();
            let last = machine.cluster.adopted.get(&of.from);
            (last == Some(&of.number), machine.log.position)
        };
        if let Some(journal) = self.journal() {
            journal.durable(position).await?;
        }
        Ok(is_adopted)
    }
}

impl MoveIn {
    /// Receives a piece. The order is: all pieces of each [`super::MoveOut::copy`] followed by
    /// [`Self::end_round`], then all pieces of [`super::MoveOut::rest`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::SchemaConflict`] if the definition of the table differs on
    /// the source; [`Error::Bucket`] for a malformed piece. The move has failed then; drop this
    /// value.
    pub fn take(&mut self, bytes: Bytes) -> Result<(), Error> {
        let catalog = self.store.catalog();
        let table = catalog.table_by_id(self.table).ok_or_else(|| missing(self.table))?;
        let piece = piece::read(table, bytes)?;
        for batch in &piece.batches {
            if batch.num_rows() == 0 {
                return Err(malformed("a batch is empty").into());
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
            return Err(malformed("a key is NULL").into());
        }
        let keys = KeyEncoder::new(&keys)?;
        let mut previous: Option<Key> = None;
        for row in 0..batch.num_rows() {
            let key = keys.key(row);
            if !self.range.contains(&key) || previous.as_ref().is_some_and(|last| *last >= key) {
                return Err(malformed("a key is out of place").into());
            }
            previous = Some(key);
        }
        let chunk = Chunk::new(&Layout::of(table), batch.columns().to_vec())?;
        self.reservation.try_grow(chunk.bytes())?;
        self.assembly.add_chunk(timestamp, Arc::new(chunk));
        Ok(())
    }

    fn take_versions(&mut self, table: &Table, batch: &RecordBatch) -> Result<(), Error> {
        let (fixed, columns) = batch.columns().split_at(DELTA_FIELDS);
        if fixed.iter().any(|column| column.null_count() > 0) {
            return Err(malformed("a version lacks its key").into());
        }
        let keys = fixed[0].as_binary::<i32>();
        let timestamps = fixed[1].as_primitive::<UInt64Type>();
        let live = fixed[2].as_boolean();
        let key_columns = key_columns(table, columns)?;
        let encoder = KeyEncoder::new(&key_columns)?;
        let rows = RowEncoder::new(&self.store.row_layout(table), columns);
        for row in 0..batch.num_rows() {
            let key = Key::from(keys.value(row));
            let timestamp = Timestamp(timestamps.value(row));
            if !self.range.contains(&key) || !self.assembly.is_next(&key, timestamp) {
                return Err(malformed("a version is out of place").into());
            }
            let version = if !live.value(row) {
                None
            } else if key_columns.iter().any(|column| column.is_null(row)) {
                return Err(malformed("a key is NULL").into());
            } else if encoder.key(row) != key {
                return Err(malformed("a version's key is not its row's").into());
            } else {
                Some(rows.encode(row)?)
            };
            let bytes = version.as_ref().map_or(0, |row| row.bytes());
            self.reservation.try_grow(VERSION_OVERHEAD + bytes)?;
            self.assembly.add_version(key, timestamp, version);
        }
        Ok(())
    }

    /// Notes the newest timestamp of the source: until then, any of the keys may have been required.
    pub fn see(&self, timestamp: Timestamp) {
        self.store.observe(timestamp);
        self.store.holds().lock().required.forget(timestamp);
    }

    /// Notes that the source may lack versions that only snapshots before a timestamp need. Such snapshots are refused.
    pub fn lack_before(&self, timestamp: Timestamp) {
        self.store.snapshots().set_moved_from(timestamp);
    }

    /// Ends a round: combines its pieces with those of earlier rounds.
    ///
    /// # Errors
    /// [`Error::Bucket`] if the pieces are inconsistent. The move has failed then; drop this value.
    pub fn end_round(&mut self) -> Result<(), Error> {
        Ok(self.assembly.end_round()?)
    }

    /// Takes ownership of the keys and their rows; blocks the thread until that is durable. `accesses` is their average
    /// rate per second on the source.
    ///
    /// # Errors
    /// [`Error::NotOwned`] if the table was truncated or dropped or is about to be, or this server
    /// owns some of the keys already; [`Error::Bucket`] if the pieces are inconsistent; 53100 if the disk is full.
    /// The keys are not adopted then. 58030 if the disk fails: they may be.
    pub fn adopt(self, accesses: u64) -> Result<(), Error> {
        let Self { store, of, table, file, range, assembly, reservation } = self;
        let state = assembly.finish()?;
        let pins = match store.durable() {
            Some(durable) => Some(durable.write_chunks(&chunks(&state))?),
            None => None,
        };
        let command = Command::Adopt { of, table, range: range.clone(), state, accesses };
        let record = store.ready_record(&command)?;
        let mut machine = store.machine();
        let published = Arc::clone(machine.head());
        let same = published.files.get(&table).map(Arc::as_ptr) == Some(Arc::as_ptr(&file));
        let is_free =
            file.directory().cover(&range).all(|(_, tile)| matches!(tile, Tile::Elsewhere));
        // A prepared change of the whole table was checked without these rows.
        let is_changing = store.holds().lock().has_changes_of(table);
        // A later move of the source shows that it has heard that this one failed.
        let last = machine.cluster.adopted.get(&of.from);
        let is_late = last.is_some_and(|last| *last >= of.number);
        if !same || !is_free || is_changing || is_late {
            return Err(Error::NotOwned { range });
        }
        let Command::Adopt { state, .. } = &command else { unreachable!("it was made above") };
        let is_full = published.catalog.table_by_id(table).is_some_and(|table| {
            splitting::should_split(state.weight(), state.rows(), table.bucket_size)
                || compaction::is_due(state, table.bucket_size)
        });
        let position = machine.propose(Proposal { command, record })?;
        drop((reservation, pins, machine));
        if is_full {
            // Splitting does not delay requests that wait for the keys.
            store.queue().request(table, range.low);
        }
        match store.journal() {
            Some(journal) if !is_planted(Bug::ReleaseBeforeAdoption) => {
                Ok(journal.wait_durable(position)?)
            }
            _ => Ok(()),
        }
    }
}

/// Returns the chunks of a bucket.
fn chunks(state: &BucketState) -> Vec<Arc<Chunk>> {
    state.runs().iter().flat_map(|run| run.chunks.iter().cloned()).collect()
}

fn key_columns(table: &Table, columns: &[ArrayRef]) -> Result<Vec<ArrayRef>, Error> {
    let column = |index: usize| columns.get(index).cloned();
    let found: Option<Vec<ArrayRef>> = table.key_indices().into_iter().map(column).collect();
    Ok(found.ok_or_else(|| malformed("it lacks key columns"))?)
}
