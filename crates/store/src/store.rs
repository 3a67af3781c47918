//! The store: where transactions begin, are checked, become entries of the log, and become visible.

use crate::catalog::{Catalog, CatalogChange, Relation, RelationId, Sequence, Table, TableId};
use crate::chunk::Chunk;
use crate::file::TableFile;
use crate::info::{BucketInfo, Counters};
use crate::layout::Layout;
use crate::log::Entry;
use crate::machine::{Machine, SequenceState};
use crate::maintenance::{self, Queue};
use crate::memory::Memory;
use crate::peers::Peers;
use crate::row::RowLayout;
use crate::snapshot::{Published, Snapshot, Snapshots};
use crate::transaction::{Parts, Transaction};
use crate::write_set::TableWrites;
use crate::{Error, check, key};
use parking_lot::{Mutex, MutexGuard};
use sdds::{Bound, Key, KeyRange, Timestamp};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes that tables and queries may hold together; `None` for no limit.
    pub memory_limit: Option<u64>,
    /// Whether a thread compacts in the background. Tests that count bytes switch it off.
    pub background: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { memory_limit: None, background: true }
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
        let snapshots = Snapshots::new(Arc::clone(&queue));
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
            conflicts: AtomicU64::new(0),
            peers: OnceLock::new(),
        });
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
        RelationId(self.next_relation.fetch_add(1, Ordering::Relaxed))
    }

    /// Takes so many row ids for tables without a key of their own; the first comes back.
    pub fn allocate_row_ids(&self, count: u64) -> i64 {
        self.row_ids.fetch_add(count as i64, Ordering::Relaxed)
    }

    /// The buckets of a table now, in key order.
    pub fn bucket_infos(&self, table: TableId) -> Vec<BucketInfo> {
        match self.snapshots.newest().files.get(&table) {
            Some(file) => file.directory().iter().map(|(_, b)| BucketInfo::of(b)).collect(),
            None => Vec::new(),
        }
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

    /// Takes `count` values of a sequence; the first comes back.
    ///
    /// # Errors
    /// [`Error::SequenceExhausted`].
    pub fn sequence_next(&self, sequence: &Sequence, count: u32) -> Result<i64, Error> {
        let mut machine = self.machine();
        let state = machine.sequences.get(&sequence.id).copied();
        let state = state.unwrap_or(SequenceState::new(sequence));
        let first = match state.called {
            true => next_value(sequence, state.last)?,
            false => state.last,
        };
        let mut last = first;
        for _ in 1..count {
            last = next_value(sequence, last)?;
        }
        machine.commit_entry(Entry::SequenceAdvance { sequence: sequence.id, last, called: true });
        Ok(first)
    }

    /// Sets where a sequence stands; the next value is the one after `last` if that counts as called.
    ///
    /// # Errors
    /// [`Error::SequenceExhausted`] for a value outside the sequence's bounds.
    pub fn sequence_set(&self, sequence: &Sequence, last: i64, called: bool) -> Result<(), Error> {
        if last < sequence.min || last > sequence.max {
            return Err(exhausted(sequence, last > sequence.max));
        }
        let entry = Entry::SequenceAdvance { sequence: sequence.id, last, called };
        self.machine().commit_entry(entry);
        Ok(())
    }

    /// The last value that a sequence has given; `None` before the first.
    pub fn sequence_last(&self, sequence: RelationId) -> Option<i64> {
        let machine = self.machine();
        machine.sequences.get(&sequence).filter(|state| state.called).map(|state| state.last)
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

    /// Checks a transaction against what was committed since its snapshot, and commits it.
    pub(crate) fn commit(&self, transaction: Parts) -> Result<Timestamp, Error> {
        let mut machine = self.machine();
        let published = self.snapshots.newest();
        if let Err(error) = refuse_conflicts(&published, &transaction) {
            self.conflicts.fetch_add(u64::from(error.is_retryable()), Ordering::Relaxed);
            return Err(error);
        }
        let timestamp = published.timestamp.next();
        let touched: Vec<(TableId, Vec<KeyRange>)> = transaction
            .writes
            .iter()
            .map(|(table, writes)| (*table, touched_ranges(published.files.get(table), writes)))
            .collect();
        let Parts { snapshot, catalog_changes, writes, _reservation } = transaction;
        machine.commit_entry(Entry::Commit { timestamp, catalog: catalog_changes, writes });
        drop(snapshot);
        let catalog = Arc::clone(&self.snapshots.newest().catalog);
        for (table, ranges) in touched {
            if let Some(table) = catalog.table_by_id(table) {
                self.settle(&mut machine, table, &ranges);
            }
        }
        Ok(timestamp)
    }
}

fn next_value(sequence: &Sequence, last: i64) -> Result<i64, Error> {
    let up = sequence.increment > 0;
    let next = last.checked_add(sequence.increment);
    match next.filter(|next| (sequence.min..=sequence.max).contains(next)) {
        Some(next) => Ok(next),
        None if sequence.cycle => Ok(if up { sequence.min } else { sequence.max }),
        None => Err(exhausted(sequence, up)),
    }
}

fn exhausted(sequence: &Sequence, up: bool) -> Error {
    Error::SequenceExhausted {
        sequence: sequence.name.clone(),
        end: if up { "maximum" } else { "minimum" },
        limit: if up { sequence.max } else { sequence.min },
    }
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

/// First committer wins: refuses a transaction whose rows or definitions somebody else has changed.
fn refuse_conflicts(published: &Published, transaction: &Parts) -> Result<(), Error> {
    let mut catalog = Catalog::clone(&published.catalog);
    for change in &transaction.catalog_changes {
        catalog = catalog.apply(change)?;
        refuse_definition_conflict(published, transaction, change)?;
    }
    for (id, writes) in &transaction.writes {
        let Some(before) = transaction.snapshot.catalog().table_by_id(*id) else { continue };
        let now = published.catalog.table_by_id(*id);
        let file = published.files.get(id);
        let same_file = file.map(Arc::as_ptr) == transaction.snapshot.file(*id).map(Arc::as_ptr);
        let (Some(file), true) =
            (file, same_file && now.is_some_and(|t| t.version == before.version))
        else {
            return Err(Error::SchemaConflict { relation: before.name.clone() });
        };
        refuse_row_conflicts(before, file, writes, transaction.snapshot.timestamp())?;
    }
    Ok(())
}

/// A definition that was checked against a table's rows must not meet rows that came later.
fn refuse_definition_conflict(
    published: &Published,
    transaction: &Parts,
    change: &CatalogChange,
) -> Result<(), Error> {
    let id = match change {
        CatalogChange::Replace(Relation::Table(table)) => table.id,
        CatalogChange::Truncate(id) => *id,
        _ => return Ok(()),
    };
    let Some(table) = published.catalog.table_by_id(id) else { return Ok(()) };
    let Some(file) = published.files.get(&id) else { return Ok(()) };
    let snapshot = transaction.snapshot.timestamp();
    match file.directory().iter().any(|(_, bucket)| bucket.state().newest > snapshot) {
        true => Err(Error::SchemaConflict { relation: table.name.clone() }),
        false => Ok(()),
    }
}

fn refuse_row_conflicts(
    table: &Table,
    file: &TableFile,
    writes: &TableWrites,
    snapshot: Timestamp,
) -> Result<(), Error> {
    let conflict =
        |key: &Key| Error::Conflict { table: table.name.clone(), key: key::describe(table, key) };
    let is_newer = |key: &Key| {
        let state = file.locate(key).state();
        state.newest > snapshot && state.last_write(key).is_some_and(|at| at > snapshot)
    };
    if let Some(key) = writes.changes.keys().find(|key| is_newer(key)) {
        return Err(conflict(key));
    }
    for chunk in writes.runs.iter().flat_map(|run| &run.chunks) {
        if let Some(key) = newer_key_in(file, chunk, snapshot) {
            return Err(conflict(&key));
        }
    }
    Ok(())
}

/// A key of the chunk that somebody has written since the snapshot.
fn newer_key_in(file: &TableFile, chunk: &Chunk, snapshot: Timestamp) -> Option<Key> {
    let last = Bound::At(chunk.last().successor());
    let span = KeyRange::new(Bound::At(chunk.first().clone()), last)?;
    let directory = file.directory();
    let keys = chunk.keys();
    for (range, bucket) in directory.cover(&span) {
        let state = bucket.state();
        if state.newest <= snapshot {
            continue;
        }
        let mut written = chunk.rows_in(&range).map(|row| keys.key(row));
        let newer = written.find(|key| state.last_write(key).is_some_and(|at| at > snapshot));
        if newer.is_some() {
            return newer;
        }
    }
    None
}
