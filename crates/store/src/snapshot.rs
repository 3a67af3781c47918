//! Snapshots: the committed state at a timestamp, and which snapshots are in use.
//!
//! A commit publishes all of its changes by replacing one pointer, so that a snapshot sees all of
//! them or none. Taking a snapshot registers its timestamp. Compaction keeps every version that a
//! registered snapshot can see ([`Snapshots::horizon`]).

use crate::Error;
use crate::file::TableFile;
use crate::queue::Queue;
use arc_swap::ArcSwap;
use catalog::{Catalog, TableId};
use imbl::OrdMap;
use parking_lot::Mutex;
use sdds::{GroupId, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The state after the newest commit.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    pub(crate) timestamp: Timestamp,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) files: OrdMap<TableId, Arc<TableFile>>,
}

/// The newest state, and the snapshots in use.
#[derive(Debug)]
pub(crate) struct Snapshots {
    published: ArcSwap<Published>,
    in_use: Mutex<BTreeMap<Timestamp, usize>>,
    queue: Arc<Queue>,
    /// Other servers do not request snapshots before this timestamp. `u64::MAX` without a cluster.
    asked_from: AtomicU64,
    /// Rows that moved here lack versions that only snapshots before this timestamp need.
    moved_from: AtomicU64,
    /// The group whose state they are.
    pub(crate) group: GroupId,
}

impl Snapshots {
    pub(crate) fn new(queue: Arc<Queue>, group: GroupId) -> Arc<Self> {
        let catalog = Arc::new(Catalog::new());
        let first = Published { timestamp: Timestamp::ZERO, catalog, files: OrdMap::new() };
        let in_use = Mutex::new(BTreeMap::new());
        let published = ArcSwap::from_pointee(first);
        let asked_from = AtomicU64::new(u64::MAX);
        let moved_from = AtomicU64::new(0);
        Arc::new(Self { published, in_use, queue, asked_from, moved_from, group })
    }

    /// Returns the newest state that is published.
    pub(crate) fn newest(&self) -> Arc<Published> {
        self.published.load_full()
    }

    /// Publishes a commit. Called only by the state machine and [`crate::publishing`].
    pub(crate) fn publish(&self, next: Arc<Published>) {
        debug_assert!(next.timestamp >= self.published.load().timestamp);
        self.published.store(next);
    }

    /// Takes a snapshot of the newest commit.
    pub(crate) fn take(self: &Arc<Self>) -> Snapshot {
        self.take_from(Timestamp::ZERO)
    }

    /// Takes a snapshot of the newest commit, with a timestamp not before `timestamp`.
    pub(crate) fn take_from(self: &Arc<Self>, timestamp: Timestamp) -> Snapshot {
        // Registered under the lock, so that no later horizon is computed before.
        let mut in_use = self.in_use.lock();
        let published = self.newest();
        let timestamp = published.timestamp.max(timestamp);
        *in_use.entry(timestamp).or_default() += 1;
        drop(in_use);
        Snapshot(Arc::new(Registered { published, timestamp, snapshots: Arc::clone(self) }))
    }

    /// Takes a snapshot at a timestamp, with the newest catalog and files.
    pub(crate) fn take_at(self: &Arc<Self>, timestamp: Timestamp) -> Snapshot {
        let mut in_use = self.in_use.lock();
        *in_use.entry(timestamp).or_default() += 1;
        let published = self.newest();
        drop(in_use);
        Snapshot(Arc::new(Registered { published, timestamp, snapshots: Arc::clone(self) }))
    }

    /// Returns the timestamp of the oldest snapshot in use.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        self.in_use.lock().first_key_value().map(|(oldest, _)| *oldest)
    }

    /// Enters a cluster: other servers may request any snapshot until [`Self::set_horizon`] is
    /// called.
    pub(crate) fn enter_cluster(&self) {
        let (alone, any) = (u64::MAX, Timestamp::ZERO.0);
        let _ = self.asked_from.compare_exchange(alone, any, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Whether other servers may request snapshots.
    pub(crate) fn is_in_cluster(&self) -> bool {
        self.asked_from.load(Ordering::Acquire) != u64::MAX
    }

    /// Declares that other servers do not request snapshots before a timestamp.
    pub(crate) fn set_horizon(&self, timestamp: Timestamp) {
        if self.is_in_cluster() {
            self.asked_from.fetch_max(timestamp.0.min(u64::MAX - 1), Ordering::AcqRel);
            self.queue.horizon_moved();
        }
    }

    /// Notes, before rows move here, that they lack versions that only snapshots before a timestamp need.
    pub(crate) fn set_moved_from(&self, timestamp: Timestamp) {
        self.moved_from.fetch_max(timestamp.0, Ordering::AcqRel);
    }

    /// Returns the timestamp from which on snapshots find all that they need in rows that have moved here.
    pub(crate) fn moved_from(&self) -> Timestamp {
        Timestamp(self.moved_from.load(Ordering::Acquire))
    }

    /// Returns the timestamp before which other servers request no snapshots.
    pub(crate) fn asked_from(&self) -> Timestamp {
        Timestamp(self.asked_from.load(Ordering::Acquire))
    }

    /// Returns the horizon: no snapshot is, or will be, before this timestamp.
    pub(crate) fn horizon(&self) -> Timestamp {
        let in_use = self.in_use.lock();
        let newest = self.published.load().timestamp;
        let asked_from = Timestamp(self.asked_from.load(Ordering::Acquire));
        in_use.first_key_value().map_or(newest, |(oldest, _)| *oldest).min(asked_from)
    }
}

/// The committed state at a timestamp. A clone is the same snapshot.
#[derive(Debug, Clone)]
pub struct Snapshot(Arc<Registered>);

#[derive(Debug)]
struct Registered {
    published: Arc<Published>,
    timestamp: Timestamp,
    snapshots: Arc<Snapshots>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut in_use = self.snapshots.in_use.lock();
        let Some(mut oldest) = in_use.first_entry() else { return };
        if *oldest.key() == self.timestamp {
            *oldest.get_mut() -= 1;
            if *oldest.get() == 0 {
                oldest.remove();
                drop(in_use);
                self.snapshots.queue.horizon_moved();
            }
        } else if let Some(count) = in_use.get_mut(&self.timestamp) {
            *count -= 1;
            if *count == 0 {
                in_use.remove(&self.timestamp);
            }
        }
    }
}

impl Snapshot {
    /// Returns the timestamp: commits up to it are visible.
    pub fn timestamp(&self) -> Timestamp {
        self.0.timestamp
    }

    /// Returns the group of whose state it was taken.
    pub(crate) fn group(&self) -> GroupId {
        self.0.snapshots.group
    }

    /// Checks that it finds all that it needs in rows that have moved here, as far as they have been seen. The snapshots of
    /// a server of which the root has heard nothing for a while are not waited for.
    ///
    /// # Errors
    /// 72000.
    pub(crate) fn require_moved(&self) -> Result<(), Error> {
        match self.0.timestamp >= self.0.snapshots.moved_from() {
            true => Ok(()),
            false => Err(Error::snapshot_too_old()),
        }
    }

    /// Returns the catalog.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.0.published.catalog
    }

    /// Returns the file of a table; `None` if the table does not exist.
    pub(crate) fn file(&self, id: TableId) -> Option<&Arc<TableFile>> {
        self.0.published.files.get(&id)
    }
}
