//! Snapshots: what was committed at one moment, and who still looks at which.
//!
//! Everything that a commit changes is published in one pointer, so that a snapshot sees all of it or
//! nothing. Taking one registers its timestamp; compaction keeps every version that a registered
//! snapshot can see ([`Snapshots::horizon`]).

use crate::catalog::{Catalog, TableId};
use crate::file::TableFile;
use crate::maintenance::Queue;
use crate::peers::{Peers, Reader, Reading};
use crate::view::TableView;
use crate::write_set::WriteSet;
use arc_swap::ArcSwap;
use imbl::OrdMap;
use parking_lot::Mutex;
use sdds::{GroupId, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the newest commit left.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    pub(crate) timestamp: Timestamp,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) files: OrdMap<TableId, Arc<TableFile>>,
}

/// The newest commit, and the snapshots in use.
#[derive(Debug)]
pub(crate) struct Snapshots {
    published: ArcSwap<Published>,
    in_use: Mutex<BTreeMap<Timestamp, usize>>,
    queue: Arc<Queue>,
    /// No other server asks for a snapshot before this; without other servers, the end of time.
    asked_from: AtomicU64,
    /// The group that this server leads.
    pub(crate) group: GroupId,
}

impl Snapshots {
    pub(crate) fn new(queue: Arc<Queue>, group: GroupId) -> Arc<Self> {
        let catalog = Arc::new(Catalog::new());
        let first = Published { timestamp: Timestamp::ZERO, catalog, files: OrdMap::new() };
        let in_use = Mutex::new(BTreeMap::new());
        let published = ArcSwap::from_pointee(first);
        let asked_from = AtomicU64::new(u64::MAX);
        Arc::new(Self { published, in_use, queue, asked_from, group })
    }

    /// What the newest commit left.
    pub(crate) fn newest(&self) -> Arc<Published> {
        self.published.load_full()
    }

    /// Makes a commit visible. Only for the one who applies the log.
    pub(crate) fn publish(&self, next: Published) {
        debug_assert!(next.timestamp >= self.published.load().timestamp);
        self.published.store(Arc::new(next));
    }

    /// A snapshot of the newest commit. Registered before anybody can compute a later horizon.
    pub(crate) fn take(self: &Arc<Self>) -> Snapshot {
        self.take_from(Timestamp::ZERO)
    }

    /// The same, at this timestamp or a later one.
    pub(crate) fn take_from(self: &Arc<Self>, timestamp: Timestamp) -> Snapshot {
        let mut in_use = self.in_use.lock();
        let published = self.newest();
        let timestamp = published.timestamp.max(timestamp);
        *in_use.entry(timestamp).or_default() += 1;
        drop(in_use);
        Snapshot(Arc::new(Registered { published, timestamp, snapshots: Arc::clone(self) }))
    }

    /// A snapshot at a timestamp, on the newest catalog and files.
    pub(crate) fn take_at(self: &Arc<Self>, timestamp: Timestamp) -> Snapshot {
        let mut in_use = self.in_use.lock();
        *in_use.entry(timestamp).or_default() += 1;
        let published = self.newest();
        drop(in_use);
        Snapshot(Arc::new(Registered { published, timestamp, snapshots: Arc::clone(self) }))
    }

    /// The oldest snapshot in use.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        self.in_use.lock().first_key_value().map(|(oldest, _)| *oldest)
    }

    /// From now on other servers may ask for any snapshot, until they say which ones they do not.
    pub(crate) fn enter_cluster(&self) {
        let (alone, any) = (u64::MAX, Timestamp::ZERO.0);
        let _ = self.asked_from.compare_exchange(alone, any, Ordering::AcqRel, Ordering::Acquire);
    }

    pub(crate) fn is_in_cluster(&self) -> bool {
        self.asked_from.load(Ordering::Acquire) != u64::MAX
    }

    pub(crate) fn set_horizon(&self, timestamp: Timestamp) {
        if self.is_in_cluster() {
            self.asked_from.fetch_max(timestamp.0.min(u64::MAX - 1), Ordering::AcqRel);
            self.queue.horizon_moved();
        }
    }

    /// No snapshot, now or later, is before this timestamp.
    pub(crate) fn horizon(&self) -> Timestamp {
        let in_use = self.in_use.lock();
        let newest = self.published.load().timestamp;
        let asked_from = Timestamp(self.asked_from.load(Ordering::Acquire));
        in_use.first_key_value().map_or(newest, |(oldest, _)| *oldest).min(asked_from)
    }
}

/// What was committed at one moment. A clone is the same snapshot.
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
    /// What was committed at or before this is what it sees.
    pub fn timestamp(&self) -> Timestamp {
        self.0.timestamp
    }

    /// The group whose server it was taken on.
    pub(crate) fn group(&self) -> GroupId {
        self.0.snapshots.group
    }

    /// The catalog then.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.0.published.catalog
    }

    /// A table then.
    pub fn table(&self, id: TableId) -> Option<TableView> {
        let table = self.catalog().table_by_id(id)?;
        Some(TableView::new(Arc::clone(table), self.file(id).cloned(), self.clone(), None, None))
    }

    /// The same with other servers' rows.
    pub fn reading(&self, peers: Option<(Arc<dyn Peers>, Reader)>) -> Reading {
        let catalog = Arc::clone(self.catalog());
        Reading { catalog, snapshot: self.clone(), writes: WriteSet::new(), peers }
    }

    pub(crate) fn file(&self, id: TableId) -> Option<&Arc<TableFile>> {
        self.0.published.files.get(&id)
    }
}
