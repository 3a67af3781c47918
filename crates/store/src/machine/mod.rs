//! The state machine: applies log entries. Only it changes buckets, files, sequences and the
//! catalog.
//!
//! The holder of the log's lock applies entries. Readers see a commit when it is published, and a
//! split or merge, which does not change query results, immediately. Applying the same entries to
//! an empty machine gives the same buckets, ids and rows.

use catalog::{Catalog, CatalogChange, Relation, RelationId, Sequence, TableId};
mod log;
mod tiles;

pub(crate) use log::{Entry, Log};

use crate::file::{TableFile, Tile};
use crate::info::SplitInfo;
use crate::memory::Memory;
use crate::snapshot::{Published, Snapshots};
use crate::write_set::WriteSet;
use bucket::{Bucket, BucketState, Run, TableWrites};
use sdds::{Bound, BucketId, KeyRange, Timestamp};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The state that entries change. Protected by the log's lock.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) log: Log,
    pub(crate) snapshots: Arc<Snapshots>,
    pub(crate) sequences: BTreeMap<RelationId, SequenceState>,
    pub(crate) counts: Counts,
    /// The last splits.
    pub(crate) splits: VecDeque<SplitInfo>,
    memory: Arc<Memory>,
    next_bucket: u64,
}

/// Event counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) commits: u64,
    pub(crate) splits: u64,
    pub(crate) merges: u64,
    pub(crate) compactions: u64,
}

/// State of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SequenceState {
    pub(crate) last: i64,
    /// False until `last` has been returned to a client.
    pub(crate) called: bool,
}

impl SequenceState {
    pub(crate) fn new(sequence: &Sequence) -> Self {
        Self { last: sequence.start, called: false }
    }
}

impl Machine {
    pub(crate) fn new(snapshots: Arc<Snapshots>, memory: Arc<Memory>) -> Self {
        Self {
            log: Log::default(),
            snapshots,
            sequences: BTreeMap::new(),
            counts: Counts::default(),
            splits: VecDeque::new(),
            memory,
            next_bucket: 1,
        }
    }

    /// Appends an entry and applies it. The entry must be valid in the current state.
    pub(crate) fn commit_entry(&mut self, entry: Entry) {
        self.log.append(&entry);
        self.apply(entry);
    }

    pub(crate) fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Commit { timestamp, catalog, writes } => {
                self.apply_commit(timestamp, &catalog, writes);
            }
            Entry::Split { table, at } => self.apply_split(table, &at),
            Entry::Merge { table, low } => self.apply_merge(table, &low),
            Entry::Install { timestamp, catalog } => self.apply_install(timestamp, catalog),
            Entry::Adopt { table, range, state, accesses } => {
                self.apply_adopt(table, range, state, accesses);
            }
            Entry::Release { table, range } => self.apply_release(table, range),
            Entry::SequenceAdvance { sequence, last, called } => {
                self.sequences.insert(sequence, SequenceState { last, called });
            }
        }
    }

    fn apply_commit(&mut self, timestamp: Timestamp, changes: &[CatalogChange], writes: WriteSet) {
        let mut next = Published::clone(&self.snapshots.newest());
        next.timestamp = next.timestamp.max(timestamp);
        for change in changes {
            let catalog = next.catalog.apply(change);
            next.catalog = Arc::new(catalog.expect("checked before it became an entry"));
            self.apply_catalog_change(change, &mut next);
        }
        let horizon = self.snapshots.horizon();
        for (table, writes) in writes {
            if let Some(file) = next.files.get(&table) {
                self.apply_writes(file, writes, timestamp, horizon);
            }
        }
        self.counts.commits += 1;
        self.snapshots.publish(next);
    }

    fn apply_catalog_change(&mut self, change: &CatalogChange, next: &mut Published) {
        match change {
            CatalogChange::Create(Relation::Table(table)) => {
                let file = if table.home == self.snapshots.group {
                    TableFile::new(self.bucket_id())
                } else {
                    TableFile::elsewhere()
                };
                next.files.insert(table.id, file);
            }
            CatalogChange::Create(Relation::Sequence(sequence)) => {
                let state = SequenceState::new(sequence);
                self.sequences.entry(sequence.id).or_insert(state);
            }
            CatalogChange::Truncate(id) => {
                if let Some(old) = next.files.get(id) {
                    let file = old.emptied(|| self.bucket_id());
                    self.forget(old);
                    next.files.insert(*id, file);
                }
            }
            CatalogChange::Drop(id) => {
                self.sequences.remove(id);
                if let Some(old) = next.files.remove(&TableId(id.0)) {
                    self.forget(&old);
                }
            }
            CatalogChange::Create(Relation::View(_))
            | CatalogChange::Replace(_)
            | CatalogChange::CreateSchema(_)
            | CatalogChange::ReplaceSchema(_)
            | CatalogChange::DropSchema(_)
            | CatalogChange::PutRole(_)
            | CatalogChange::DropRole(_)
            | CatalogChange::RenameRole { .. }
            | CatalogChange::SetPrivileges { .. } => {}
        }
    }

    /// Stops accounting for a file that new readers do not see.
    fn forget(&self, file: &TableFile) {
        let directory = file.directory();
        let held = directory.iter().filter_map(|(_, tile)| tile.held());
        let bytes = held.map(|bucket| bucket.state().bytes()).sum();
        self.memory.tables_changed(bytes, 0);
    }

    fn bucket_id(&mut self) -> BucketId {
        self.next_bucket += 1;
        BucketId(self.next_bucket - 1)
    }

    fn apply_writes(
        &self,
        file: &Arc<TableFile>,
        writes: TableWrites,
        timestamp: Timestamp,
        horizon: Timestamp,
    ) {
        let directory = file.directory();
        for run in &writes.runs {
            let run = Run::new(timestamp, run.chunks.clone());
            let first = Bound::At(run.first().clone());
            let Some(span) = KeyRange::new(first, Bound::At(run.last().successor())) else {
                unreachable!("a run's last key is not before its first");
            };
            for (range, tile) in directory.cover(&span) {
                let Some(part) = run.cut(&range) else { continue };
                self.change_bucket(file, owned(tile), |state| state.load(&part, horizon));
            }
        }
        let mut changes = writes.changes.into_iter().peekable();
        while let Some((key, _)) = changes.peek() {
            let (range, tile) = directory.locate(key);
            // A commit counts as one access of a bucket, regardless of its number of rows.
            owned(tile).accesses.count(key);
            self.change_bucket(file, owned(tile), |state| {
                while let Some((key, row)) = changes.next_if(|(key, _)| range.contains(key)) {
                    state.write(key, row, timestamp, horizon);
                }
            });
        }
    }

    /// Replaces the state of an owned bucket by a modified copy, and updates the accounts.
    pub(crate) fn change_bucket(
        &self,
        file: &TableFile,
        bucket: &Bucket,
        change: impl FnOnce(&mut BucketState),
    ) {
        let before = bucket.state();
        let mut after = BucketState::clone(&before);
        change(&mut after);
        self.memory.tables_changed(before.bytes(), after.bytes());
        file.bucket_changed(&before, &after);
        bucket.replace(after);
    }

    fn apply_install(&mut self, timestamp: Timestamp, catalog: Arc<Catalog>) {
        let mut next = Published::clone(&self.snapshots.newest());
        next.timestamp = next.timestamp.max(timestamp);
        for relation in catalog.relations() {
            match relation {
                Relation::Table(table) => {
                    next.files.insert(table.id, TableFile::elsewhere());
                }
                Relation::Sequence(sequence) => {
                    self.sequences.insert(sequence.id, SequenceState::new(sequence));
                }
                Relation::View(_) => {}
            }
        }
        next.catalog = catalog;
        self.snapshots.publish(next);
    }
}

/// Returns the bucket of a tile that a commit writes to. Ownership was checked before.
fn owned(tile: &Tile) -> &Arc<Bucket> {
    tile.owned().expect("rows are written where they are owned")
}
