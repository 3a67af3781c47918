//! The store's part of a commit on several servers: prepare, then commit at a timestamp that the root gives.
//!
//! ```text
//! running -- prepare --> prepared -- commit(timestamp) --> committed
//!                            +------ drop ---------------> undone
//! ```
//!
//! While it is prepared nothing of it is visible, and nobody else commits to its rows. A reader at a timestamp
//! that it may still get waits ([`Store::snapshot_at`]).

use crate::conflicts::refuse_conflicts;
use crate::holds::{HoldId, PreparedWrites};
use crate::store::Store;
use crate::transaction::{Parts, Transaction};
use crate::write_set::bytes;
use crate::{Error, Snapshot};
use sdds::Timestamp;
use std::sync::Arc;

/// A transaction that nothing can refuse any more: its conflicts are checked, and its rows are held against others
/// until it is committed, or dropped and so undone.
#[derive(Debug)]
pub struct Prepared {
    store: Arc<Store>,
    hold: HoldId,
    parts: Option<Parts>,
}

impl Transaction {
    /// Checks it against what was committed since its snapshot and what others hold prepared; `None` where it has
    /// written nothing.
    ///
    /// # Errors
    /// [`Error::Conflict`] and [`Error::SchemaConflict`] where somebody else was first.
    pub fn prepare(self) -> Result<Option<Prepared>, Error> {
        let store = Arc::clone(self.store());
        let Some(parts) = self.into_parts()? else { return Ok(None) };
        let hold = store.prepare(&parts)?;
        let mut parts = parts;
        parts.staging = None;
        Ok(Some(Prepared { store, hold, parts: Some(parts) }))
    }
}

impl Prepared {
    /// Bytes of its writes.
    pub fn bytes(&self) -> u64 {
        self.parts.as_ref().map_or(0, |parts| bytes(&parts.writes))
    }

    /// Makes the writes visible at a timestamp: one that is greater than every timestamp that this store had seen when
    /// it was prepared, and that no other commit has. Commits may come in any order.
    pub fn commit(mut self, timestamp: Timestamp) {
        if let Some(parts) = self.parts.take() {
            self.store.observe(timestamp);
            self.store.apply(&mut self.store.machine(), parts, timestamp);
        }
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.store.holds().decide(self.hold);
    }
}

impl Store {
    fn prepare(&self, parts: &Parts) -> Result<HoldId, Error> {
        let machine = self.machine();
        let published = machine.snapshots.newest();
        let mut held = self.holds().lock();
        let refused = refuse_conflicts(&published, &held, parts);
        refused.inspect_err(|error| self.count_conflict(error))?;
        let writes = PreparedWrites {
            after: Timestamp::ZERO,
            writes: parts.writes.clone(),
            changes: parts.catalog_changes.clone(),
            has_shared_changes: parts.catalog_changes.iter().any(|c| parts.is_shared(c)),
        };
        Ok(held.prepare(published.timestamp, writes))
    }

    /// A snapshot at a timestamp that the root has given. Waits for prepared transactions that may still commit at or
    /// before it. Rows are those of the timestamp; the catalog, and which tables have been emptied, are the newest here.
    pub async fn snapshot_at(&self, timestamp: Timestamp) -> Snapshot {
        self.holds().settled_up_to(timestamp).await;
        self.snapshots().take_at(timestamp)
    }

    /// Begins a transaction on a snapshot of this store.
    pub fn begin_at(self: &Arc<Self>, snapshot: Snapshot) -> Transaction {
        Transaction::new(Arc::clone(self), snapshot)
    }

    /// Somebody has seen this timestamp: whoever prepares from now on commits after it.
    pub fn observe(&self, timestamp: Timestamp) {
        self.holds().observe(timestamp);
    }

    /// The oldest snapshot in use on this server.
    pub fn oldest_snapshot(&self) -> Option<Timestamp> {
        self.snapshots().oldest()
    }

    /// Other servers ask for no snapshot before this timestamp any more: what only those would see is folded away. Counts
    /// only in a cluster, where nothing is folded before the first call.
    pub fn set_horizon(&self, timestamp: Timestamp) {
        self.snapshots().set_horizon(timestamp);
    }
}
