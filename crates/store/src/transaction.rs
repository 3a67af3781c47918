//! A transaction: a snapshot to read from, and writes that nobody else sees until they are committed.
//!
//! Snapshot isolation: reads see the snapshot and the transaction's own writes; a commit is refused when
//! somebody else has written one of the same rows since the snapshot ([`Error::Conflict`]).

use crate::catalog::{Catalog, CatalogChange, OnCommit, Relation, Table, TableId};
use crate::ingest::{IngestPart, duplicate, private_run};
use crate::memory::Reservation;
use crate::peers::{Peers, Reader, Reading, Write};
use crate::row::RowEncoder;
use crate::store::Store;
use crate::view::{TableView, key_encoder};
use crate::write_set::{TableWrites, WriteSet};
use crate::{Error, Snapshot};
use arrow::array::RecordBatch;
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
}

/// A place in a transaction that it can go back to.
#[derive(Debug, Clone)]
pub struct Savepoint {
    catalog: Arc<Catalog>,
    catalog_changes: usize,
    writes: WriteSet,
}

/// What a commit needs of a transaction.
pub(crate) struct Parts {
    pub(crate) snapshot: Snapshot,
    pub(crate) catalog_changes: Vec<CatalogChange>,
    pub(crate) writes: WriteSet,
    pub(crate) _reservation: Reservation,
}

impl Transaction {
    pub(crate) fn new(store: Arc<Store>, snapshot: Snapshot) -> Self {
        let reservation = Reservation::new(store.memory());
        Self {
            catalog: Arc::clone(snapshot.catalog()),
            store,
            snapshot,
            catalog_changes: Vec::new(),
            writes: WriteSet::new(),
            reservation,
        }
    }

    /// The snapshot that it reads.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The catalog, with its own changes.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Changes the catalog.
    ///
    /// # Errors
    /// As [`Catalog::apply`].
    pub fn change_catalog(&mut self, change: CatalogChange) -> Result<(), Error> {
        self.catalog = Arc::new(self.catalog.apply(&change)?);
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

    /// A table with its own writes up to now.
    pub fn table(&self, id: TableId) -> Option<TableView> {
        let table = Arc::clone(self.catalog.table_by_id(id)?);
        let file = self.snapshot.file(id).cloned();
        let writes = self.writes.get(&id).cloned();
        Some(TableView::new(table, file, self.snapshot.clone(), writes, None))
    }

    /// What it reads now: later writes are not seen.
    pub(crate) fn reading(&self, peers: Option<(Arc<dyn Peers>, Reader)>) -> Reading {
        Reading {
            catalog: Arc::clone(&self.catalog),
            snapshot: self.snapshot.clone(),
            writes: self.writes.clone(),
            peers,
        }
    }

    /// What it has changed of the catalog, as far as it concerns other servers: nothing that is one session's.
    pub(crate) fn shared_changes(&self) -> Arc<[CatalogChange]> {
        self.catalog_changes.as_slice().into()
    }

    /// Does a write.
    ///
    /// # Errors
    /// As [`Self::insert`], and [`Error::NotOwned`], when nothing was written.
    pub fn write(&mut self, table: &Table, write: Write) -> Result<u64, Error> {
        let id = table.id;
        match write {
            Write::Insert(rows) => self.insert(id, &rows).map(|()| rows.num_rows() as u64),
            Write::Upsert(rows) => self.upsert(id, &rows).map(|()| rows.num_rows() as u64),
            Write::Delete(keys) => self.delete(id, &keys).map(|()| keys.len() as u64),
            Write::Load(rows) => {
                let mut part = self.ingest(id)?;
                part.append(rows)?;
                self.finish_ingest(id, vec![part])
            }
        }
    }

    fn table_or_missing(&self, id: TableId) -> Result<TableView, Error> {
        let missing = || Error::RelationMissing { relation: format!("with id {}", id.0) };
        self.table(id).ok_or_else(missing)
    }

    /// Adds rows with all columns of the table.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`], [`Error::NullKey`], [`Error::ValueTooLarge`], [`Error::OutOfMemory`]. Some rows
    /// may have been added then; go back to a savepoint.
    pub fn insert(&mut self, id: TableId, rows: &RecordBatch) -> Result<(), Error> {
        let view = self.table_or_missing(id)?;
        self.write_rows(&view, rows, |writes, key| match writes.changes.get(key) {
            Some(change) => change.is_some(),
            None => view.contains(key),
        })
    }

    /// Adds rows, or replaces those with the same key.
    ///
    /// # Errors
    /// As [`Self::insert`], without [`Error::DuplicateKey`].
    pub fn upsert(&mut self, id: TableId, rows: &RecordBatch) -> Result<(), Error> {
        let view = self.table_or_missing(id)?;
        self.write_rows(&view, rows, |_, _| false)
    }

    fn write_rows(
        &mut self,
        view: &TableView,
        rows: &RecordBatch,
        is_duplicate: impl Fn(&TableWrites, &Key) -> bool,
    ) -> Result<(), Error> {
        let table: &Table = view.table();
        let keys = key_encoder(table, rows)?;
        let encoder = RowEncoder::new(&self.store.row_layout(table), rows.columns())?;
        let mut writes = self.writes.get(&table.id).cloned().unwrap_or_default();
        for index in 0..rows.num_rows() {
            let key = keys.key(index);
            if is_duplicate(&writes, &key) {
                return Err(duplicate(table, &key));
            }
            let before = writes.bytes;
            writes.put(key, Some(encoder.encode(index)?));
            self.reservation.try_grow(writes.bytes.saturating_sub(before))?;
        }
        self.put_writes(table.id, writes);
        Ok(())
    }

    /// Removes the rows of some keys; keys without a row are passed over. Memory is not refused.
    ///
    /// # Errors
    /// Only for a table that does not exist.
    pub fn delete(&mut self, id: TableId, keys: &[Key]) -> Result<(), Error> {
        self.table_or_missing(id)?;
        let mut writes = self.writes.get(&id).cloned().unwrap_or_default();
        for key in keys {
            writes.put(key.clone(), None);
        }
        self.put_writes(id, writes);
        Ok(())
    }

    /// Replaces the writes to a table. What all writes hold is from now on what is accounted for.
    fn put_writes(&mut self, id: TableId, writes: TableWrites) {
        match writes.is_empty() {
            true => self.writes.remove(&id),
            false => self.writes.insert(id, writes),
        };
        self.account();
    }

    fn account(&mut self) {
        self.reservation.set(self.writes.values().map(|writes| writes.bytes).sum());
    }

    /// A part of a bulk load, to be filled anywhere and handed to [`Self::finish_ingest`].
    ///
    /// # Errors
    /// Only for a table that does not exist.
    pub fn ingest(&self, id: TableId) -> Result<IngestPart, Error> {
        let view = self.table_or_missing(id)?;
        Ok(IngestPart::new(view.table(), self.store.memory()))
    }

    /// Ends a bulk load: the rows of all its parts become the transaction's writes. How many comes back.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`], within the load and against the table.
    pub fn finish_ingest(&mut self, id: TableId, parts: Vec<IngestPart>) -> Result<u64, Error> {
        let view = self.table_or_missing(id)?;
        let Some(gathered) = IngestPart::gather(parts)? else { return Ok(0) };
        let sorted = view.sort_out_present(&gathered.chunks)?;
        let mut writes = self.writes.get(&id).cloned().unwrap_or_default();
        if !sorted.absent.is_empty() {
            writes.put_run(private_run(sorted.absent));
        }
        self.reservation.absorb(gathered.reservation);
        self.put_writes(id, writes);
        for rows in sorted.traced {
            self.upsert(id, &rows)?;
        }
        Ok(gathered.rows)
    }

    /// Whether it has written nothing.
    pub fn is_read_only(&self) -> bool {
        self.writes.is_empty() && self.catalog_changes.is_empty()
    }

    /// A place to go back to.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint {
            catalog: Arc::clone(&self.catalog),
            catalog_changes: self.catalog_changes.len(),
            writes: self.writes.clone(),
        }
    }

    /// Undoes what was done since a savepoint of this transaction.
    pub fn rollback_to(&mut self, savepoint: &Savepoint) {
        assert!(
            savepoint.catalog_changes <= self.catalog_changes.len(),
            "a savepoint is in the past"
        );
        self.catalog = Arc::clone(&savepoint.catalog);
        self.catalog_changes.truncate(savepoint.catalog_changes);
        self.writes = savepoint.writes.clone();
        self.account();
    }

    /// Leaves nothing of what is not to outlive the transaction: the rows of some temporary tables, and others
    /// as a whole.
    fn end_temporary(&mut self) -> Result<(), Error> {
        let on_commit = |id: &TableId| self.catalog.table_by_id(*id).map(|table| table.on_commit);
        let emptied = |id: &&TableId| on_commit(id) == Some(OnCommit::DeleteRows);
        for id in self.writes.keys().filter(emptied).copied().collect::<Vec<_>>() {
            self.put_writes(id, TableWrites::default());
        }
        let created = self.catalog_changes.iter().filter_map(|change| match change {
            CatalogChange::Create(relation) => Some(relation),
            _ => None,
        });
        let dropped = |id: TableId| {
            self.catalog.table_by_id(id).is_some_and(|table| table.on_commit == OnCommit::Drop)
        };
        let gone = created.filter(|relation| match relation {
            Relation::Table(table) => dropped(table.id),
            Relation::Sequence(owned) => owned.owned_by.is_some_and(|(table, _)| dropped(table)),
            Relation::View(_) => false,
        });
        for id in gone.map(Relation::id).collect::<Vec<_>>() {
            self.change_catalog(CatalogChange::Drop(id))?;
        }
        Ok(())
    }

    /// Makes the writes visible to everybody, all at once. Their timestamp comes back.
    ///
    /// # Errors
    /// [`Error::Conflict`] and [`Error::SchemaConflict`] where somebody else was first; nothing has changed
    /// then.
    pub fn commit(mut self) -> Result<Timestamp, Error> {
        self.end_temporary()?;
        if self.is_read_only() {
            return Ok(self.snapshot.timestamp());
        }
        let store = Arc::clone(&self.store);
        store.commit(Parts {
            snapshot: self.snapshot,
            catalog_changes: self.catalog_changes,
            writes: self.writes,
            _reservation: self.reservation,
        })
    }
}

/// A transaction that nothing can refuse any more: its conflicts are checked, and its rows are held against others
/// until it is committed, or dropped and so undone.
#[derive(Debug)]
pub struct Prepared {}

impl Transaction {
    /// Checks it against what was committed since its snapshot; `None` where it has written nothing.
    ///
    /// # Errors
    /// [`Error::Conflict`] and [`Error::SchemaConflict`] where somebody else was first.
    pub fn prepare(self) -> Result<Option<Prepared>, Error> {
        unimplemented!("the store's part of a commit on several servers")
    }
}

impl Prepared {
    /// Makes the writes visible at a timestamp.
    pub fn commit(self, _timestamp: Timestamp) {
        unimplemented!("the store's part of a commit on several servers")
    }
}
