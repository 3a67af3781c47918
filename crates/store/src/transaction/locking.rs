//! Transactions that lock what they write.
//!
//! A write locks its rows first, in its order, and then looks for changes since the snapshot: nobody
//! changes the rows from here on, so a row without changes stays so until the end of the transaction.
//! Where another transaction has a lock, the write fails with [`Error::Locked`], and can be repeated
//! when the lock has been granted ([`Transaction::take_wait`]). Where a row has changed, it fails with
//! [`Error::Conflict`]: its statement can be executed again on a newer snapshot
//! ([`Transaction::refresh`]).
//!
//! Bulk loads lock their table only. Entries of indexes that are not unique need no locks: their rows
//! have them.

use super::{Savepoint, Transaction};
use crate::locking::{LockWait, Locker};
use crate::peers::{LockPolicy, RowLocks};
use crate::read::TableView;
use crate::store::{
    is_deleted, is_referred_to, refuse_missing, refuse_newer, refuse_newer_loads, refuse_required,
};
use crate::{Error, Snapshot};
use catalog::{Catalog, CatalogChange, Table, TableId};
use locks::{Mode, Owner, Party, Target};
use sdds::{Key, KeyRange};
use std::sync::Arc;

/// Of more keys that a statement requires none is locked by itself: the statement locks all keys of their table.
const REQUIRED_LOCKS_MAX: usize = 1 << 12;

impl Transaction {
    /// Locks what is written from now on, for a party.
    pub fn lock_rows(&mut self, party: Party) {
        if self.locker.is_none() {
            let holds = self.store.holds();
            self.locker = Some(Locker::new(holds, holds.owner(party)));
        }
    }

    /// Whether it locks what it writes.
    pub fn is_locking(&self) -> bool {
        self.locker.is_some()
    }

    /// Whether the last write was refused for a lock that can be waited for.
    pub fn has_wait(&self) -> bool {
        self.wait.is_some()
    }

    /// Returns what waits for the lock that the last write was refused for.
    pub fn take_wait(&mut self) -> Option<LockWait> {
        self.wait.take()
    }

    /// Releases the locks since a savepoint, after its changes have been rolled back.
    pub fn release_to(&mut self, savepoint: &Savepoint) {
        self.wait = None;
        if let Some(locker) = &self.locker {
            locker.release_since(savepoint.locks);
        }
    }

    /// Releases all locks.
    pub fn release_all(&mut self) {
        self.wait = None;
        if let Some(locker) = &self.locker {
            locker.release_all();
        }
    }

    /// Locks rows of a table, unless another transaction has changed them.
    ///
    /// # Errors
    /// [`Error::Locked`], [`Error::Conflict`], and 40P01 if waiting would be a deadlock.
    pub(super) fn lock(&mut self, view: &TableView, keys: &[Key], mode: Mode) -> Result<(), Error> {
        self.lock_in(view, Mode::RowExclusive, keys, mode)
    }

    /// Locks a table, and rows of it.
    fn lock_in(
        &mut self,
        view: &TableView,
        of_table: Mode,
        keys: &[Key],
        mode: Mode,
    ) -> Result<(), Error> {
        if self.locker.is_none() || !self.needs_locks(view.table()) {
            return Ok(());
        }
        let id = view.table().id;
        self.lock_table(view.table(), of_table)?;
        keys.iter().try_for_each(|key| view.require(key))?;
        let rows = keys.iter().map(|key| Target::Row(id.0, key.clone()));
        self.acquire(view.table(), rows, mode)?;
        self.await_prepared(view.table(), keys)?;
        let machine = self.store.machine();
        let refused = refuse_newer(machine.head(), &self.snapshot, id, keys);
        drop(machine);
        refused.inspect_err(|error| self.store.count_conflict(error))
    }

    /// Locks rows that must stay, or all rows instead of many, so that whoever deletes them waits. They may have changed since
    /// the snapshot.
    ///
    /// # Errors
    /// [`Error::Locked`], 40P01, and [`Error::Conflict`] for a row that is gone.
    pub(super) fn lock_required(&mut self, view: &TableView, keys: &[Key]) -> Result<(), Error> {
        let table = view.table();
        if self.locker.is_none() || !self.needs_locks(table) {
            return Ok(());
        }
        let id = table.id;
        let file = self.catalog.index_by_id(id).map_or(id, |index| index.table);
        let of_table = Arc::clone(self.table_or_missing(file)?.table());
        self.lock_table(&of_table, Mode::RowShare)?;
        keys.iter().try_for_each(|key| view.require(key))?;
        if keys.len() > REQUIRED_LOCKS_MAX {
            self.acquire(table, [Target::Keys(id.0)], Mode::Share)?;
        } else {
            let rows = keys.iter().map(|key| Target::Row(id.0, key.clone()));
            self.acquire(table, rows, Mode::ForKeyShare)?;
        }
        self.await_prepared(table, keys)?;
        let own = self.writes.get(&id).cloned().unwrap_or_default();
        let machine = self.store.machine();
        let refused = refuse_missing(machine.head(), id, &own, keys);
        drop(machine);
        refused.inspect_err(|error| self.store.count_conflict(error))
    }

    /// Locks rows that may be taken away. If foreign keys refer to them, waits for those who require many rows.
    ///
    /// # Errors
    /// As `Self::lock`.
    pub(super) fn lock_to_remove(&mut self, view: &TableView, keys: &[Key]) -> Result<(), Error> {
        self.lock_keys(view)?;
        self.lock(view, keys, Mode::ForUpdate)
    }

    /// Says that keys of a table may be taken away, if foreign keys refer to it.
    fn lock_keys(&mut self, view: &TableView) -> Result<(), Error> {
        let table = view.table();
        match self.needs_locks(table) && is_referred_to(&self.catalog, table.id) {
            true => self.acquire(table, [Target::Keys(table.id.0)], Mode::RowExclusive),
            false => Ok(()),
        }
    }

    /// Refuses to delete rows that others have required since the snapshot, which does not see what refers to them.
    ///
    /// # Errors
    /// [`Error::Conflict`].
    pub(super) fn refuse_newly_required(
        &self,
        view: &TableView,
        keys: &[Key],
    ) -> Result<(), Error> {
        if self.locker.is_none() || !self.needs_locks(view.table()) {
            return Ok(());
        }
        let id = view.table().id;
        let machine = self.store.machine();
        let refused = {
            let held = self.store.holds().lock();
            refuse_required(machine.head(), &held, &self.snapshot, id, keys)
        };
        drop(machine);
        refused.inspect_err(|error| self.store.count_conflict(error))
    }

    /// Locks a table.
    ///
    /// # Errors
    /// As `Self::lock`.
    pub fn lock_table(&mut self, table: &Table, mode: Mode) -> Result<(), Error> {
        self.acquire(table, [Target::Table(table.id.0)], mode)
    }

    /// Locks a table whose definition it changes, unless another transaction has changed it since the snapshot. What is
    /// dropped may have changed, but has no other indexes.
    ///
    /// # Errors
    /// As [`Self::lock_table`], and [`Error::SchemaConflict`].
    pub(super) fn lock_to_change(
        &mut self,
        table: &Table,
        change: &CatalogChange,
    ) -> Result<(), Error> {
        self.lock_table(table, Mode::AccessExclusive)?;
        if self.locker.is_none() {
            return Ok(());
        }
        let head = Arc::clone(self.store.machine().head());
        let indexes = |catalog: &Catalog| {
            let all = catalog.indexes_of(table.id).iter();
            all.map(|index| index.file.id).collect::<Vec<TableId>>()
        };
        let is_same = |now: &Arc<Table>| match change {
            CatalogChange::Drop(_) => indexes(&head.catalog) == indexes(self.snapshot.catalog()),
            _ => now.version == table.version,
        };
        match head.catalog.table_by_id(table.id).is_some_and(is_same) {
            true => Ok(()),
            false => Err(Error::SchemaConflict { relation: table.name.clone() }),
        }
    }

    /// Locks a table for a bulk load.
    ///
    /// # Errors
    /// As [`Self::lock_table`].
    pub(crate) fn lock_for_load(&mut self, id: TableId) -> Result<(), Error> {
        let view = self.table_or_missing(id)?;
        self.lock(&view, &[], Mode::ForUpdate)
    }

    /// Whether another transaction has deleted a row of this server since the snapshot.
    pub fn is_deleted_meanwhile(&self, id: TableId, key: &Key) -> bool {
        is_deleted(self.store.machine().head(), &self.snapshot, id, key)
    }

    /// Locks rows of a table for a query, in their order. Returns which have been locked: all, unless
    /// it skips rows.
    ///
    /// # Errors
    /// As `Self::lock`, and 55P03 if it does not wait.
    pub fn lock_selected(&mut self, id: TableId, rows: &RowLocks) -> Result<Vec<bool>, Error> {
        let RowLocks { keys, mode, policy } = rows;
        let view = self.table_or_missing(id)?;
        let table = Arc::clone(view.table());
        // Modes of rows come before those of tables.
        let is_of_table = *mode >= Mode::AccessShare;
        if *policy == LockPolicy::Wait {
            match is_of_table {
                true => self.lock_table(&table, *mode)?,
                false => {
                    if *mode == Mode::ForUpdate && !keys.is_empty() {
                        self.lock_keys(&view)?;
                    }
                    self.lock_in(&view, Mode::RowShare, keys, *mode)?;
                }
            }
            return Ok(vec![true; keys.len()]);
        }
        keys.iter().try_for_each(|key| view.require(key))?;
        let Some(locker) = self.locker.as_ref().filter(|_| self.needs_locks(&table)) else {
            return Ok(vec![true; keys.len()]);
        };
        let take = |key: &Key| {
            let is_prepared = self.store.holds().lock().is_prepared_in(id, &KeyRange::point(key));
            !is_prepared && locker.try_lock(&Target::Row(id.0, key.clone()), *mode)
        };
        let refused = Error::Locked { table: table.name.clone() };
        let of_table = if is_of_table { *mode } else { Mode::RowShare };
        if !locker.try_lock(&Target::Table(id.0), of_table) {
            return Err(Error::TableLocked { table: table.name.clone() });
        }
        let removes = *mode == Mode::ForUpdate && is_referred_to(&self.catalog, id);
        if removes && !locker.try_lock(&Target::Keys(id.0), Mode::RowExclusive) {
            return match policy {
                LockPolicy::Refuse => Err(refused),
                LockPolicy::Wait | LockPolicy::Skip => Ok(vec![false; keys.len()]),
            };
        }
        let mut locked = Vec::with_capacity(keys.len());
        for key in keys {
            let is_locked = take(key);
            if !is_locked && *policy == LockPolicy::Refuse {
                return Err(refused);
            }
            locked.push(is_locked);
        }
        let taken = keys.iter().zip(&locked).filter(|(_, is_locked)| **is_locked);
        let machine = self.store.machine();
        refuse_newer(machine.head(), &self.snapshot, id, taken.map(|(key, _)| key))?;
        Ok(locked)
    }

    /// Returns the tables, as they were, whose definitions it changes.
    pub(crate) fn changed_tables(&self) -> Vec<Arc<Table>> {
        let changed = self.catalog_changes.iter().filter_map(CatalogChange::table);
        let mut tables: Vec<Arc<Table>> =
            changed.filter_map(|id| self.snapshot.catalog().table_by_id(id).cloned()).collect();
        tables.retain(|table| !catalog::is_temporary_schema(&table.schema));
        tables.sort_by_key(|table| table.id);
        tables.dedup_by_key(|table| table.id);
        tables
    }

    /// Returns the owner of its locks here; `None` if it does not lock.
    pub fn lock_owner(&self) -> Option<Owner> {
        self.locker.as_ref().map(Locker::owner)
    }

    /// Returns the party that it locks for; `None` if it does not lock.
    pub fn party(&self) -> Option<Party> {
        self.locker.as_ref().map(|locker| locker.owner().party)
    }

    fn acquire(
        &mut self,
        table: &Table,
        targets: impl IntoIterator<Item = Target>,
        mode: Mode,
    ) -> Result<(), Error> {
        let Some(locker) = &self.locker else { return Ok(()) };
        self.wait = locker.lock(targets, mode)?;
        match self.wait {
            Some(_) => Err(Error::Locked { table: table.name.clone() }),
            None => Ok(()),
        }
    }

    /// The error for a key that has a row. It is a conflict, which locks resolve, if another transaction
    /// has a lock on the row, because it may be deleting it.
    pub(super) fn duplicate(&self, view: &TableView, key: &Key) -> Error {
        let table = view.table();
        let target = Target::Row(table.id.0, key.clone());
        let is_free = || self.store.holds().lock().locks.is_free(None, &target, Mode::ForKeyShare);
        if self.is_locking() || is_free() {
            return view.duplicate(key);
        }
        Error::Conflict { table: table.name.clone(), key: bucket::key::describe(table, key) }
    }

    /// Waits for prepared transactions without locks: those of before a restart, and those that do not
    /// lock what they write.
    fn await_prepared(&mut self, table: &Table, keys: &[Key]) -> Result<(), Error> {
        let holds = self.store.holds();
        let held = holds.lock();
        if held.prepared.is_empty() {
            return Ok(());
        }
        let is_prepared = |key: &&Key| held.is_prepared_in(table.id, &KeyRange::point(key));
        let Some(key) = keys.iter().find(is_prepared) else { return Ok(()) };
        self.wait = Some(LockWait::decision(holds, table.id, KeyRange::point(key)));
        Err(Error::Locked { table: table.name.clone() })
    }

    /// Whether others could write to a table, and its keys stand for themselves.
    fn needs_locks(&self, table: &Table) -> bool {
        let index = self.catalog.index_by_id(table.id);
        let is_shared = self.snapshot.catalog().table_by_id(table.id).is_some();
        is_shared && index.is_none_or(|index| index.is_unique)
    }

    /// Reads a newer snapshot from now on. Returns whether it does: a transaction that has changed
    /// definitions other than by creating them, or has written to tables that others have changed,
    /// stays at its snapshot.
    ///
    /// # Errors
    /// [`Error::Conflict`] if a key of a bulk load has been written by another transaction.
    pub fn refresh(&mut self, snapshot: Snapshot) -> Result<bool, Error> {
        let creates = |change: &CatalogChange| matches!(change, CatalogChange::Create(_));
        if !self.catalog_changes.iter().all(creates) {
            return Ok(false);
        }
        let version = |catalog: &Catalog, id| catalog.table_by_id(id).map(|table| table.version);
        let is_same = |id: &TableId| {
            let file = |snapshot: &Snapshot| snapshot.file(*id).map(Arc::as_ptr);
            let (old, new) = (self.snapshot.catalog(), snapshot.catalog());
            file(&self.snapshot) == file(&snapshot) && version(old, *id) == version(new, *id)
        };
        if !self.writes.keys().all(is_same) {
            return Ok(false);
        }
        let loads = self.writes.iter().filter(|(_, writes)| !writes.runs.is_empty());
        for (id, writes) in loads {
            let machine = self.store.machine();
            refuse_newer_loads(machine.head(), &self.snapshot, *id, writes)?;
        }
        let is_known = Arc::ptr_eq(self.snapshot.catalog(), snapshot.catalog());
        let before = std::mem::replace(&mut self.snapshot, snapshot);
        if is_known {
            return Ok(true);
        }
        match self.rebased() {
            Ok(catalog) => self.catalog = catalog,
            Err(_) => {
                self.snapshot = before;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the catalog of the snapshot with its own changes.
    pub(super) fn rebased(&self) -> Result<Arc<Catalog>, Error> {
        let mut catalog = Arc::clone(self.snapshot.catalog());
        for change in &self.catalog_changes {
            catalog = Arc::new(catalog.apply(change)?);
        }
        Ok(catalog)
    }
}
