//! The state machine: applies entries of the log. Nothing else changes buckets, files or the catalog.
//!
//! One holder of the log's lock applies; readers see the effect of a commit when it is published, of a
//! split or merge at once (it changes no answer). The same entries applied to an empty machine give the
//! same buckets, ids and rows.

use crate::accesses::Accesses;
use crate::bucket::{Bucket, BucketState};
use crate::catalog::{Catalog, CatalogChange, Relation, RelationId, Sequence, TableId};
use crate::chunk::Run;
use crate::file::{TableFile, Tile};
use crate::info::SplitInfo;
use crate::log::{Entry, Log};
use crate::memory::Memory;
use crate::snapshot::{Published, Snapshots};
use crate::write_set::{TableWrites, WriteSet};
use sdds::{Bound, BucketId, Key, KeyRange, Timestamp};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Everything that entries change, held by whoever holds the log's lock.
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

/// What has happened since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) commits: u64,
    pub(crate) splits: u64,
    pub(crate) merges: u64,
    pub(crate) compactions: u64,
}

/// How far a sequence has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SequenceState {
    pub(crate) last: i64,
    /// False until `last` has been given to somebody.
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

    /// Appends an entry and applies it. The entry must be valid in the present state.
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
                self.apply_adopt(table, range, (state, accesses));
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
                let file = match table.home == self.snapshots.group {
                    true => TableFile::new(self.bucket_id()),
                    false => TableFile::elsewhere(),
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

    /// Stops accounting for a file that no new reader will see.
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
            let Some(span) = sdds::KeyRange::new(first, Bound::At(run.last().successor())) else {
                unreachable!("a run's last key is not before its first");
            };
            for (range, tile) in directory.cover(&span) {
                let Some(part) = run.cut(&range) else { continue };
                self.change_bucket(file, owned(tile), |state| state.add_run(part));
            }
        }
        let mut changes = writes.changes.into_iter().peekable();
        while let Some((key, _)) = changes.peek() {
            let (range, tile) = directory.locate(key);
            // A commit is one access, however many rows it has there.
            owned(tile).accesses.count(key);
            self.change_bucket(file, owned(tile), |state| {
                while let Some((key, row)) = changes.next_if(|(key, _)| range.contains(key)) {
                    state.write(key, row, timestamp, horizon);
                }
            });
        }
    }

    /// Replaces the state of a bucket that is owned here by a changed copy, and keeps the books.
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

    fn apply_split(&mut self, table: TableId, at: &Key) {
        let Some(file) = self.snapshots.newest().files.get(&table).cloned() else { return };
        let mut directory = sdds::Partition::clone(&file.directory());
        let (range, Tile::Here(bucket)) = directory.locate(at) else { return };
        let Some((lower, upper)) = range.split_at(at) else { return };
        let bucket = Arc::clone(bucket);
        let state = bucket.state();
        let (left, right) = (state.cut(&lower), state.cut(&upper));
        self.memory.tables_changed(state.bytes(), left.bytes() + right.bytes());
        let (accesses_left, accesses_right) = bucket.accesses.split(at);
        let left = Bucket::accessed(bucket.id, lower, left, accesses_left);
        let right = Bucket::accessed(self.bucket_id(), upper, right, accesses_right);
        directory.split(at, Tile::Here(left), Tile::Here(right));
        file.replace_directory(directory, &range);
        self.counts.splits += 1;
    }

    fn apply_merge(&mut self, table: TableId, low: &Bound) {
        let Some(file) = self.snapshots.newest().files.get(&table).cloned() else { return };
        let mut directory = sdds::Partition::clone(&file.directory());
        let Some((upper_range, Tile::Here(upper))) = directory.next_after(low) else { return };
        let upper = Arc::clone(upper);
        let before = directory.next_before(&upper_range.low);
        let Some((lower_range, Tile::Here(lower))) = before else { return };
        let lower = Arc::clone(lower);
        let range = sdds::KeyRange { low: lower_range.low, high: upper_range.high };
        let state = BucketState::clone(&lower.state()).join(BucketState::clone(&upper.state()));
        let accesses = lower.accesses.join(&upper.accesses);
        let merged = Bucket::accessed(lower.id, range.clone(), state, accesses);
        directory.merge(low, Tile::Here(merged));
        file.replace_directory(directory, &range);
        self.counts.merges += 1;
    }
}

impl Machine {
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

    fn apply_adopt(
        &mut self,
        table: TableId,
        range: KeyRange,
        (state, accesses): (BucketState, u64),
    ) {
        let mut next = Published::clone(&self.snapshots.newest());
        let Some(file) = next.files.get(&table).cloned() else { return };
        next.timestamp = next.timestamp.max(state.newest);
        self.memory.tables_changed(0, state.bytes());
        let mut directory = sdds::Partition::clone(&file.directory());
        let accesses = Accesses::of_rate(accesses);
        let bucket = Bucket::accessed(self.bucket_id(), range.clone(), state, accesses);
        directory.assign(&range, Tile::Here(bucket));
        file.replace_directory(directory, &range);
        self.snapshots.publish(next);
    }

    /// What is elsewhere is one tile with its neighbours that are, too.
    fn apply_release(&mut self, table: TableId, range: KeyRange) {
        let Some(file) = self.snapshots.newest().files.get(&table).cloned() else { return };
        let mut directory = sdds::Partition::clone(&file.directory());
        let held = directory.cover(&range).filter_map(|(_, tile)| tile.held());
        let bytes = held.map(|bucket| bucket.state().bytes()).sum();
        self.memory.tables_changed(bytes, 0);
        let mut wide = range;
        if let Some((before, Tile::Elsewhere)) = directory.next_before(&wide.low) {
            wide.low = before.low;
        }
        if let (after, Tile::Elsewhere) = directory.at(&wide.high)
            && after.low == wide.high
        {
            wide.high = after.high;
        }
        directory.assign(&wide, Tile::Elsewhere);
        file.replace_directory(directory, &wide);
    }
}

/// The bucket of keys that a commit writes to: it was checked that they are owned.
fn owned(tile: &Tile) -> &Arc<Bucket> {
    tile.owned().expect("rows are written where they are owned")
}
