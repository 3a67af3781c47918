//! Distributed transactions: a transaction on each server whose rows it writes, coordinated by the
//! server that the client is connected to.
//!
//! Rows are written to their owners immediately: an owner checks keys against its rows, and later
//! reads see the writes. On a store without [`Peers`], everything is local and nothing waits.

mod load;
mod locking;
mod newest;
mod pushdown;
mod serial;
mod watching;

use crate::error::missing;
use crate::peers::{ATTEMPTS_MAX, Peers, Reader, RowPeers, Write};
use crate::read::{Reading, TableView};
use crate::store::Store;
use crate::transaction::{IngestPart, Savepoint, Transaction, index_writes};
use crate::{Error, Snapshot};
use arrow::array::RecordBatch;
use bucket::{IndexChanges, key};
use catalog::{Catalog, CatalogChange, Table, TableId};
use futures::future::{join_all, select};
pub use locking::{Around, within};
use locks::{Chosen, Moved};
use references::RowChanges;
use sdds::{Bound, GroupId, Key, KeyRange, Timestamp, TransactionId};
use serial::Serialized;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// A running distributed transaction. Dropping it rolls it back.
#[derive(Debug)]
pub struct DistributedTransaction {
    /// Its part on this server.
    here: Transaction,
    /// Its parts on other servers; `None` without a cluster.
    elsewhere: Option<Elsewhere>,
    savepoints: u64,
    /// Changes of rows that foreign keys have not looked at.
    changes: RowChanges,
    /// How long a write waits for a lock; `None` for as long as it takes.
    patience: Option<Duration>,
    /// Whether a write that meets a lock fails instead.
    gives_up: bool,
    /// The rows that its statement has chosen.
    chosen: Chosen,
    /// The rows whose keys it has changed.
    moved: Moved,
}

/// The parts of a transaction on other servers.
#[derive(Debug)]
struct Elsewhere {
    peers: Arc<dyn Peers>,
    id: TransactionId,
    /// Whether another server may have writes of it.
    has_writes: bool,
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        if self.has_writes {
            self.peers.roll_back(self.id);
        }
    }
}

/// A savepoint of a [`DistributedTransaction`].
#[derive(Debug, Clone)]
pub struct DistributedSavepoint {
    here: Savepoint,
    number: u64,
    changes: RowChanges,
    /// The number of the last change of keys.
    moved: u64,
}

impl Store {
    /// Returns what is committed now, on all servers.
    ///
    /// # Errors
    /// [`Error::Unreachable`] in a cluster.
    pub async fn reading(self: &Arc<Self>) -> Result<Reading, Error> {
        let Some(peers) = self.peers() else { return Ok(self.snapshot().reading(None)) };
        let snapshot = peers.snapshot().await?;
        let reader = Reader {
            timestamp: snapshot.timestamp(),
            transaction: None,
            changes: [].into(),
            savepoint: 0,
            locks: None,
            waits: true,
        };
        Ok(snapshot.reading(Some((Arc::clone(peers), reader))))
    }

    /// Returns what is committed on this server, for statements that read no rows.
    ///
    /// # Errors
    /// [`Knowledge::refusal`](crate::Knowledge::refusal).
    pub fn reading_here(self: &Arc<Self>) -> Result<Reading, Error> {
        match self.peers().and_then(|peers| peers.refusal()) {
            Some(refusal) => Err(refusal),
            None => Ok(self.snapshot().reading(None)),
        }
    }

    /// Begins a transaction on what is committed now, on all servers.
    ///
    /// # Errors
    /// As [`Self::reading`].
    pub async fn begin_distributed(self: &Arc<Self>) -> Result<DistributedTransaction, Error> {
        let Some(peers) = self.peers() else { return Ok(self.distributed_on(self.snapshot())) };
        Ok(self.distributed_on(peers.snapshot().await?))
    }

    /// Begins a transaction on a snapshot.
    fn distributed_on(self: &Arc<Self>, snapshot: Snapshot) -> DistributedTransaction {
        let here = Transaction::new(Arc::clone(self), snapshot);
        let elsewhere = self.peers().map(|peers| {
            let (peers, id) = (Arc::clone(peers), peers.transaction_id());
            Elsewhere { peers, id, has_writes: false }
        });
        DistributedTransaction {
            here,
            elsewhere,
            savepoints: 0,
            changes: RowChanges::default(),
            patience: None,
            gives_up: false,
            chosen: Chosen::default(),
            moved: Moved::default(),
        }
    }
}

impl DistributedTransaction {
    /// Returns the snapshot on this server.
    pub fn snapshot(&self) -> &Snapshot {
        self.here.snapshot()
    }

    /// Returns the catalog with its own changes.
    pub fn catalog(&self) -> &Arc<Catalog> {
        self.here.catalog()
    }

    /// Changes the catalog. Other servers learn of it with the next request or the commit.
    ///
    /// # Errors
    /// As [`Catalog::apply`].
    pub fn change_catalog(&mut self, change: CatalogChange) -> Result<(), Error> {
        self.here.change_catalog(change)
    }

    /// Returns a table with its writes so far.
    pub fn table(&self, id: TableId) -> Option<TableView> {
        self.reading().table(id)
    }

    /// Returns what it reads now, without later writes.
    pub fn reading(&self) -> Reading {
        let reader =
            |elsewhere: &Elsewhere| self.reader(elsewhere.has_writes.then_some(elsewhere.id));
        let peers = self.elsewhere.as_ref().map(|e| (Arc::clone(&e.peers), reader(e)));
        self.here.reading(peers)
    }

    /// Returns the identity for requests to other servers.
    fn reader(&self, transaction: Option<TransactionId>) -> Reader {
        Reader {
            timestamp: self.snapshot().timestamp(),
            transaction,
            changes: self.here.shared_changes(),
            savepoint: self.savepoints,
            locks: self.here.party(),
            waits: !self.gives_up,
        }
    }

    /// Inserts rows with all columns of the table.
    ///
    /// # Errors
    /// As [`Transaction::insert`]; errors of other servers. Some rows may have been inserted; roll
    /// back to a savepoint.
    pub async fn insert(&mut self, id: TableId, rows: &RecordBatch) -> Result<(), Error> {
        self.insert_unwatched(id, rows).await?;
        self.note_inserted(id, rows);
        Ok(())
    }

    async fn insert_unwatched(&mut self, id: TableId, rows: &RecordBatch) -> Result<(), Error> {
        if self.elsewhere.is_none() {
            return self.waiting(|here| here.insert(id, rows)).await;
        }
        self.write_rows(id, rows, Write::Insert).await
    }

    /// Inserts rows, or replaces those with the same key.
    ///
    /// # Errors
    /// As [`Self::insert`], without [`Error::DuplicateKey`].
    pub async fn upsert(&mut self, id: TableId, rows: &RecordBatch) -> Result<(), Error> {
        let changes = self.changes_of_upsert(id, rows).await?;
        match self.elsewhere.is_none() {
            true => self.waiting(|here| here.upsert(id, rows)).await?,
            false => self.write_rows(id, rows, Write::Upsert).await?,
        }
        changes.into_iter().for_each(|change| self.changes.add(change));
        Ok(())
    }

    /// Deletes rows by key. Keys without a row are ignored. Succeeds beyond the memory limit.
    ///
    /// # Errors
    /// [`Error::Catalog`] if the table does not exist; errors of other servers.
    pub async fn delete(&mut self, id: TableId, keys: &[Key]) -> Result<(), Error> {
        let change = self.change_of_deletion(id, keys).await?;
        self.delete_unwatched(id, keys).await?;
        change.into_iter().for_each(|change| self.changes.add(change));
        Ok(())
    }

    async fn delete_unwatched(&mut self, id: TableId, keys: &[Key]) -> Result<(), Error> {
        if self.elsewhere.is_none() {
            return self.waiting(|here| here.delete(id, keys)).await;
        }
        self.write_to_owners(id, keys, &Write::Delete(keys.to_vec())).await
    }

    /// Removes all rows of a table, and the entries of its indexes.
    ///
    /// # Errors
    /// As [`Self::change_catalog`].
    pub fn truncate(&mut self, id: TableId) -> Result<(), Error> {
        let indexes = self.catalog().indexes_of(id).to_vec();
        for file in indexes.iter().map(|index| index.file.id).chain([id]) {
            self.change_catalog(CatalogChange::Truncate(file))?;
        }
        Ok(())
    }

    async fn write_rows(
        &mut self,
        id: TableId,
        rows: &RecordBatch,
        write: fn(RecordBatch) -> Write,
    ) -> Result<(), Error> {
        let keys = self.table_or_missing(id)?.encode_keys(rows)?;
        self.write_to_owners(id, &keys, &write(rows.clone())).await
    }

    /// Writes rows, which are identified by their keys, and the entries of indexes to their owners.
    async fn write_to_owners(
        &mut self,
        id: TableId,
        keys: &[Key],
        write: &Write,
    ) -> Result<(), Error> {
        let entries = self.write_to_file(id, keys, write).await?;
        self.write_entries(entries).await
    }

    /// Writes what changed rows change in the indexes of their table.
    ///
    /// # Errors
    /// As [`Self::insert`].
    pub async fn write_entries(&mut self, changes: IndexChanges) -> Result<(), Error> {
        if changes.is_empty() {
            return Ok(());
        }
        let catalog = Arc::clone(self.catalog());
        for (file, keys, write) in index_writes(&catalog, changes)? {
            if self.elsewhere.is_none() {
                self.waiting(|here| here.write(&file, write.clone())).await?;
            } else {
                self.write_to_file(file.id, &keys, &write).await?;
            }
        }
        Ok(())
    }

    /// Writes rows to their owners. Rows that an owner does not own any more are sent again.
    /// Returns what changes in indexes.
    async fn write_to_file(
        &mut self,
        id: TableId,
        keys: &[Key],
        write: &Write,
    ) -> Result<IndexChanges, Error> {
        let mut entries = IndexChanges::default();
        let view = self.table_or_missing(id)?;
        let table = Arc::clone(view.table());
        let Some(elsewhere) = &self.elsewhere else { return Ok(entries) };
        let peers = Arc::clone(&elsewhere.peers);
        let id = elsewhere.id;
        let mut rest: Vec<u32> = (0..keys.len() as u32).collect();
        for _ in 0..ATTEMPTS_MAX {
            let owners = by_owner(&*peers, &view, keys, &rest).await?;
            rest = Vec::new();
            let reader = self.reader(Some(id));
            let mut sent = Vec::new();
            for (owner, rows) in owners {
                let write = write.picked(&rows)?;
                if peers.is_here(owner) {
                    match self.waiting(|here| here.write(&table, write.clone())).await {
                        Err(Error::NotOwned { .. }) => rest.extend(rows),
                        done => drop(done?),
                    }
                    entries.add(self.here.take_entries());
                } else {
                    if let Some(elsewhere) = &mut self.elsewhere {
                        elsewhere.has_writes = true;
                    }
                    let (peers, table, reader) = (&peers, &table, &reader);
                    let patience = self.patience;
                    sent.push(async move {
                        let writing = write_to_owner(&**peers, reader, table, owner, &rows, write);
                        let written = within(patience, writing).await;
                        let keys = rows.iter().map(|row| &keys[*row as usize]);
                        written.map_err(|e| e.missing(|| key::describe_rows(table, keys)))
                    });
                }
            }
            for written in join_all(sent).await {
                let (refused, changes) = written?;
                rest.extend(refused);
                entries.add(changes);
            }
            if rest.is_empty() {
                return Ok(entries);
            }
        }
        let key = &keys[rest[0] as usize];
        Err(Error::NotOwned { range: KeyRange::point(key) })
    }

    /// Returns the store of this server.
    pub fn store(&self) -> &Arc<Store> {
        self.here.store()
    }

    fn here_mut(&mut self) -> &mut Transaction {
        &mut self.here
    }

    /// Returns the other servers and the identity for writes. `writes` records that they may have
    /// writes from now on.
    fn begin_elsewhere(&mut self, writes: bool) -> Option<(Arc<dyn Peers>, Reader)> {
        let elsewhere = self.elsewhere.as_mut()?;
        elsewhere.has_writes |= writes;
        let (peers, id) = (Arc::clone(&elsewhere.peers), elsewhere.id);
        Some((peers, self.reader(Some(id))))
    }

    fn table_or_missing(&self, id: TableId) -> Result<TableView, Error> {
        self.table(id).ok_or_else(|| missing(id))
    }

    /// Begins a part of a bulk load, which is passed to [`Self::finish_ingest`] when it is filled.
    ///
    /// # Errors
    /// [`Error::Catalog`] if the table does not exist.
    pub fn ingest(&self, id: TableId) -> Result<IngestPart, Error> {
        self.here.ingest(id)
    }

    /// Ends a bulk load: writes the rows of all its parts, and returns their number.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`] within the load or with the table; errors of other servers.
    pub async fn finish_ingest(
        &mut self,
        id: TableId,
        parts: Vec<IngestPart>,
    ) -> Result<u64, Error> {
        if self.elsewhere.is_none() {
            self.waiting(|here| here.lock_for_load(id)).await?;
        }
        let Some(load) = IngestPart::gather(parts)? else { return Ok(0) };
        let changes = self.changes_of_load(id, &load);
        let rows = match self.elsewhere.is_none() {
            true => self.here.take_load(id, load)?,
            false => self.load_to_owners(id, load).await?,
        };
        changes.into_iter().for_each(|change| self.changes.add(change));
        Ok(rows)
    }

    /// Whether it changes no definitions, and what it has written here has so many bytes at most.
    pub fn is_within(&self, bytes: u64) -> bool {
        self.here.change_count() == 0 && self.here.bytes() <= bytes
    }

    /// Whether it has written nothing.
    pub fn is_read_only(&self) -> bool {
        self.here.is_read_only() && !self.elsewhere.as_ref().is_some_and(|e| e.has_writes)
    }

    /// Sets a savepoint.
    pub fn savepoint(&mut self) -> DistributedSavepoint {
        self.savepoints += 1;
        let (here, changes) = (self.here.savepoint(), self.changes.clone());
        let moved = self.moved.number();
        DistributedSavepoint { here, number: self.savepoints, changes, moved }
    }

    /// Rolls back to a savepoint of this transaction.
    ///
    /// # Errors
    /// Errors of other servers.
    pub async fn rollback_to(&mut self, savepoint: &DistributedSavepoint) -> Result<(), Error> {
        self.here.rollback_to(&savepoint.here);
        self.changes = savepoint.changes.clone();
        self.moved.forget_after(savepoint.moved);
        match &self.elsewhere {
            Some(e) if e.has_writes => e.peers.rollback_to(e.id, savepoint.number).await,
            _ => Ok(()),
        }
    }

    /// Commits on all servers, and returns the timestamp of the commit.
    ///
    /// # Errors
    /// [`Error::Conflict`] and [`Error::SchemaConflict`], after which nothing has changed;
    /// [`Error::Unreachable`] in a cluster.
    pub async fn commit(mut self) -> Result<Timestamp, Error> {
        if !self.changes.is_empty() {
            return Err(unchecked());
        }
        self.lock_changed().await?;
        let serialized = self.serialized().await?;
        let told = self.tell_moves();
        let store = Arc::clone(self.store());
        let committed = self.commit_told(serialized).await;
        if let Some(number) = told {
            locking::settle_moves(&store, number, &committed);
        }
        committed
    }

    /// Commits, after the changes of keys have been told.
    async fn commit_told(mut self, serialized: Option<Serialized>) -> Result<Timestamp, Error> {
        let Some(mut elsewhere) = self.elsewhere.take() else {
            return self.here.commit_async().await;
        };
        let reader = self.reader(Some(elsewhere.id));
        let timestamp = self.here.snapshot().timestamp();
        if self.here.empties_tables() {
            // A move that does not end in time refuses what empties its table.
            select(pin!(self.here.await_unfrozen()), elsewhere.peers.patience()).await;
        }
        let here = self.here.prepare()?;
        if here.is_none() && !elsewhere.has_writes {
            return Ok(timestamp);
        }
        // From here on, the commit rolls back on failure.
        elsewhere.has_writes = false;
        let locks = serialized.as_ref().map(Serialized::locks);
        let committed = elsewhere.peers.commit(&reader, here, locks).await;
        drop(serialized);
        committed
    }
}

/// The error for changes of rows that foreign keys have not looked at.
fn unchecked() -> Error {
    Error::Failed(Box::new(crate::Failure {
        sql_state: "XX000".to_owned(),
        message: "the foreign keys of changed rows have not been checked".to_owned(),
        ..crate::Failure::default()
    }))
}

/// Sends rows to another server in pieces, one after the other; returns the rows that it does not
/// own, and what changes in indexes.
async fn write_to_owner(
    peers: &dyn RowPeers,
    reader: &Reader,
    table: &Arc<Table>,
    owner: GroupId,
    rows: &[u32],
    write: Write,
) -> Result<(Vec<u32>, IndexChanges), Error> {
    let (mut refused, mut entries) = (Vec::new(), IndexChanges::default());
    for (range, piece) in write.pieces() {
        match peers.write(reader, table, owner, piece).await {
            Err(Error::NotOwned { .. }) => refused.extend(&rows[range]),
            done => entries.add(done?.entries),
        }
    }
    Ok((refused, entries))
}

/// Groups rows by the owners of their keys.
async fn by_owner(
    peers: &dyn RowPeers,
    view: &TableView,
    keys: &[Key],
    rows: &[u32],
) -> Result<BTreeMap<GroupId, Vec<u32>>, Error> {
    let mut owners: BTreeMap<GroupId, Vec<u32>> = BTreeMap::new();
    let of = |row: &u32| &keys[*row as usize];
    let (Some(first), Some(last)) = (rows.iter().map(of).min(), rows.iter().map(of).max()) else {
        return Ok(owners);
    };
    let low = Bound::At(first.clone());
    let Some(span) = KeyRange::new(low, Bound::At(last.successor())) else { return Ok(owners) };
    if view.owns(&span) {
        return Ok([(view.group(), rows.to_vec())].into());
    }
    let cover = peers.cover(view.table().id, &span).await?;
    for row in rows {
        let key = Bound::At(of(row).clone());
        let at = cover.partition_point(|(range, _)| range.high <= key);
        if let Some((_, owner)) = cover.get(at) {
            owners.entry(*owner).or_default().push(*row);
        }
    }
    Ok(owners)
}
