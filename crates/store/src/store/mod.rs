//! The store: one server's tables. Transactions begin here, are checked for conflicts, and become
//! commands.

mod check;
mod cluster;
mod committing;
mod conflicts;
mod indexed;
mod locking;
mod maintenance;
mod opening;
mod proposing;
mod replay;
mod request;
mod sequences;
mod statistics;

pub(crate) use committing::Touched;
pub(crate) use conflicts::{
    is_deleted, is_referred_to, refuse_missing, refuse_newer, refuse_newer_loads, refuse_required,
};
pub use indexed::IndexExpressions;
pub use opening::{CHECKPOINT_BYTES, Data, Progress, Recovery, RecoveryStage, server_of};
pub(crate) use proposing::Ready;
pub(crate) use request::CommitRequest;

use crate::Error;
use crate::holds::Holds;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::peers::{Acknowledgement, Peers};
use crate::queue::Queue;
use crate::snapshot::{Snapshot, Snapshots};
use bucket::{Layout, RowLayout};
use catalog::{Catalog, RelationId, Table, TableId, ids};
use durable::{Command, Durable, KeptCheckpoint};
use journal::Journal;
use parking_lot::{Mutex, MutexGuard};
use sdds::{GroupId, ServerId, Timestamp};
use sequences::Handed;
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
    /// The server that it is on. It is a replica of the group that the server has founded.
    pub server: ServerId,
    /// Whether other servers may own rows from the start, instead of from [`Store::join`] on.
    pub in_cluster: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { memory_limit: None, background: true, server: ServerId(0), in_cluster: false }
    }
}

/// The tables of one server.
#[derive(Debug)]
pub struct Store {
    server: ServerId,
    machine: Mutex<Machine>,
    snapshots: Arc<Snapshots>,
    memory: Arc<Memory>,
    queue: Arc<Queue>,
    layouts: Mutex<BTreeMap<TableId, (u32, Arc<RowLayout>)>>,
    next_relation: AtomicU32,
    row_ids: AtomicI64,
    /// Row ids below this number are in the log.
    row_ids_logged: AtomicI64,
    /// Values of sequences that are in the log and have not been returned.
    handed: Mutex<Handed>,
    /// The data directory; nothing without one.
    durable: OnceLock<Arc<Durable>>,
    conflicts: AtomicU64,
    holds: Arc<Holds>,
    /// The snapshots of other servers that a restart has left readable begin here.
    readable_from: AtomicU64,
    peers: OnceLock<Arc<dyn Peers>>,
    index_expressions: OnceLock<Arc<dyn IndexExpressions>>,
}

impl Drop for Store {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl Store {
    /// Opens an empty store in memory.
    pub fn open(options: Options) -> Arc<Self> {
        let store = Arc::new(Self::new(&options));
        if options.background {
            maintenance::start(&store, Arc::clone(&store.queue));
        }
        store
    }

    fn new(options: &Options) -> Self {
        let queue = Arc::new(Queue::default());
        let snapshots = Snapshots::new(Arc::clone(&queue), options.server.own_group());
        let memory = Memory::new(options.memory_limit);
        let machine = Machine::new(Arc::clone(&snapshots), Arc::clone(&memory));
        if options.in_cluster {
            snapshots.enter_cluster();
        }
        Self {
            server: options.server,
            machine: Mutex::new(machine),
            snapshots,
            memory,
            queue,
            layouts: Mutex::default(),
            next_relation: AtomicU32::new(1),
            row_ids: AtomicI64::new(1),
            row_ids_logged: AtomicI64::new(1),
            handed: Mutex::default(),
            durable: OnceLock::new(),
            holds: Arc::default(),
            readable_from: AtomicU64::new(0),
            conflicts: AtomicU64::new(0),
            peers: OnceLock::new(),
            index_expressions: OnceLock::new(),
        }
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
    /// own all rows. Temporary relations are left out. The store must not have relations. It has them when the result
    /// has ended.
    ///
    /// # Errors
    /// 53100 if the disk is full, 58030 if it fails.
    pub fn install(
        &self,
        catalog: &Catalog,
        timestamp: Timestamp,
    ) -> Result<Acknowledgement, Error> {
        assert!(
            self.catalog().relations().next().is_none(),
            "a store that joins a cluster has no relations"
        );
        let catalog = Arc::new(catalog.shared());
        let group = self.group();
        let functions = catalog.functions().map(|function| function.id);
        let triggers = catalog.triggers().map(|trigger| trigger.id);
        let types = catalog.user_types().flat_map(|user| [user.id.object(), user.array.object()]);
        let own = catalog
            .relations()
            .map(catalog::Relation::id)
            .chain(functions)
            .chain(types)
            .chain(triggers);
        let own = own.filter(|id| ids::is_of_group(*id, group));
        if let Some(last) = own.map(ids::relation_number).max() {
            self.next_relation.fetch_max(last + 1, Ordering::Relaxed);
        }
        let position = self.propose(Command::Install { timestamp, catalog })?;
        Ok(Acknowledgement::after(self.journal().map(|journal| journal.committed(position))))
    }

    /// Returns the server that it is on.
    pub fn server(&self) -> ServerId {
        self.server
    }

    /// Returns the group whose state it is.
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
        ids::relation(self.group(), number)
    }

    /// Allocates `count` row ids for tables without a primary key, and returns the first.
    pub fn allocate_row_ids(&self, count: u64) -> i64 {
        let first = self.row_ids.fetch_add(count as i64, Ordering::Relaxed);
        ids::row(self.group(), first)
    }

    /// Compacts all buckets of all tables in the calling thread.
    pub fn compact_all(&self) {
        for (id, file) in &self.snapshots.newest().files {
            for (range, _) in file.directory().iter() {
                self.compact_bucket(*id, &range.low);
            }
        }
    }

    /// Compacts the buckets that wait for it, as the background thread does, in the calling thread.
    pub fn compact_requested(&self) {
        while let Some((table, low)) = self.queue.try_next() {
            self.compact_bucket(table, &low);
        }
    }

    /// Returns the number of parts of transactions in the log whose outcome is not.
    pub fn undecided_parts(&self) -> usize {
        self.machine().cluster.prepared.len()
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

    /// Returns the journal, for its figures and its end; `None` without a data directory.
    pub fn journal(&self) -> Option<&Arc<Journal>> {
        self.durable().map(|durable| durable.journal())
    }

    /// Returns the checkpoints that are kept, oldest first; none without a data directory.
    pub fn kept_checkpoints(&self) -> Vec<KeptCheckpoint> {
        self.durable().map(|durable| durable.kept_checkpoints()).unwrap_or_default()
    }

    /// Returns what tells the data directory from all others; `None` without one.
    pub fn data_id(&self) -> Option<u64> {
        self.durable().map(|durable| durable.set().bits())
    }

    /// Returns what waits until everything is durable that the log has now.
    pub fn durable_now(&self) -> Acknowledgement {
        let position = self.machine().log.position;
        Acknowledgement::after(self.journal().map(|journal| journal.durable(position)))
    }

    /// Returns a fact of the cluster that this server keeps.
    pub fn fact(&self, name: &str) -> Option<Vec<u8>> {
        self.machine().cluster.facts.get(name).cloned()
    }

    /// Returns the facts whose names begin with a text, in the order of their names.
    pub fn facts(&self, prefix: &str) -> Vec<(String, Vec<u8>)> {
        let machine = self.machine();
        let facts = machine.cluster.facts.range(prefix.to_owned()..);
        let named = facts.take_while(|(name, _)| name.starts_with(prefix));
        named.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Keeps a fact of the cluster, or forgets it. It is durable when the result has ended. Waits for room in the
    /// journal.
    ///
    /// # Errors
    /// 53100 if the disk is full, 58030 if it fails.
    pub fn set_fact(&self, name: &str, value: Option<Vec<u8>>) -> Result<Acknowledgement, Error> {
        let position = self.propose(Command::SetFact { name: name.to_owned(), value })?;
        Ok(Acknowledgement::after(self.journal().map(|journal| journal.durable(position))))
    }

    /// Returns the data directory; `None` without one.
    pub(crate) fn durable(&self) -> Option<&Arc<Durable>> {
        self.durable.get()
    }

    /// Counts an error if it is a conflict.
    pub(crate) fn count_conflict(&self, error: &Error) {
        self.conflicts.fetch_add(u64::from(error.is_retryable()), Ordering::Relaxed);
    }
}
