//! The store: one server's tables. Transactions begin here, are checked for conflicts, and become
//! log entries.

mod check;
mod cluster;
mod conflicts;
mod maintenance;
mod request;
mod sequences;
mod statistics;

pub(crate) use request::CommitRequest;

use crate::Error;
use crate::file::TableFile;
use crate::holds::Holds;
use crate::machine::{Entry, Machine};
use crate::memory::Memory;
use crate::peers::Peers;
use crate::queue::Queue;
use crate::snapshot::{Snapshot, Snapshots};
use bucket::{Layout, RowLayout, Run, TableWrites};
use catalog::{Catalog, RelationId, Table, TableId};
use conflicts::refuse_conflicts;
use parking_lot::{Mutex, MutexGuard};
use sdds::{Bound, GroupId, KeyRange, Timestamp};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Options for opening a store.
#[derive(Debug, Clone)]
pub struct Options {
    /// Limit for tables and queries together in bytes; `None` for no limit.
    pub memory_limit: Option<u64>,
    /// Whether a background thread compacts buckets. Tests that count bytes disable it.
    pub background: bool,
    /// The group that this server leads.
    pub group: GroupId,
    /// Whether other servers may own rows from the start, instead of from [`Store::join`] on.
    pub in_cluster: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { memory_limit: None, background: true, group: GroupId(0), in_cluster: false }
    }
}

/// The tables of one server.
#[derive(Debug)]
pub struct Store {
    machine: Mutex<Machine>,
    snapshots: Arc<Snapshots>,
    memory: Arc<Memory>,
    queue: Arc<Queue>,
    layouts: Mutex<BTreeMap<TableId, (u32, Arc<RowLayout>)>>,
    next_relation: AtomicU32,
    row_ids: AtomicI64,
    conflicts: AtomicU64,
    holds: Arc<Holds>,
    peers: OnceLock<Arc<dyn Peers>>,
}

impl Drop for Store {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl Store {
    /// Opens an empty store.
    pub fn open(options: Options) -> Arc<Self> {
        let queue = Arc::new(Queue::default());
        let snapshots = Snapshots::new(Arc::clone(&queue), options.group);
        let memory = Memory::new(options.memory_limit);
        let machine = Machine::new(Arc::clone(&snapshots), Arc::clone(&memory));
        let store = Arc::new(Self {
            machine: Mutex::new(machine),
            snapshots,
            memory,
            queue: Arc::clone(&queue),
            layouts: Mutex::default(),
            next_relation: AtomicU32::new(1),
            row_ids: AtomicI64::new(1),
            holds: Arc::default(),
            conflicts: AtomicU64::new(0),
            peers: OnceLock::new(),
        });
        if options.in_cluster {
            store.snapshots.enter_cluster();
        }
        if options.background {
            maintenance::start(&store, queue);
        }
        store
    }

    /// Takes a snapshot of the newest commit.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshots.take()
    }

    /// Joins a cluster: from now on, other servers may own rows. Only the first call has an effect.
    pub fn join(&self, peers: Arc<dyn Peers>) {
        let _ = self.peers.set(peers);
        self.snapshots.enter_cluster();
    }

    /// Whether other servers may own rows.
    pub(crate) fn is_in_cluster(&self) -> bool {
        self.snapshots.is_in_cluster()
    }

    /// Installs the catalog of the cluster that this server joins, as of a timestamp. Other servers
    /// own all rows. Temporary relations are left out. The store must not have relations.
    pub fn install(&self, catalog: &Catalog, timestamp: Timestamp) {
        let mut machine = self.machine();
        assert!(
            self.catalog().relations().next().is_none(),
            "a store that joins a cluster has no relations"
        );
        let catalog = Arc::new(catalog.shared());
        let first = relations_from(self.group());
        let own = catalog.relations().map(|relation| relation.id().0);
        let own = own.filter(|id| id >> RELATION_BITS == first >> RELATION_BITS);
        if let Some(last) = own.max() {
            self.next_relation.fetch_max(last - first + 1, Ordering::Relaxed);
        }
        machine.commit_entry(Entry::Install { timestamp, catalog });
    }

    /// Returns the group that this server leads.
    pub fn group(&self) -> GroupId {
        self.snapshots.group
    }

    /// Returns the other servers; `None` without a cluster.
    pub fn peers(&self) -> Option<&Arc<dyn Peers>> {
        self.peers.get()
    }

    /// Returns the newest catalog.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.snapshots.newest().catalog)
    }

    /// Returns the memory account of this server.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Allocates an id for a new relation.
    pub fn next_relation_id(&self) -> RelationId {
        let number = self.next_relation.fetch_add(1, Ordering::Relaxed);
        assert!(number < 1 << RELATION_BITS, "too many relations were created on this server");
        RelationId(relations_from(self.group()) + number)
    }

    /// Allocates `count` row ids for tables without a primary key, and returns the first.
    pub fn allocate_row_ids(&self, count: u64) -> i64 {
        let first = self.row_ids.fetch_add(count as i64, Ordering::Relaxed);
        ((self.group().0 as i64) << ROW_ID_BITS) + first
    }

    /// Compacts all buckets of all tables in the calling thread.
    pub fn compact_all(&self) {
        for (id, file) in &self.snapshots.newest().files {
            for (range, _) in file.directory().iter() {
                self.compact_bucket(*id, &range.low);
            }
        }
    }

    /// Returns the layout for new rows of a table. That of the committed definition is cached; an
    /// uncommitted definition is not, because another one may get the same version.
    pub(crate) fn row_layout(&self, table: &Table) -> Arc<RowLayout> {
        let newest = self.snapshots.newest();
        let committed = newest.catalog.table_by_id(table.id).map(Arc::as_ptr);
        if committed != Some(std::ptr::from_ref(table)) {
            return RowLayout::new(Layout::of(table));
        }
        let mut layouts = self.layouts.lock();
        match layouts.get(&table.id) {
            Some((version, layout)) if *version == table.version => Arc::clone(layout),
            _ => {
                let layout = RowLayout::new(Layout::of(table));
                layouts.insert(table.id, (table.version, Arc::clone(&layout)));
                layout
            }
        }
    }

    /// Locks the log and the state machine.
    pub(crate) fn machine(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock()
    }

    pub(crate) fn snapshots(&self) -> &Arc<Snapshots> {
        &self.snapshots
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    pub(crate) fn holds(&self) -> &Arc<Holds> {
        &self.holds
    }

    /// Counts an error if it is a conflict.
    pub(crate) fn count_conflict(&self, error: &Error) {
        self.conflicts.fetch_add(u64::from(error.is_retryable()), Ordering::Relaxed);
    }

    /// Checks a transaction for conflicts with commits since its snapshot, and commits it.
    pub(crate) fn commit(&self, request: CommitRequest) -> Result<Timestamp, Error> {
        let mut machine = self.machine();
        let published = self.snapshots.newest();
        let refused = refuse_conflicts(&published, &self.holds.lock(), &request);
        refused.inspect_err(|error| self.count_conflict(error))?;
        let timestamp = published.timestamp.next();
        self.apply(&mut machine, request, timestamp);
        Ok(timestamp)
    }

    /// Commits a transaction that has been checked for conflicts.
    pub(crate) fn apply(
        &self,
        machine: &mut Machine,
        request: CommitRequest,
        timestamp: Timestamp,
    ) {
        let published = self.snapshots.newest();
        let touched: Vec<(TableId, Vec<KeyRange>)> = request
            .writes
            .iter()
            .map(|(table, writes)| (*table, touched_ranges(published.files.get(table), writes)))
            .collect();
        let CommitRequest { snapshot, catalog_changes, writes, staging, _reservation } = request;
        machine.commit_entry(Entry::Commit { timestamp, catalog: catalog_changes, writes });
        drop((snapshot, staging));
        let catalog = Arc::clone(&self.snapshots.newest().catalog);
        for (table, ranges) in touched {
            if let Some(table) = catalog.table_by_id(table) {
                self.settle(machine, table, &ranges);
            }
        }
    }
}

/// Number of low bits of a relation id that number the relations of a group.
const RELATION_BITS: u32 = 20;
/// Upper bound for groups, so that the relation ids of groups differ.
const GROUPS_MAX: u64 = 1 << (u32::BITS - RELATION_BITS);
/// Number of low bits of a row id that number the rows of a group.
const ROW_ID_BITS: u32 = 40;

/// Returns the id before the first relation of a group.
fn relations_from(group: GroupId) -> u32 {
    assert!(group.0 < GROUPS_MAX, "group {group} is not below {GROUPS_MAX}");
    (group.0 as u32) << RELATION_BITS
}

/// Returns the ranges of a table that writes fall into, whose buckets may have to split.
fn touched_ranges(file: Option<&Arc<TableFile>>, writes: &TableWrites) -> Vec<KeyRange> {
    let Some(file) = file else { return vec![KeyRange::all()] };
    let directory = file.directory();
    let span = |run: &Arc<Run>| {
        KeyRange::new(Bound::At(run.first().clone()), Bound::At(run.last().successor()))
    };
    let mut ranges: Vec<KeyRange> = writes.runs.iter().filter_map(span).collect();
    let mut next = writes.changes.get_min().map(|(key, _)| key);
    while let Some(key) = next {
        let (range, _) = directory.locate(key);
        let rest = KeyRange { low: range.high.clone(), high: Bound::PosInf };
        next = match range.high {
            Bound::At(_) => writes.changes_in(&rest).next().map(|(key, _)| key),
            _ => None,
        };
        ranges.push(range);
    }
    ranges
}
