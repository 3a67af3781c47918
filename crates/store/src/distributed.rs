//! A distributed transaction: one on each server whose rows it writes, run by the server that its client is connected to.
//!
//! Rows are written where their owners are, at once: an owner checks keys against its own rows, and later reads
//! there see them. On a store without [`Peers`] all of it happens here, and nothing waits.

use crate::catalog::{Catalog, CatalogChange, Table, TableId};
use crate::ingest::IngestPart;
use crate::peers::{Peers, Reader, Reading, TransactionId, Write};
use crate::store::Store;
use crate::transaction::{Savepoint, Transaction};
use crate::view::TableView;
use crate::{ATTEMPTS, Error, Snapshot, key};
use arrow::array::RecordBatch;
use futures::future::join_all;
use sdds::{Bound, GroupId, Key, KeyRange, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A running transaction. Dropping it rolls it back.
#[derive(Debug)]
pub struct DistributedTransaction {
    /// What it writes and reads on this server.
    here: Transaction,
    elsewhere: Option<Elsewhere>,
    savepoints: u64,
}

/// Its part on other servers.
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

/// A place in a transaction that it can go back to.
#[derive(Debug, Clone)]
pub struct DistributedSavepoint {
    here: Savepoint,
    number: u64,
}

impl Store {
    /// What is committed now, on all servers.
    ///
    /// # Errors
    /// [`Error::Unreachable`], only in a cluster.
    pub async fn reading(self: &Arc<Self>) -> Result<Reading, Error> {
        let Some(peers) = self.peers() else { return Ok(self.snapshot().reading(None)) };
        let snapshot = peers.snapshot().await?;
        let reader = Reader {
            timestamp: snapshot.timestamp(),
            transaction: None,
            changes: [].into(),
            savepoint: 0,
        };
        Ok(snapshot.reading(Some((Arc::clone(peers), reader))))
    }

    /// What is committed here: for what reads no rows.
    ///
    /// # Errors
    /// [`Peers::refusal`].
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

    /// A transaction on a snapshot.
    pub(crate) fn distributed_on(self: &Arc<Self>, snapshot: Snapshot) -> DistributedTransaction {
        let here = Transaction::new(Arc::clone(self), snapshot);
        let elsewhere = self.peers().map(|peers| {
            let (peers, id) = (Arc::clone(peers), peers.transaction_id());
            Elsewhere { peers, id, has_writes: false }
        });
        DistributedTransaction { here, elsewhere, savepoints: 0 }
    }
}

impl DistributedTransaction {
    /// The snapshot that it reads, on this server.
    pub fn snapshot(&self) -> &Snapshot {
        self.here.snapshot()
    }

    /// The catalog, with its own changes.
    pub fn catalog(&self) -> &Arc<Catalog> {
        self.here.catalog()
    }

    /// Changes the catalog; other servers hear of it with what comes next.
    ///
    /// # Errors
    /// As [`Catalog::apply`].
    pub fn change_catalog(&mut self, change: CatalogChange) -> Result<(), Error> {
        self.here.change_catalog(change)
    }

    /// A table with its own writes up to now.
    pub fn table(&self, id: TableId) -> Option<TableView> {
        self.reading().table(id)
    }

    /// What it reads now: later writes are not seen.
    pub fn reading(&self) -> Reading {
        let reader =
            |elsewhere: &Elsewhere| self.reader(elsewhere.has_writes.then_some(elsewhere.id));
        let peers = self.elsewhere.as_ref().map(|e| (Arc::clone(&e.peers), reader(e)));
        self.here.reading(peers)
    }

    /// As whom other servers know it.
    fn reader(&self, transaction: Option<TransactionId>) -> Reader {
        Reader {
            timestamp: self.snapshot().timestamp(),
            transaction,
            changes: self.here.shared_changes(),
            savepoint: self.savepoints,
        }
    }

    /// Adds rows with all columns of the table.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`], [`Error::NullKey`], [`Error::ValueTooLarge`], [`Error::OutOfMemory`]. Some rows
    /// may have been added then; go back to a savepoint.
    pub async fn insert(&mut self, id: TableId, rows: &RecordBatch) -> Result<(), Error> {
        match self.elsewhere {
            None => self.here.insert(id, rows),
            Some(_) => self.write_rows(id, rows, Write::Insert).await,
        }
    }

    /// Adds rows, or replaces those with the same key.
    ///
    /// # Errors
    /// As [`Self::insert`], without [`Error::DuplicateKey`].
    pub async fn upsert(&mut self, id: TableId, rows: &RecordBatch) -> Result<(), Error> {
        match self.elsewhere {
            None => self.here.upsert(id, rows),
            Some(_) => self.write_rows(id, rows, Write::Upsert).await,
        }
    }

    /// Removes the rows of some keys; keys without a row are passed over. Memory is not refused.
    ///
    /// # Errors
    /// Only for a table that does not exist, or in a cluster.
    pub async fn delete(&mut self, id: TableId, keys: &[Key]) -> Result<(), Error> {
        if self.elsewhere.is_none() {
            return self.here.delete(id, keys);
        }
        self.write_to_owners(id, keys, &Write::Delete(keys.to_vec())).await
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

    /// Divides rows, known by their keys, among their owners. Those that an owner has no more are tried again.
    async fn write_to_owners(
        &mut self,
        id: TableId,
        keys: &[Key],
        write: &Write,
    ) -> Result<(), Error> {
        let view = self.table_or_missing(id)?;
        let table = Arc::clone(view.table());
        let Some(elsewhere) = &self.elsewhere else { return Ok(()) };
        let peers = Arc::clone(&elsewhere.peers);
        let id = elsewhere.id;
        let mut rest: Vec<u32> = (0..keys.len() as u32).collect();
        for _ in 0..ATTEMPTS {
            let owners = by_owner(&*peers, &view, keys, &rest).await?;
            rest = Vec::new();
            let reader = self.reader(Some(id));
            let mut sent = Vec::new();
            for (owner, rows) in owners {
                let write = write.picked(&rows)?;
                if owner == peers.here() {
                    match self.here.write(&table, write) {
                        Err(Error::NotOwned { .. }) => rest.extend(rows),
                        done => drop(done?),
                    }
                } else {
                    if let Some(elsewhere) = &mut self.elsewhere {
                        elsewhere.has_writes = true;
                    }
                    let (peers, table, reader) = (&peers, &table, &reader);
                    sent.push(async move {
                        let write = (&rows[..], write);
                        let written = write_there(&**peers, reader, table, owner, write).await;
                        let keys = rows.iter().map(|row| &keys[*row as usize]);
                        written.map_err(|e| e.missing(|| key::describe_rows(table, keys)))
                    });
                }
            }
            for refused in join_all(sent).await {
                rest.extend(refused?);
            }
            if rest.is_empty() {
                return Ok(());
            }
        }
        let key = &keys[rest[0] as usize];
        Err(Error::NotOwned { range: KeyRange::point(key) })
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        self.here.store()
    }

    pub(crate) fn here_mut(&mut self) -> &mut Transaction {
        &mut self.here
    }

    /// The other servers, and as whom to write there; from now on they may have writes, if that is said.
    pub(crate) fn begin_elsewhere(&mut self, writes: bool) -> Option<(Arc<dyn Peers>, Reader)> {
        let elsewhere = self.elsewhere.as_mut()?;
        elsewhere.has_writes |= writes;
        let (peers, id) = (Arc::clone(&elsewhere.peers), elsewhere.id);
        Some((peers, self.reader(Some(id))))
    }

    pub(crate) fn table_or_missing(&self, id: TableId) -> Result<TableView, Error> {
        let missing = || Error::RelationMissing { relation: format!("with id {}", id.0) };
        self.table(id).ok_or_else(missing)
    }

    /// A part of a bulk load, to be filled anywhere and handed to [`Self::finish_ingest`].
    ///
    /// # Errors
    /// Only for a table that does not exist.
    pub fn ingest(&self, id: TableId) -> Result<IngestPart, Error> {
        self.here.ingest(id)
    }

    /// Ends a bulk load: the rows of all its parts become the transaction's writes. How many comes back.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`], within the load and against the table.
    pub async fn finish_ingest(
        &mut self,
        id: TableId,
        parts: Vec<IngestPart>,
    ) -> Result<u64, Error> {
        if self.elsewhere.is_none() {
            return self.here.finish_ingest(id, parts);
        }
        let Some(load) = IngestPart::gather(parts)? else { return Ok(0) };
        self.load_to_owners(id, load).await
    }

    /// Whether it has written nothing.
    pub fn is_read_only(&self) -> bool {
        self.here.is_read_only() && !self.elsewhere.as_ref().is_some_and(|e| e.has_writes)
    }

    /// A place to go back to.
    pub fn savepoint(&mut self) -> DistributedSavepoint {
        self.savepoints += 1;
        DistributedSavepoint { here: self.here.savepoint(), number: self.savepoints }
    }

    /// Undoes what was done since a savepoint of this transaction.
    ///
    /// # Errors
    /// Only in a cluster.
    pub async fn rollback_to(&mut self, savepoint: &DistributedSavepoint) -> Result<(), Error> {
        self.here.rollback_to(&savepoint.here);
        match &self.elsewhere {
            Some(e) if e.has_writes => e.peers.rollback_to(e.id, savepoint.number).await,
            _ => Ok(()),
        }
    }

    /// Makes the writes visible to everybody, all at once. Their timestamp comes back.
    ///
    /// # Errors
    /// [`Error::Conflict`] and [`Error::SchemaConflict`] where somebody else was first; nothing has changed
    /// then. [`Error::Unreachable`] in a cluster.
    pub async fn commit(mut self) -> Result<Timestamp, Error> {
        let Some(mut elsewhere) = self.elsewhere.take() else { return self.here.commit() };
        let reader = self.reader(Some(elsewhere.id));
        let timestamp = self.here.snapshot().timestamp();
        let here = self.here.prepare()?;
        if here.is_none() && !elsewhere.has_writes {
            return Ok(timestamp);
        }
        // From here on the commit itself undoes what it does not do.
        elsewhere.has_writes = false;
        elsewhere.peers.commit(&reader, here).await
    }
}

/// Writes rows on another server, in pieces one after the other; those that it does not own come back.
async fn write_there(
    peers: &dyn Peers,
    reader: &Reader,
    table: &Arc<Table>,
    owner: GroupId,
    (rows, write): (&[u32], Write),
) -> Result<Vec<u32>, Error> {
    let mut refused = Vec::new();
    for (range, piece) in write.pieces() {
        match peers.write(reader, table, owner, piece).await {
            Err(Error::NotOwned { .. }) => refused.extend(&rows[range]),
            done => drop(done?),
        }
    }
    Ok(refused)
}

/// Rows by the owners of their keys.
async fn by_owner(
    peers: &dyn Peers,
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
        return Ok([(peers.here(), rows.to_vec())].into());
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
