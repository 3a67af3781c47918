//! Holds: staged writes of running transactions, writes of prepared transactions, and keys being
//! moved.
//!
//! All are protected by one lock: while writes are staged, the keys stay owned, and while keys are
//! frozen, nobody has writes there. The lock is taken inside the log's lock, or alone.

use crate::write_set::WriteSet;
use catalog::{CatalogChange, TableId};
use locks::{LockTable, Mode, Owner, Party, Target, Ticket};
use parking_lot::{Mutex, MutexGuard};
use references::RequiredKeys;
use sdds::{KeyRange, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{Notify, oneshot};

/// Id of a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HoldId(u64);

/// The holds on a store.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    state: Mutex<Held>,
    decided: Notify,
    /// Notified when frozen keys have gone to another server, or are served again.
    unfrozen: Notify,
}

/// The holds at one point in time.
#[derive(Debug, Default)]
pub(crate) struct Held {
    next: u64,
    /// Writes of running transactions. Only in a cluster.
    staged: BTreeMap<HoldId, WriteSet>,
    pub(crate) prepared: BTreeMap<HoldId, PreparedWrites>,
    moving: BTreeMap<HoldId, (TableId, KeyRange)>,
    /// The greatest timestamp seen by any server, as far as known.
    observed: Timestamp,
    /// The keys that committed transactions have required.
    pub(crate) required: RequiredKeys,
    /// The locks of running transactions that lock what they write.
    pub(crate) locks: LockTable,
    /// Wake those who wait for a lock.
    pub(crate) wakers: BTreeMap<Ticket, oneshot::Sender<()>>,
    /// What is dropped when locks of an owner have ended: with the number of the lock that it belongs to, and the later ones.
    pub(crate) kept: BTreeMap<Owner, Vec<(usize, Kept)>>,
}

/// Something that exists until a lock ends. Dropping it must not wait.
pub type Kept = Box<dyn std::any::Any + Send>;

/// The hold of a prepared transaction.
#[derive(Debug)]
pub(crate) struct PreparedWrites {
    /// The transaction will commit after this timestamp.
    pub(crate) after: Timestamp,
    pub(crate) writes: WriteSet,
    pub(crate) changes: Vec<CatalogChange>,
    /// Whether some of the changes concern other sessions too.
    pub(crate) has_shared_changes: bool,
}

impl Holds {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Held> {
        self.state.lock()
    }

    /// Returns an owner of locks that is used once.
    pub(crate) fn owner(&self, party: Party) -> Owner {
        Owner { party, transaction: self.lock().id().0 }
    }

    /// Makes transactions that are prepared from now on commit after a timestamp.
    pub(crate) fn observe(&self, timestamp: Timestamp) {
        let mut held = self.lock();
        held.observed = held.observed.max(timestamp);
    }

    /// Notes the keys that a commit has required to have rows.
    pub(crate) fn note_required(&self, writes: &WriteSet, at: Timestamp) {
        for (table, writes) in writes.iter().filter(|(_, writes)| !writes.required.is_empty()) {
            self.lock().required.note(*table, writes, at);
        }
    }

    /// Waits until no prepared transaction can commit at or before a timestamp.
    pub(crate) async fn settled_up_to(&self, timestamp: Timestamp) {
        self.observe(timestamp);
        loop {
            let decided = self.decided.notified();
            if self.lock().prepared.values().all(|prepared| prepared.after >= timestamp) {
                return;
            }
            decided.await;
        }
    }

    /// Executes `work` once no prepared transaction writes to a range or changes its table, and
    /// while none can be prepared. `work` receives a timestamp; transactions that are prepared
    /// later commit after it.
    pub(crate) async fn unless_prepared<T>(
        &self,
        table: TableId,
        range: &KeyRange,
        work: impl FnOnce(Timestamp) -> T,
    ) -> T {
        loop {
            let decided = self.decided.notified();
            {
                let held = self.lock();
                if !held.is_prepared_in(table, range) {
                    return work(held.observed);
                }
            }
            decided.await;
        }
    }

    /// Waits until `is_free` holds, which is asked again whenever keys are not frozen any more.
    pub(crate) async fn unfrozen(&self, is_free: impl Fn() -> bool) {
        loop {
            let unfrozen = self.unfrozen.notified();
            if is_free() {
                return;
            }
            unfrozen.await;
        }
    }

    /// Wakes who waits for frozen keys.
    pub(crate) fn note_unfrozen(&self) {
        self.unfrozen.notify_waiters();
    }

    /// Releases a prepared transaction that has been committed or rolled back.
    pub(crate) fn release(&self, id: HoldId) {
        self.lock().prepared.remove(&id);
        self.decided.notify_waiters();
    }
}

impl Held {
    fn id(&mut self) -> HoldId {
        self.next += 1;
        HoldId(self.next)
    }

    /// Holds the writes of a transaction that is prepared when `newest` is the newest commit.
    pub(crate) fn prepare(&mut self, newest: Timestamp, mut writes: PreparedWrites) -> HoldId {
        writes.after = self.observed.max(newest);
        self.hold(writes)
    }

    /// Holds the writes of a prepared transaction.
    pub(crate) fn hold(&mut self, writes: PreparedWrites) -> HoldId {
        let id = self.id();
        self.prepared.insert(id, writes);
        id
    }

    /// Returns the timestamp after which the oldest prepared transaction commits.
    pub(crate) fn oldest_prepared(&self) -> Option<Timestamp> {
        self.prepared.values().map(|prepared| prepared.after).min()
    }

    /// Returns the greatest timestamp that is known.
    pub(crate) fn observed(&self) -> Timestamp {
        self.observed
    }

    /// Protects a range from splits, merges and compaction; returns `None` if part of it is being
    /// moved.
    pub(crate) fn begin_move(&mut self, table: TableId, range: &KeyRange) -> Option<HoldId> {
        if self.is_moving(table, range) {
            return None;
        }
        let id = self.id();
        self.moving.insert(id, (table, range.clone()));
        Some(id)
    }

    /// Ends the protection of a range.
    pub(crate) fn end_move(&mut self, id: HoldId) {
        self.moving.remove(&id);
    }

    /// Whether part of a range is being moved.
    pub(crate) fn is_moving(&self, table: TableId, range: &KeyRange) -> bool {
        self.moving.values().any(|(of, moving)| *of == table && moving.overlaps(range))
    }

    /// Whether an uncommitted transaction writes to a range or changes the whole table.
    pub(crate) fn has_writes_in(&self, table: TableId, range: &KeyRange) -> bool {
        self.staged.values().any(|writes| writes_in(writes, table, range))
            || self.is_prepared_in(table, range)
            || self.locks.rows_taken(None, table.0, Mode::ForUpdate).any(|key| range.contains(key))
            || !self.locks.is_free(None, &Target::Table(table.0), Mode::RowExclusive)
    }

    /// Whether a prepared transaction writes to a range or changes the whole table.
    pub(crate) fn is_prepared_in(&self, table: TableId, range: &KeyRange) -> bool {
        self.prepared.values().any(|prepared| writes_in(&prepared.writes, table, range))
            || self.has_changes_of(table)
    }

    /// Whether a prepared transaction changes a whole table.
    pub(crate) fn has_changes_of(&self, table: TableId) -> bool {
        let changes = self.prepared.values().flat_map(|prepared| &prepared.changes);
        changes.into_iter().any(|change| change.table() == Some(table))
    }
}

/// Registration of the staged writes of a running transaction. Dropping it removes them.
#[derive(Debug)]
pub(crate) struct Staging {
    holds: Arc<Holds>,
    id: HoldId,
}

impl Staging {
    pub(crate) fn new(holds: &Arc<Holds>) -> Self {
        let id = holds.lock().id();
        Self { holds: Arc::clone(holds), id }
    }

    /// Registers the writes of a transaction if `check` succeeds under the lock.
    pub(crate) fn stage<E>(
        &self,
        writes: &WriteSet,
        check: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut held = self.holds.lock();
        check()?;
        held.staged.insert(self.id, writes.clone());
        Ok(())
    }

    /// Registers fewer writes than before.
    pub(crate) fn restage(&self, writes: &WriteSet) {
        self.holds.lock().staged.insert(self.id, writes.clone());
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.holds.lock().staged.remove(&self.id);
    }
}

fn writes_in(writes: &WriteSet, table: TableId, range: &KeyRange) -> bool {
    writes.get(&table).is_some_and(|writes| writes.has_writes_in(range))
}
