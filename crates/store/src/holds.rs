//! What running transactions and moves hold: staged writes, prepared transactions, keys on the move.
//!
//! One lock makes all of it exclude each other: who stages writes sees that the keys are owned, and who
//! freezes keys sees that nobody has writes there, at one moment. It is taken inside the log's lock, or alone.

use crate::catalog::{CatalogChange, TableId};
use crate::write_set::{TableWrites, WriteSet};
use parking_lot::{Mutex, MutexGuard};
use sdds::{KeyRange, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Notify;

/// Names what is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HoldId(u64);

/// Everything that is held on a store.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    state: Mutex<Held>,
    decided: Notify,
}

/// What is held at one moment.
#[derive(Debug, Default)]
pub(crate) struct Held {
    next: u64,
    /// Writes of transactions that run. Only in a cluster.
    staged: BTreeMap<HoldId, WriteSet>,
    pub(crate) prepared: BTreeMap<HoldId, PreparedWrites>,
    moving: BTreeMap<HoldId, (TableId, KeyRange)>,
    /// The greatest timestamp that anybody has shown.
    observed: Timestamp,
}

/// What a prepared transaction holds.
#[derive(Debug)]
pub(crate) struct PreparedWrites {
    /// Its commit will be after this.
    pub(crate) after: Timestamp,
    pub(crate) writes: WriteSet,
    pub(crate) changes: Vec<CatalogChange>,
    /// Whether some of the changes are other sessions' business, too.
    pub(crate) has_shared_changes: bool,
}

impl Holds {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Held> {
        self.state.lock()
    }

    /// Whoever prepares from now on commits after this timestamp.
    pub(crate) fn observe(&self, timestamp: Timestamp) {
        let mut held = self.lock();
        held.observed = held.observed.max(timestamp);
    }

    /// Waits until no prepared transaction is undecided that may commit at or before a timestamp.
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

    /// Does something as soon as no prepared transaction is undecided that writes to a range or changes its table, and while
    /// none can become so. Whoever prepares later commits after the timestamp that is handed on.
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

    /// A prepared transaction is committed and visible, or undone.
    pub(crate) fn decide(&self, id: HoldId) {
        self.lock().prepared.remove(&id);
        self.decided.notify_waiters();
    }
}

impl Held {
    fn id(&mut self) -> HoldId {
        self.next += 1;
        HoldId(self.next)
    }

    pub(crate) fn prepare(&mut self, newest: Timestamp, mut writes: PreparedWrites) -> HoldId {
        writes.after = self.observed.max(newest);
        let id = self.id();
        self.prepared.insert(id, writes);
        id
    }

    /// Keeps splits, merges and compaction away from a range; `None` where another move has part of it.
    pub(crate) fn begin_move(&mut self, table: TableId, range: &KeyRange) -> Option<HoldId> {
        if self.is_moving(table, range) {
            return None;
        }
        let id = self.id();
        self.moving.insert(id, (table, range.clone()));
        Some(id)
    }

    pub(crate) fn end_move(&mut self, id: HoldId) {
        self.moving.remove(&id);
    }

    /// Whether part of a range is on the move.
    pub(crate) fn is_moving(&self, table: TableId, range: &KeyRange) -> bool {
        self.moving.values().any(|(of, moving)| *of == table && moving.overlaps(range))
    }

    /// Whether a transaction that is not committed yet writes to a range, or changes what all of the table is.
    pub(crate) fn has_writes_in(&self, table: TableId, range: &KeyRange) -> bool {
        self.staged.values().any(|writes| writes_in(writes, table, range))
            || self.is_prepared_in(table, range)
    }

    /// Whether a transaction that is prepared writes to a range, or changes what all of the table is.
    fn is_prepared_in(&self, table: TableId, range: &KeyRange) -> bool {
        self.prepared.values().any(|prepared| writes_in(&prepared.writes, table, range))
            || self.has_changes_of(table)
    }

    /// Whether a transaction that is prepared changes what all of a table is.
    pub(crate) fn has_changes_of(&self, table: TableId) -> bool {
        let changes = self.prepared.values().flat_map(|prepared| &prepared.changes);
        changes.into_iter().any(|change| change.table() == Some(table))
    }
}

/// A running transaction's staged writes, as freezing sees them; gone when this value goes.
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

    /// Registers a transaction's writes if the ones to a table may be.
    pub(crate) fn stage<E>(
        &self,
        writes: &WriteSet,
        may: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut held = self.holds.lock();
        may()?;
        held.staged.insert(self.id, writes.clone());
        Ok(())
    }

    /// Registers fewer writes.
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

impl TableWrites {
    pub(crate) fn has_writes_in(&self, range: &KeyRange) -> bool {
        self.changes_in(range).next().is_some()
            || self
                .runs
                .iter()
                .any(|run| run.chunks_in(range).any(|c| !c.rows_in(range).is_empty()))
    }
}
