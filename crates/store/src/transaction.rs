//! A transaction: a snapshot to read from, and writes that nobody else sees until they are committed.
//!
//! Snapshot isolation: reads see the snapshot and the transaction's own writes; a commit is refused when
//! somebody else has written one of the same rows since the snapshot ([`Error::Conflict`]).

use crate::catalog::{
    Catalog, CatalogChange, Object, OnCommit, Relation, RelationId, Table, TableId,
    is_temporary_schema,
};
use crate::holds::Staging;
use crate::ingest::{Gathered, IngestPart, duplicate, private_run};
use crate::memory::Reservation;
use crate::peers::{Peers, Reader, Reading, Write};
use crate::row::RowEncoder;
use crate::store::Store;
use crate::view::TableView;
use crate::write_set::{TableWrites, WriteSet, bytes};
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
    /// Where its writes are registered, once it has some in a cluster.
    staging: Option<Staging>,
}

/// A place in a transaction that it can go back to.
#[derive(Debug, Clone)]
pub struct Savepoint {
    catalog: Arc<Catalog>,
    catalog_changes: usize,
    writes: WriteSet,
}

/// What a commit needs of a transaction.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) snapshot: Snapshot,
    pub(crate) catalog_changes: Vec<CatalogChange>,
    pub(crate) writes: WriteSet,
    pub(crate) staging: Option<Staging>,
    pub(crate) _reservation: Reservation,
}

impl Parts {
    /// Whether a change of the catalog is other sessions' business, too.
    pub(crate) fn is_shared(&self, change: &CatalogChange) -> bool {
        is_shared(self.snapshot.catalog(), &self.catalog_changes, change)
    }
}

/// Whether a change, one of a transaction's, concerns more than one session.
fn is_shared(before: &Catalog, all: &[CatalogChange], change: &CatalogChange) -> bool {
    let is_temporary = |id: RelationId| {
        let created = || {
            all.iter().find_map(|change| match change {
                CatalogChange::Create(relation) if relation.id() == id => Some(relation),
                _ => None,
            })
        };
        before.relation_by_id(id).or_else(created).is_some_and(Relation::is_temporary)
    };
    !match change {
        CatalogChange::CreateSchema(schema) | CatalogChange::ReplaceSchema(schema) => {
            is_temporary_schema(&schema.name)
        }
        CatalogChange::DropSchema(name) => is_temporary_schema(name),
        CatalogChange::Create(relation) | CatalogChange::Replace(relation) => {
            relation.is_temporary()
        }
        CatalogChange::Drop(id) => is_temporary(*id),
        CatalogChange::Truncate(id) => is_temporary(id.relation()),
        CatalogChange::SetPrivileges { object, .. } => match object {
            Object::Database => false,
            Object::Schema(name) => is_temporary_schema(name),
            Object::Relation(id) => is_temporary(*id),
        },
        CatalogChange::PutRole(_)
        | CatalogChange::RenameRole { .. }
        | CatalogChange::DropRole(_) => false,
    }
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
            staging: None,
        }
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.store
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

    /// What it reads now: later writes are not seen. `peers` are the other servers and as whom they are asked.
    pub fn reading(&self, peers: Option<(Arc<dyn Peers>, Reader)>) -> Reading {
        Reading {
            catalog: Arc::clone(&self.catalog),
            snapshot: self.snapshot.clone(),
            writes: self.writes.clone(),
            peers,
        }
    }

    /// What it has changed of the catalog, as far as it concerns other servers: nothing that is one session's.
    pub(crate) fn shared_changes(&self) -> Arc<[CatalogChange]> {
        let all = &self.catalog_changes;
        let shared = all.iter().filter(|change| is_shared(self.snapshot.catalog(), all, change));
        shared.cloned().collect()
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

    pub(crate) fn table_or_missing(&self, id: TableId) -> Result<TableView, Error> {
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
            Some(change) => Ok(change.is_some()),
            None => view.contains(key),
        })
    }

    /// Adds rows, or replaces those with the same key.
    ///
    /// # Errors
    /// As [`Self::insert`], without [`Error::DuplicateKey`].
    pub fn upsert(&mut self, id: TableId, rows: &RecordBatch) -> Result<(), Error> {
        let view = self.table_or_missing(id)?;
        self.write_rows(&view, rows, |_, _| Ok(false))
    }

    fn write_rows(
        &mut self,
        view: &TableView,
        rows: &RecordBatch,
        is_duplicate: impl Fn(&TableWrites, &Key) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let table: &Table = view.table();
        let keys = view.encode_keys(rows)?;
        let encoder = RowEncoder::new(&self.store.row_layout(table), rows.columns())?;
        let mut writes = self.writes.get(&table.id).cloned().unwrap_or_default();
        for (index, key) in keys.iter().enumerate() {
            if is_duplicate(&writes, key)? {
                return Err(duplicate(table, key));
            }
            let before = writes.bytes;
            writes.put(key.clone(), Some(encoder.encode(index)?));
            self.reservation.try_grow(writes.bytes.saturating_sub(before))?;
        }
        self.stage(view, writes, || keys.iter().try_for_each(|key| view.require(key)))
    }

    /// Removes the rows of some keys; keys without a row are passed over. Memory is not refused.
    ///
    /// # Errors
    /// For a table that does not exist, and in a cluster [`Error::NotOwned`].
    pub fn delete(&mut self, id: TableId, keys: &[Key]) -> Result<(), Error> {
        let view = self.table_or_missing(id)?;
        let mut writes = self.writes.get(&id).cloned().unwrap_or_default();
        for key in keys {
            writes.put(key.clone(), None);
        }
        self.stage(&view, writes, || keys.iter().try_for_each(|key| view.require(key)))
    }

    /// Replaces the writes to a table by others; in a cluster only if what is new in them is owned here, and so that
    /// it stays here until the transaction ends.
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
    /// [`Error::DuplicateKey`], within the load and against the table; [`Error::NotOwned`], when nothing was written.
    pub fn finish_ingest(&mut self, id: TableId, parts: Vec<IngestPart>) -> Result<u64, Error> {
        match IngestPart::gather(parts)? {
            Some(gathered) => self.take_load(id, gathered),
            None => Ok(0),
        }
    }

    /// Writes a sorted load.
    pub(crate) fn take_load(&mut self, id: TableId, gathered: Gathered) -> Result<u64, Error> {
        let before = self.savepoint();
        let taken = self.try_take_load(id, gathered);
        if taken.is_err() {
            self.rollback_to(&before);
        }
        taken
    }

    fn try_take_load(&mut self, id: TableId, gathered: Gathered) -> Result<u64, Error> {
        let view = self.table_or_missing(id)?;
        let sorted = view.sort_out_present(&gathered.chunks)?;
        let mut writes = self.writes.get(&id).cloned().unwrap_or_default();
        if !sorted.absent.is_empty() {
            writes.put_run(private_run(sorted.absent));
        }
        self.reservation.absorb(gathered.reservation);
        let spans = || gathered.chunks.iter().try_for_each(|chunk| view.require_rows(chunk));
        self.stage(&view, writes, spans)?;
        for rows in sorted.traced {
            self.upsert(id, &rows)?;
        }
        Ok(gathered.rows)
    }

    /// How many changes of the catalog it has made.
    pub fn change_count(&self) -> usize {
        self.catalog_changes.len()
    }

    /// Whether it has written nothing.
    pub fn is_read_only(&self) -> bool {
        self.writes.is_empty() && self.catalog_changes.is_empty()
    }

    /// Bytes of what it has written.
    pub fn bytes(&self) -> u64 {
        bytes(&self.writes)
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
        if let Some(staging) = &self.staging {
            staging.restage(&self.writes);
        }
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
    pub fn commit(self) -> Result<Timestamp, Error> {
        let (store, timestamp) = (Arc::clone(&self.store), self.snapshot.timestamp());
        match self.into_parts()? {
            Some(parts) => store.commit(parts),
            None => Ok(timestamp),
        }
    }

    /// What is to be committed; `None` where it has written nothing.
    pub(crate) fn into_parts(mut self) -> Result<Option<Parts>, Error> {
        self.end_temporary()?;
        if self.is_read_only() {
            return Ok(None);
        }
        Ok(Some(Parts {
            snapshot: self.snapshot,
            catalog_changes: self.catalog_changes,
            writes: self.writes,
            staging: self.staging,
            _reservation: self.reservation,
        }))
    }
}
