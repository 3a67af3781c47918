//! A transaction: a snapshot and uncommitted writes.
//!
//! Isolation is snapshot isolation: reads see the snapshot and the transaction's own writes. A
//! commit fails with [`Error::Conflict`] if another transaction has written one of its rows since
//! the snapshot. A transaction that locks what it writes ([`Transaction::lock_rows`]) waits for others
//! instead, and learns of a conflict when it writes.

mod indexing;
mod ingest;
mod known_keys;
mod locking;
mod prepare;

pub(crate) use indexing::writes as index_writes;
pub use ingest::IngestPart;
pub(crate) use ingest::SortedLoad;

use crate::error::missing;
use crate::holds::Staging;
use crate::locking::{LockWait, Locker};
use crate::memory::Reservation;
use crate::peers::{Peers, Reader, Write};
use crate::read::{Reading, Reads, TableView};
use crate::store::{CommitRequest, Store};
use crate::write_set::{WriteSet, bytes};
use crate::{Error, Snapshot};
use arrow::array::RecordBatch;
use bucket::{IndexChanges, RowEncoder, Run, TableWrites};
use catalog::{Catalog, CatalogChange, OnCommit, Relation, Table, TableId};
use locks::Mode;
use sdds::{Key, Timestamp};
use std::sync::Arc;

/// A running transaction. Dropping it rolls it back.
#[derive(Debug)]
pub struct Transaction {
    store: Arc<Store>,
    snapshot: Snapshot,
    catalog: Arc<Catalog>,
    catalog_changes: Vec<CatalogChange>,
    writes: WriteSet,
    reservation: Reservation,
    /// The registration of its writes; `None` before the first write and without a cluster.
    staging: Option<Staging>,
    /// In a cluster: what its writes change in indexes, until the coordinator takes it.
    entries: IndexChanges,
    /// Its locks; `None` if it does not lock what it writes, and is refused after a conflict.
    locker: Option<Locker>,
    /// The request for a lock that is not granted yet.
    wait: Option<LockWait>,
    /// The tables that it has read, if it is serializable.
    reads: Option<Reads>,
}

/// A savepoint of a [`Transaction`].
#[derive(Debug, Clone)]
pub struct Savepoint {
    catalog: Arc<Catalog>,
    catalog_changes: usize,
    writes: WriteSet,
    /// The number of its locks.
    locks: usize,
}

impl Transaction {
    /// Begins a transaction on a snapshot of a store.
    pub(crate) fn new(store: Arc<Store>, snapshot: Snapshot) -> Self {
        let reservation = Reservation::new(store.memory());
        Self {
            catalog: Arc::clone(snapshot.catalog()),
            store,
            snapshot,
            catalog_changes: Vec::new(),
            writes: WriteSet::new(),
            reservation,
            staging: None,
            entries: IndexChanges::default(),
            locker: None,
            wait: None,
            reads: None,
        }
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Returns the snapshot that it reads.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Returns the catalog with its own changes.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Changes the catalog.
    ///
    /// # Errors
    /// As [`Catalog::apply`]; [`Error::Locked`] and [`Error::SchemaConflict`] if it locks what it changes.
    pub fn change_catalog(&mut self, change: CatalogChange) -> Result<(), Error> {
        let table = change.table().and_then(|id| self.snapshot.catalog().table_by_id(id));
        if let Some(table) = table.cloned() {
            self.lock_to_change(&table, &change)?;
        }
        let next = self.catalog.apply(&change)?;
        self.catalog.refuse_taken_name(&change)?;
        self.catalog = Arc::new(next);
        match &change {
            CatalogChange::Truncate(id) => {
                let emptied = TableWrites { truncated: true, ..TableWrites::default() };
                self.put_writes(*id, emptied);
            }
            CatalogChange::Drop(id) => self.put_writes(TableId(id.0), TableWrites::default()),
            _ => {}
        }
        self.catalog_changes.push(change);
        Ok(())
    }

    /// Whether it empties tables.
    pub fn empties_tables(&self) -> bool {
        self.emptied().next().is_some()
    }

    /// The tables that are emptied.
    pub(crate) fn emptied(&self) -> impl Iterator<Item = TableId> {
        self.catalog_changes.iter().filter_map(|change| match change {
            CatalogChange::Truncate(id) => Some(*id),
            _ => None,
        })
    }

    /// Returns a table with its writes so far.
    pub fn table(&self, id: TableId) -> Option<TableView> {
        Reading::new(&self.catalog, &self.snapshot, &self.writes, None).table(id)
    }

    /// Returns what it reads now, without later writes. `peers` are the other servers and the
    /// identity for requests to them.
    pub fn reading(&self, peers: Option<(Arc<dyn Peers>, Reader)>) -> Reading {
        let reading = Reading::new(&self.catalog, &self.snapshot, &self.writes, peers);
        reading.remembered(self.reads.as_ref())
    }

    /// Makes the transaction serializable: if it writes, it is refused when a table that it has read
    /// has changed since the snapshot. Its writes and all that it has read are of one moment then, that
    /// of its commit.
    pub fn validate_reads(&mut self) {
        self.reads.get_or_insert_default();
    }

    /// Returns the tables that it has read, if it is serializable.
    pub(crate) fn validated_reads(&self) -> Option<std::collections::BTreeSet<TableId>> {
        self.reads.as_ref().map(|reads| reads.tables())
    }

    /// Returns its catalog changes that concern other servers: those not about temporary relations.
    pub(crate) fn shared_changes(&self) -> Arc<[CatalogChange]> {
        let all = &self.catalog_changes;
        let is_shared =
            |change: &&CatalogChange| !change.is_temporary(self.snapshot.catalog(), all);
        catalog::settled(all.iter().filter(is_shared).cloned().collect()).into()
    }

    /// Executes a write; returns the number of rows or keys.
    ///
    /// # Errors
    /// As [`Self::insert`]. After [`Error::NotOwned`], nothing has been written.
    pub fn write(&mut self, table: &Table, write: Write) -> Result<u64, Error> {
        let id = table.id;
        match write {
            Write::Insert(rows) => self.insert(id, &rows).map(|()| rows.num_rows() as u64),
            Write::Upsert(rows) => self.upsert(id, &rows).map(|()| rows.num_rows() as u64),
            Write::Delete(keys) => self.delete(id, &keys).map(|()| keys.len() as u64),
            Write::Require(keys) => self.require(id, keys),
            Write::Load(rows) => {
                let mut part = self.ingest(id)?;
                part.append(rows)?;
                self.finish_ingest(id, vec![part])
            }
        }
    }

    pub(crate) fn table_or_missing(&self, id: TableId) -> Result<TableView, Error> {
        self.table(id).ok_or_else(|| missing(id))
    }

    /// Inserts rows with all columns of the table.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`], [`Error::OutOfMemory`], and [`Error::Bucket`] for NULL in a key and
    /// values that are too large. Some rows may have been inserted; roll back to a savepoint.
    pub fn insert(&mut self, id: TableId, rows: &RecordBatch) -> Result<(), Error> {
        let view = self.table_or_missing(id)?;
        self.write_rows(&view, rows, Mode::ForUpdate, |writes, key| match writes.changes.get(key) {
            Some(change) => Ok(change.is_some()),
            None => view.contains(key),
        })
    }

    /// Inserts rows, or replaces those with the same key.
    ///
    /// # Errors
    /// As [`Self::insert`], without [`Error::DuplicateKey`].
    pub fn upsert(&mut self, id: TableId, rows: &RecordBatch) -> Result<(), Error> {
        let view = self.table_or_missing(id)?;
        self.write_rows(&view, rows, Mode::ForNoKeyUpdate, |_, _| Ok(false))
    }

    fn write_rows(
        &mut self,
        view: &TableView,
        rows: &RecordBatch,
        mode: Mode,
        is_duplicate: impl Fn(&TableWrites, &Key) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let table: &Table = view.table();
        let keys = view.encode_keys(rows)?;
        self.lock(view, &keys, mode)?;
        let replaces = mode == Mode::ForNoKeyUpdate;
        let entries = self.entries_of(view, &keys, Some(rows), replaces)?;
        let encoder = RowEncoder::new(&self.store.row_layout(table), rows.columns());
        let mut writes = self.writes.get(&table.id).cloned().unwrap_or_default();
        for (index, key) in keys.iter().enumerate() {
            if is_duplicate(&writes, key)? {
                return Err(self.duplicate(view, key));
            }
            let before = writes.bytes;
            writes.put(key.clone(), Some(encoder.encode(index)?));
            self.reservation.try_grow(writes.bytes.saturating_sub(before))?;
        }
        self.stage(view, writes, || keys.iter().try_for_each(|key| view.require(key)))?;
        self.index(entries)
    }

    /// Deletes rows by key. Keys without a row are ignored. Succeeds beyond the memory limit.
    ///
    /// # Errors
    /// [`Error::Catalog`] if the table does not exist; in a cluster, [`Error::NotOwned`].
    pub fn delete(&mut self, id: TableId, keys: &[Key]) -> Result<(), Error> {
        let view = self.table_or_missing(id)?;
        self.lock_to_remove(&view, keys)?;
        self.refuse_newly_required(&view, keys)?;
        let entries = self.entries_of(&view, keys, None, true)?;
        let mut writes = self.writes.get(&id).cloned().unwrap_or_default();
        for key in keys {
            writes.put(key.clone(), None);
        }
        self.stage(&view, writes, || keys.iter().try_for_each(|key| view.require(key)))?;
        self.index(entries)
    }

    /// Requires keys to have a row when the transaction commits, and until then.
    fn require(&mut self, id: TableId, keys: Vec<Key>) -> Result<u64, Error> {
        let view = self.table_or_missing(id)?;
        self.lock_required(&view, &keys)?;
        let mut writes = self.writes.get(&id).cloned().unwrap_or_default();
        writes.required.extend(keys.iter().cloned());
        self.stage(&view, writes, || keys.iter().try_for_each(|key| view.require(key)))?;
        Ok(keys.len() as u64)
    }

    /// Replaces the writes to a table. In a cluster, this fails unless the new keys are owned here,
    /// and keeps them from moving until the transaction ends.
    fn stage(
        &mut self,
        view: &TableView,
        writes: TableWrites,
        is_owned: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let id = view.table().id;
        if self.store.is_in_cluster() {
            let staging = self.staging.get_or_insert_with(|| Staging::new(self.store.holds()));
            let staged = staging.stage(&self.writes.update(id, writes.clone()), is_owned);
            staged.inspect_err(|_| self.account())?;
        }
        self.put_writes(id, writes);
        Ok(())
    }

    /// Replaces the writes to a table and the accounted memory.
    fn put_writes(&mut self, id: TableId, writes: TableWrites) {
        if writes.is_empty() {
            self.writes.remove(&id);
        } else {
            self.writes.insert(id, writes);
        }
        self.account();
    }

    fn account(&mut self) {
        self.reservation.set(bytes(&self.writes));
    }

    /// Begins a part of a bulk load, which is passed to [`Self::finish_ingest`] when it is filled.
    ///
    /// # Errors
    /// [`Error::Catalog`] if the table does not exist.
    pub fn ingest(&self, id: TableId) -> Result<IngestPart, Error> {
        let view = self.table_or_missing(id)?;
        Ok(IngestPart::new(view.table(), self.store.memory()))
    }

    /// Ends a bulk load: writes the rows of all its parts, and returns their number.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`] within the load or with the table; [`Error::NotOwned`]. Nothing has
    /// been written then.
    pub fn finish_ingest(&mut self, id: TableId, parts: Vec<IngestPart>) -> Result<u64, Error> {
        match IngestPart::gather(parts)? {
            Some(load) => self.take_load(id, load),
            None => Ok(0),
        }
    }

    /// Writes a sorted load.
    pub(crate) fn take_load(&mut self, id: TableId, load: SortedLoad) -> Result<u64, Error> {
        let before = self.savepoint();
        let taken = self.try_take_load(id, load);
        if taken.is_err() {
            self.rollback_to(&before);
        }
        taken
    }

    fn try_take_load(&mut self, id: TableId, load: SortedLoad) -> Result<u64, Error> {
        let view = self.table_or_missing(id)?;
        self.lock(&view, &[], Mode::ForUpdate)?;
        let separated = view.separate_known(&load.chunks)?;
        let entries = self.entries_of_chunks(&view, &separated.absent)?;
        let mut writes = self.writes.get(&id).cloned().unwrap_or_default();
        if !separated.absent.is_empty() {
            writes.put_run(Run::new(Timestamp::ZERO, separated.absent));
        }
        self.reservation.absorb(load.reservation);
        let spans = || load.chunks.iter().try_for_each(|chunk| view.require_rows(chunk));
        self.stage(&view, writes, spans)?;
        for rows in separated.traced {
            self.upsert(id, &rows)?;
        }
        self.index(entries)?;
        Ok(load.rows)
    }

    /// Returns the number of its catalog changes.
    pub fn change_count(&self) -> usize {
        self.catalog_changes.len()
    }

    /// Whether it has written nothing.
    pub fn is_read_only(&self) -> bool {
        self.writes.is_empty() && self.catalog_changes.is_empty()
    }

    /// Returns the bytes of its writes.
    pub fn bytes(&self) -> u64 {
        bytes(&self.writes)
    }

    /// Sets a savepoint.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint {
            catalog: Arc::clone(&self.catalog),
            catalog_changes: self.catalog_changes.len(),
            writes: self.writes.clone(),
            locks: self.locker.as_ref().map_or(0, Locker::mark),
        }
    }

    /// Rolls back to a savepoint of this transaction. Its locks stay.
    pub fn rollback_to(&mut self, savepoint: &Savepoint) {
        assert!(
            savepoint.catalog_changes <= self.catalog_changes.len(),
            "a savepoint is in the past"
        );
        self.catalog_changes.truncate(savepoint.catalog_changes);
        self.catalog = match self.catalog_changes.is_empty() {
            true => Arc::clone(self.snapshot.catalog()),
            false => self.rebased().unwrap_or_else(|_| Arc::clone(&savepoint.catalog)),
        };
        self.writes = savepoint.writes.clone();
        self.entries = IndexChanges::default();
        if let Some(staging) = &self.staging {
            staging.restage(&self.writes);
        }
        self.account();
    }

    /// Ends temporary tables as their ON COMMIT clauses say: deletes their rows, or drops them.
    fn end_temporary(&mut self) -> Result<(), Error> {
        let on_commit = |id: &TableId| self.catalog.table_by_id(*id).map(|table| table.on_commit);
        let emptied = |id: &&TableId| on_commit(id) == Some(OnCommit::DeleteRows);
        for id in self.writes.keys().filter(emptied).copied().collect::<Vec<_>>() {
            self.put_writes(id, TableWrites::default());
        }
        let created = self.catalog_changes.iter().filter_map(|change| match change {
            CatalogChange::Create(relation) => self.catalog.relation_by_id(relation.id()),
            _ => None,
        });
        let dropped = |id: TableId| {
            self.catalog.table_by_id(id).is_some_and(|table| table.on_commit == OnCommit::Drop)
        };
        let gone = created.filter(|relation| match relation {
            Relation::Table(table) => dropped(table.id),
            Relation::Sequence(owned) => owned.owned_by.is_some_and(|(table, _)| dropped(table)),
            Relation::Index(index) => dropped(index.table),
            Relation::View(_) => false,
        });
        for id in gone.map(Relation::id).collect::<Vec<_>>() {
            self.change_catalog(CatalogChange::Drop(id))?;
        }
        Ok(())
    }

    /// Commits, and returns the timestamp of the commit. With a data directory, blocks the thread until
    /// the commit is as durable as promised.
    ///
    /// # Errors
    /// [`Error::Conflict`], [`Error::SchemaConflict`], and 53100 if the disk is full: nothing has
    /// changed then. 58030 if the disk fails: the commit may be lost.
    pub fn commit(self) -> Result<Timestamp, Error> {
        let (store, timestamp) = (Arc::clone(&self.store), self.snapshot.timestamp());
        match self.into_request()? {
            Some(request) => store.commit(request),
            None => Ok(timestamp),
        }
    }

    /// As [`Self::commit`], without blocking the thread while the commit becomes durable.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub async fn commit_async(self) -> Result<Timestamp, Error> {
        let (store, timestamp) = (Arc::clone(&self.store), self.snapshot.timestamp());
        match self.into_request()? {
            Some(request) => store.commit_async(request).await,
            None => Ok(timestamp),
        }
    }

    /// Returns what is to be committed; `None` if it has written nothing.
    pub(crate) fn into_request(mut self) -> Result<Option<CommitRequest>, Error> {
        self.end_temporary()?;
        if self.is_read_only() {
            return Ok(None);
        }
        Ok(Some(CommitRequest {
            snapshot: self.snapshot,
            catalog_changes: catalog::settled(self.catalog_changes),
            writes: self.writes,
            staging: self.staging,
            locker: self.locker,
            reads: self.reads.map(|reads| reads.tables()).unwrap_or_default(),
            _reservation: self.reservation,
        }))
    }
}
