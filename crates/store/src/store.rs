//! The store: where transactions begin, are checked, become entries of the log, and become visible.

use crate::catalog::{Catalog, RelationId, Table, TableId};
use crate::conflicts::refuse_conflicts;
use crate::file::TableFile;
use crate::holds::Holds;
use crate::info::{BucketInfo, Counters, Holdings, SplitInfo};
use crate::layout::Layout;
use crate::log::Entry;
use crate::machine::Machine;
use crate::maintenance::{self, Queue};
use crate::memory::Memory;
use crate::peers::Peers;
use crate::row::RowLayout;
use crate::snapshot::{Snapshot, Snapshots};
use crate::transaction::{Parts, Transaction};
use crate::write_set::TableWrites;
use crate::{Error, check};
use parking_lot::{Mutex, MutexGuard};
use sdds::{Bound, GroupId, KeyRange, Timestamp};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes that tables and queries may hold together; `None` for no limit.
    pub memory_limit: Option<u64>,
    /// Whether a thread compacts in the background. Tests that count bytes switch it off.
    pub background: bool,
    /// The group that this server leads.
    pub group: GroupId,
    /// Whether rows may be on other servers from the start; else from [`Store::join`] on.
    pub in_cluster: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { memory_limit: None, background: true, group: GroupId(0), in_cluster: false }
    }
}

/// One server's tables.
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
    /// An empty store.
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

    /// What is committed now.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshots.take()
    }

    /// Begins a transaction on what is committed now.
    pub fn begin(self: &Arc<Self>) -> Transaction {
        Transaction::new(Arc::clone(self), self.snapshot())
    }

    /// Becomes part of a cluster: from now on rows may be on other servers. Only the first call counts.
    pub fn join(&self, peers: Arc<dyn Peers>) {
        let _ = self.peers.set(peers);
        self.snapshots.enter_cluster();
    }

    /// Whether rows may be on other servers.
    pub(crate) fn is_in_cluster(&self) -> bool {
        self.snapshots.is_in_cluster()
    }

    /// Takes over the catalog of a cluster that this server joins, as of a timestamp; other servers have all rows. What
    /// is one session's there is left out. The store must not have any relations.
    pub fn install(&self, catalog: &Catalog, timestamp: Timestamp) {
        let mut machine = self.machine();
        assert!(self.catalog().relations().next().is_none(), "a server joins without tables");
        let catalog = Arc::new(catalog.shared());
        let first = relations_from(self.group());
        let own = catalog.relations().map(|relation| relation.id().0);
        let own = own.filter(|id| id >> RELATION_BITS == first >> RELATION_BITS);
        if let Some(last) = own.max() {
            self.next_relation.fetch_max(last - first + 1, Ordering::Relaxed);
        }
        machine.commit_entry(Entry::Install { timestamp, catalog });
    }

    /// The group that this server leads.
    pub fn group(&self) -> GroupId {
        self.snapshots.group
    }

    /// The other servers, in a cluster.
    pub fn peers(&self) -> Option<&Arc<dyn Peers>> {
        self.peers.get()
    }

    /// The catalog as committed now.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.snapshots.newest().catalog)
    }

    /// The memory that everything here is accounted in.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// An id for a relation that is about to be created.
    pub fn next_relation_id(&self) -> RelationId {
        let number = self.next_relation.fetch_add(1, Ordering::Relaxed);
        assert!(number < 1 << RELATION_BITS, "a server makes fewer relations than that");
        RelationId(relations_from(self.group()) + number)
    }

    /// Takes so many row ids for tables without a key of their own; the first comes back.
    pub fn allocate_row_ids(&self, count: u64) -> i64 {
        let first = self.row_ids.fetch_add(count as i64, Ordering::Relaxed);
        ((self.group().0 as i64) << ROW_ID_BITS) + first
    }

    /// The buckets of a table that are here now, in key order.
    pub fn bucket_infos(&self, table: TableId) -> Vec<BucketInfo> {
        match self.snapshots.newest().files.get(&table) {
            Some(file) => file.directory().iter().filter_map(|(_, t)| BucketInfo::of(t)).collect(),
            None => Vec::new(),
        }
    }

    /// What is owned here of a table, at no cost that grows with it.
    pub fn holdings(&self, table: TableId) -> Holdings {
        let newest = self.snapshots.newest();
        newest.files.get(&table).map_or_else(Holdings::default, |file| file.holdings())
    }

    /// How often what is owned here of a table is accessed a second, when accesses were averaged last.
    pub fn accesses(&self, table: TableId) -> u64 {
        self.snapshots.newest().files.get(&table).map_or(0, |file| file.accesses())
    }

    /// Averages how often buckets are accessed. To be called from time to time, by one at a time, with the time since it was
    /// called last.
    pub fn average_accesses(&self, elapsed: Duration) {
        self.snapshots.newest().files.values().for_each(|file| file.average_accesses(elapsed));
    }

    /// The last splits of buckets, the newest last.
    pub fn splits(&self) -> Vec<SplitInfo> {
        self.machine().splits.iter().cloned().collect()
    }

    /// The stretches of a table's keys that are owned here, in key order; those about to leave included.
    pub fn owned(&self, table: TableId) -> Vec<KeyRange> {
        self.snapshots.newest().files.get(&table).map_or_else(Vec::new, |file| file.owned())
    }

    /// What has happened so far.
    pub fn counters(&self) -> Counters {
        let machine = self.machine();
        let counts = machine.counts;
        Counters {
            commits: counts.commits,
            splits: counts.splits,
            merges: counts.merges,
            compactions: counts.compactions,
            conflicts: self.conflicts.load(Ordering::Relaxed),
            log_position: machine.log.position(),
        }
    }

    /// The last splits and merges, a line each.
    pub fn log_tail(&self) -> Vec<String> {
        self.machine().log.tail()
    }

    /// Compacts every bucket of every table, in the caller's thread.
    pub fn compact_all(&self) {
        for (id, file) in &self.snapshots.newest().files {
            for (range, _) in file.directory().iter() {
                self.compact_bucket(*id, &range.low);
            }
        }
    }

    /// Checks every invariant, at the cost of reading everything.
    ///
    /// # Errors
    /// Says what is wrong. The byte count is compared only where no transaction is running.
    pub fn check(&self) -> Result<(), String> {
        let machine = self.machine();
        let published = self.snapshots.newest();
        let result = check::check(&published, Some(self.memory.table_bytes()));
        drop(machine);
        result
    }

    /// The layout in which rows of a table are written. The one of the committed definition is made once; a
    /// definition that may still be rolled back shares its version with the one that comes instead.
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

    pub(crate) fn count_conflict(&self, error: &Error) {
        self.conflicts.fetch_add(u64::from(error.is_retryable()), Ordering::Relaxed);
    }

    /// Checks a transaction against what was committed since its snapshot, and commits it.
    pub(crate) fn commit(&self, transaction: Parts) -> Result<Timestamp, Error> {
        let mut machine = self.machine();
        let published = self.snapshots.newest();
        let refused = refuse_conflicts(&published, &self.holds.lock(), &transaction);
        refused.inspect_err(|error| self.count_conflict(error))?;
        let timestamp = published.timestamp.next();
        self.apply(&mut machine, transaction, timestamp);
        Ok(timestamp)
    }

    /// Commits a transaction that was checked.
    pub(crate) fn apply(&self, machine: &mut Machine, transaction: Parts, timestamp: Timestamp) {
        let published = self.snapshots.newest();
        let touched: Vec<(TableId, Vec<KeyRange>)> = transaction
            .writes
            .iter()
            .map(|(table, writes)| (*table, touched_ranges(published.files.get(table), writes)))
            .collect();
        let Parts { snapshot, catalog_changes, writes, staging, _reservation } = transaction;
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

/// Bits of a relation's id that count those of one group.
const RELATION_BITS: u32 = 20;
/// Groups are fewer than this, so that ids of relations tell them apart.
const GROUPS_MAX: u64 = 1 << (u32::BITS - RELATION_BITS);
/// Bits of a row id that count those of one group.
const ROW_ID_BITS: u32 = 40;

/// The id before the first relation of a group.
fn relations_from(group: GroupId) -> u32 {
    assert!(group.0 < GROUPS_MAX, "group {group} is beyond {GROUPS_MAX}");
    (group.0 as u32) << RELATION_BITS
}

/// The stretches of a table that writes fall into, in which buckets may now be full.
fn touched_ranges(file: Option<&Arc<TableFile>>, writes: &TableWrites) -> Vec<KeyRange> {
    let Some(file) = file else { return vec![KeyRange::all()] };
    let directory = file.directory();
    let span = |run: &Arc<crate::chunk::Run>| {
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
