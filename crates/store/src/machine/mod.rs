//! The state machine: applies commands. Only it changes buckets, files, sequences and the catalog.
//!
//! The holder of the log's lock applies commands. Its own view is the *head*: the state after the last
//! command. Readers see a commit when it is published, and a split or merge, which does not change
//! query results, immediately. Applying the same commands to an empty machine gives the same buckets,
//! ids and rows.

mod tiles;

use crate::file::{TableFile, Tile};
use crate::info::SplitInfo;
use crate::log::{Log, Proposal};
use crate::memory::Memory;
use crate::publishing::Publisher;
use crate::snapshot::{Published, Snapshots};
use bucket::{Bucket, BucketState, Run, TableWrites};
use catalog::{Catalog, CatalogChange, Relation, RelationId, TableId, is_temporary_schema};
use durable::{ClusterState, Command, IdCounters, PreparedPart, SequenceState, WriteSet};
use journal::Position;
use sdds::{Bound, BucketId, KeyRange, Timestamp, TransactionId};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The state that commands change. Protected by the log's lock.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) log: Log,
    pub(crate) snapshots: Arc<Snapshots>,
    /// The state after the last command. Commits in it may not be published yet.
    head: Arc<Published>,
    /// Publishes commits once they are durable. `None` if they are published at once.
    pub(crate) publisher: Option<Arc<Publisher>>,
    pub(crate) sequences: BTreeMap<RelationId, SequenceState>,
    pub(crate) counts: Counts,
    /// The last splits.
    pub(crate) splits: VecDeque<SplitInfo>,
    memory: Arc<Memory>,
    pub(crate) counters: IdCounters,
    pub(crate) cluster: ClusterState,
}

/// Event counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) commits: u64,
    pub(crate) splits: u64,
    pub(crate) merges: u64,
    pub(crate) compactions: u64,
}

impl Machine {
    pub(crate) fn new(snapshots: Arc<Snapshots>, memory: Arc<Memory>) -> Self {
        Self {
            log: Log::new(snapshots.group),
            head: snapshots.newest(),
            publisher: None,
            snapshots,
            sequences: BTreeMap::new(),
            counts: Counts::default(),
            splits: VecDeque::new(),
            memory,
            counters: IdCounters::default(),
            cluster: ClusterState::default(),
        }
    }

    /// Returns the state after the last command.
    pub(crate) fn head(&self) -> &Arc<Published> {
        &self.head
    }

    /// Begins with a state that was read from a checkpoint.
    pub(crate) fn restore(&mut self, head: Published) {
        self.head = Arc::new(head);
        self.snapshots.publish(Arc::clone(&self.head));
    }

    /// Appends a command and applies it. It must be valid in the current state. Returns the position
    /// that must be durable before anybody is told of it.
    ///
    /// # Errors
    /// [`journal::Error::Stopped`]. Nothing has changed then.
    pub(crate) fn propose(&mut self, proposal: Proposal) -> Result<Position, journal::Error> {
        let is_logged = proposal.record.is_some();
        let command = self.log.append(proposal)?;
        let journal = self.log.journal().filter(|_| is_logged).cloned();
        let _unapplied = journal.map(StopOnPanic);
        self.apply(command);
        Ok(self.log.position)
    }

    /// Appends a command that a restart may forget, or that a journal is not there for.
    pub(crate) fn commit_unlogged(&mut self, command: Command) {
        self.log.note(&command);
        self.apply(command);
    }

    /// Makes a state the head, and publishes it when it is durable.
    fn publish(&mut self, next: Published) {
        self.head = Arc::new(next);
        match &self.publisher {
            None => self.snapshots.publish(Arc::clone(&self.head)),
            Some(publisher) => publisher.submit(self.log.position, &self.head),
        }
    }

    pub(crate) fn apply(&mut self, command: Command) {
        match command {
            Command::Commit { timestamp, catalog, writes } => {
                self.apply_commit(timestamp, &catalog, writes);
            }
            Command::Split { table, at } => self.apply_split(table, &at),
            Command::Merge { table, low } => self.apply_merge(table, &low),
            Command::Install { timestamp, catalog } => self.apply_install(timestamp, catalog),
            Command::Adopt { of, table, range, state, accesses } => {
                self.apply_adopt(of, table, range, state, accesses);
            }
            Command::Release { table, range } => self.apply_release(table, range),
            Command::Freeze(frozen) => self.apply_freeze(frozen),
            Command::Thaw { of } => self.apply_thaw(of),
            Command::Prepare { transaction, catalog, writes } => {
                // After a restart their ids are taken, although the outcome is not known yet.
                catalog.iter().for_each(|change| self.count_created(change));
                self.cluster.prepared.insert(transaction, PreparedPart { catalog, writes });
            }
            Command::Decide { transaction, outcome } => self.apply_decide(transaction, outcome),
            Command::SetFact { name, value: Some(value) } => {
                self.cluster.facts.insert(name, value);
            }
            Command::SetFact { name, value: None } => {
                self.cluster.facts.remove(&name);
            }
            Command::SequenceAdvance { sequence, last, called } => {
                self.sequences.insert(sequence, SequenceState { last, called });
            }
            Command::RowIds { below } => self.counters.row = self.counters.row.max(below),
        }
    }

    fn apply_commit(&mut self, timestamp: Timestamp, changes: &[CatalogChange], writes: WriteSet) {
        let mut next = Published::clone(&self.head);
        next.timestamp = next.timestamp.max(timestamp);
        for change in changes {
            let catalog = next.catalog.apply(change);
            next.catalog = Arc::new(catalog.expect("checked before it became a command"));
            self.apply_catalog_change(change, &mut next);
        }
        let horizon = self.snapshots.horizon();
        for (table, writes) in writes {
            if let Some(file) = next.files.get(&table) {
                self.apply_writes(file, writes, timestamp, horizon);
            }
        }
        self.counts.commits += 1;
        self.publish(next);
    }

    /// Ends a part of a transaction that was prepared.
    fn apply_decide(&mut self, transaction: TransactionId, outcome: Option<Timestamp>) {
        let part = self.cluster.prepared.remove(&transaction);
        if let (Some(PreparedPart { catalog, writes }), Some(timestamp)) = (part, outcome) {
            self.apply_commit(timestamp, &catalog, writes);
        }
    }

    fn apply_catalog_change(&mut self, change: &CatalogChange, next: &mut Published) {
        self.count_created(change);
        match change {
            CatalogChange::Create(relation @ (Relation::Table(_) | Relation::Index(_))) => {
                let Some(table) = relation.file() else { return };
                let is_temporary = is_temporary_schema(&table.schema);
                let file = if table.home == self.snapshots.group {
                    TableFile::new(self.bucket_id(is_temporary))
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
                self.cluster.frozen.retain(|_, frozen| frozen.table != *id);
                if let Some(old) = next.files.get(id) {
                    let is_temporary = self.is_temporary(*id, next);
                    let file = old.emptied(|| self.bucket_id(is_temporary));
                    self.forget(old);
                    next.files.insert(*id, file);
                }
            }
            CatalogChange::Drop(id) => {
                self.sequences.remove(id);
                self.cluster.frozen.retain(|_, frozen| frozen.table.relation() != *id);
                if let Some(old) = next.files.remove(&TableId(id.0)) {
                    self.forget(&old);
                }
            }
            CatalogChange::PutFunction(_)
            | CatalogChange::PutExtended(..)
            | CatalogChange::PutAggregate(..)
            | CatalogChange::PutTrigger(_)
            | CatalogChange::DropTrigger { .. }
            | CatalogChange::Create(Relation::View(_))
            | CatalogChange::Replace(_)
            | CatalogChange::CreateSchema(_)
            | CatalogChange::ReplaceSchema(_)
            | CatalogChange::DropSchema(_)
            | CatalogChange::DropFunction(_)
            | CatalogChange::PutRole(_)
            | CatalogChange::PutComment { .. }
            | CatalogChange::DropRole(_)
            | CatalogChange::RenameRole { .. }
            | CatalogChange::CreateType(_)
            | CatalogChange::ReplaceType(_)
            | CatalogChange::DropType(_)
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

    /// Takes the id of a new bucket.
    fn bucket_id(&mut self, is_temporary: bool) -> BucketId {
        let next = match is_temporary {
            false => &mut self.counters.bucket,
            true => &mut self.counters.temporary_bucket,
        };
        *next += 1;
        BucketId(*next - 1)
    }

    fn is_temporary(&self, table: TableId, state: &Published) -> bool {
        let relation = state.catalog.relation_by_id(table.relation());
        relation.is_some_and(Relation::is_temporary)
    }

    fn count_created(&mut self, change: &CatalogChange) {
        match change {
            CatalogChange::Create(relation) if !relation.is_temporary() => {
                self.count_relation(relation.id());
            }
            CatalogChange::CreateType(user) => {
                self.count_relation(user.id.object());
                self.count_relation(user.array.object());
            }
            CatalogChange::PutFunction(function)
            | CatalogChange::PutExtended(function, _)
            | CatalogChange::PutAggregate(function, ..)
                if !function.is_temporary() =>
            {
                self.count_relation(function.id);
            }
            CatalogChange::PutTrigger(trigger) => self.count_relation(trigger.id),
            _ => {}
        }
    }

    /// Notes the id of a new relation, if this group has allocated it.
    fn count_relation(&mut self, id: RelationId) {
        if catalog::ids::is_of_group(id, self.snapshots.group) {
            self.counters.relation = self.counters.relation.max(id.0 + 1);
        }
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
        let mut next = Published::clone(&self.head);
        next.timestamp = next.timestamp.max(timestamp);
        catalog.functions().for_each(|function| self.count_relation(function.id));
        catalog.triggers().for_each(|trigger| self.count_relation(trigger.id));
        for user in catalog.user_types() {
            self.count_relation(user.id.object());
            self.count_relation(user.array.object());
        }
        for relation in catalog.relations() {
            self.count_relation(relation.id());
            match relation {
                Relation::Sequence(sequence) => {
                    self.sequences.insert(sequence.id, SequenceState::new(sequence));
                }
                Relation::Table(_) | Relation::Index(_) | Relation::View(_) => {
                    if let Some(table) = relation.file() {
                        next.files.insert(table.id, TableFile::elsewhere());
                    }
                }
            }
        }
        next.catalog = catalog;
        self.publish(next);
    }
}

/// Stops the journal if applying a command panics: memory and log would differ from then on.
struct StopOnPanic(Arc<journal::Journal>);

impl Drop for StopOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail("a command of the log could not be applied");
        }
    }
}

/// Returns the bucket of a tile that a commit writes to. Ownership was checked before.
fn owned(tile: &Tile) -> &Arc<Bucket> {
    tile.owned().expect("rows are written where they are owned")
}
