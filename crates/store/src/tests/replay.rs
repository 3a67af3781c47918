//! Replay equals live: random runs with compaction, loads over fresh tombstones, splits, merges, old
//! snapshots, checkpoints, restarts and crashes. What is found is, to the byte, what was there.

use super::*;
use crate::Data;
use crate::tests::model::{Model, Step, step, take};
use catalog::stable;
use journal::Durability;
use journal::disk::{Disk, MemoryDisk};
use proptest::prelude::*;
use std::path::Path;

fn open(disk: &MemoryDisk) -> Arc<Store> {
    let data = Data::at("/data", Durability::Sync);
    let journal = journal::Options { segment_bytes: 16 << 10, ..data.journal.clone() };
    let data = Data { disk: Arc::new(disk.clone()), journal, ..data };
    let (store, _) = Store::open_durable(&quiet(), data).expect("it opens");
    store.check().expect("every invariant holds");
    store
}

fn create(store: &Arc<Store>) -> TableId {
    let id = TableId(store.next_relation_id().0);
    let table = Table { id, bucket_size: 4 << 10, ..keyed("t") };
    let mut transaction = store.begin();
    let create = CatalogChange::Create(Relation::Table(Arc::new(table)));
    transaction.change_catalog(create).expect("a new name");
    transaction.commit().expect("nobody else is there");
    id
}

fn found(store: &Store, id: TableId) -> BTreeMap<i64, String> {
    contents(&table_at(&store.snapshot(), id))
}

/// What a restart must find again, to the byte: catalog, sequences, id counters, the tiles and rows of
/// all tables. How rows are divided among delta and runs is left out: compaction is no command.
fn digest(store: &Store) -> String {
    let cut = crate::cut::of(&store.machine());
    let mut text = format!(
        "{}\n{:?}\n{} {}\n{}\n",
        cut.timestamp,
        cut.sequences,
        cut.counters.bucket,
        cut.counters.row,
        stable::encode(&cut.catalog).iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
    );
    for table in &cut.tables {
        for info in store.bucket_infos(table.id) {
            text += &format!("{} {} {} {}\n", table.id.0, info.id, info.range, info.rows);
        }
        for row in found(store, table.id) {
            text += &format!("{row:?}\n");
        }
    }
    text
}

#[derive(Debug, Clone)]
enum Event {
    Steps(Vec<Step>),
    Checkpoint,
    Restart,
    Kill,
    Crash(u64),
}

/// Rows are deleted and loaded again, often with a compaction between that a replay does not have:
/// the tombstone is in the delta there, and not here.
fn again() -> impl Strategy<Value = Vec<Step>> {
    (-200i64..160, 1i64..40, any::<u8>(), any::<bool>()).prop_map(|(first, count, seed, folds)| {
        let keys: Vec<i64> = (first..first + count).collect();
        let rows = keys.iter().map(|key| (*key, seed)).collect();
        let fold = folds.then_some(Step::Compact);
        [Step::Delete(keys)].into_iter().chain(fold).chain([Step::Load(rows)]).collect()
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop_oneof![2 => step().prop_map(|step| vec![step]), 1 => again()]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => steps().prop_map(Event::Steps),
        1 => Just(Event::Checkpoint),
        1 => Just(Event::Restart),
        1 => Just(Event::Kill),
        1 => any::<u64>().prop_map(Event::Crash),
    ]
}

/// Checks that an inspection finds no damage: neither after a kill nor after a power cut.
fn inspect(disk: &MemoryDisk) {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let found = crate::inspection::inspect(&disk, Path::new("/data"), |_| ());
    let damages = found.expect("it is a data directory").damages;
    assert!(damages.is_empty(), "{damages:?}");
}

/// Closes a store and opens it again; checks that it is the same.
fn reopen(store: Arc<Store>, disk: &MemoryDisk) -> Arc<Store> {
    let before = digest(&store);
    drop(store);
    inspect(disk);
    let store = open(disk);
    assert_eq!(digest(&store), before);
    store
}

/// A restart gave the number of a chunk file that had been removed to a new one. The next checkpoint took that for one from
/// before the checkpoint that it keeps, and removed it, although commands since then refer to it.
#[test]
fn the_number_of_a_removed_chunk_file_is_not_used_again() {
    let disk = MemoryDisk::new();
    let mut store = open(&disk);
    let (id, mut model) = (create(&store), Model::new());
    let mut load_again = |store: &Arc<Store>, key| {
        take(store, id, &mut model, &Step::Delete(vec![key]));
        store.compact_all();
        take(store, id, &mut model, &Step::Load(vec![(key, 0)]));
    };
    load_again(&store, 0);
    store = reopen(store, &disk);
    for _ in 0..2 {
        store.checkpoint().expect("written");
    }
    store = reopen(store, &disk);
    load_again(&store, 1);
    store.compact_all();
    store.checkpoint().expect("written");
    reopen(store, &disk);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]
    #[test]
    fn a_restart_finds_the_state_that_was_left(
        events in prop::collection::vec(event(), 1..50),
    ) {
        let mut disk = MemoryDisk::new();
        let mut store = open(&disk);
        let id = create(&store);
        let mut model = Model::new();
        let mut kept: Vec<(Snapshot, Model)> = Vec::new();
        for event in &events {
            match event {
                Event::Steps(steps) => steps.iter().for_each(|step| match step {
                    Step::Compact => store.compact_all(),
                    Step::KeepSnapshot => kept.push((store.snapshot(), model.clone())),
                    Step::DropSnapshot => drop(kept.pop()),
                    write => take(&store, id, &mut model, write),
                }),
                Event::Checkpoint => drop(store.checkpoint().expect("written")),
                Event::Restart => store = reopen(store, &disk),
                // A split that nobody waits for may be lost: rows are compared, not buckets.
                Event::Kill => {
                    disk = disk.kill();
                    inspect(&disk);
                    store = open(&disk);
                }
                Event::Crash(seed) => {
                    disk = disk.crash(*seed);
                    inspect(&disk);
                    store = open(&disk);
                }
            }
            store.check().expect("every invariant holds");
            prop_assert_eq!(found(&store, id), model.clone());
        }
        // Snapshots of stores that were closed go on reading what they have.
        for (snapshot, model) in &kept {
            prop_assert_eq!(&contents(&table_at(snapshot, id)), model);
        }
    }

    /// The commands of a store, applied to another one that compacts at other times and has other
    /// snapshots in use, give the same state: what a replica does.
    #[test]
    fn a_replica_with_its_own_compactions_and_snapshots_has_the_same_state(
        steps in prop::collection::vec(steps(), 1..40),
        theirs in prop::collection::vec(0u8..4, 0..200),
    ) {
        let store = Store::open(quiet());
        store.machine().log.recorded = Some(Vec::new());
        let id = create(&store);
        let (mut model, mut kept) = (Model::new(), Vec::new());
        for step in steps.iter().flatten() {
            match step {
                Step::Compact => store.compact_all(),
                Step::KeepSnapshot => kept.push(store.snapshot()),
                Step::DropSnapshot => drop(kept.pop()),
                write => take(&store, id, &mut model, write),
            }
        }
        let commands = store.machine().log.recorded.take().expect("recorded");
        let replica = Store::open(quiet());
        let mut theirs = theirs.into_iter();
        let mut held = Vec::new();
        for command in commands {
            replica.machine().commit_unlogged(command);
            match theirs.next() {
                Some(0) => replica.compact_without_commands(),
                Some(1) => held.push(replica.snapshot()),
                Some(2) => drop(held.pop()),
                _ => {}
            }
        }
        replica.check().expect("every invariant holds");
        prop_assert_eq!(digest(&replica), digest(&store));
    }
}

impl Store {
    /// Compacts all buckets, and neither splits nor merges them.
    fn compact_without_commands(&self) {
        let head = Arc::clone(self.machine().head());
        for (id, file) in &head.files {
            let Some(table) = head.catalog.table_by_id(*id) else { continue };
            for (_, tile) in file.directory().iter() {
                let Some(bucket) = tile.owned() else { continue };
                let horizon = self.snapshots().horizon();
                let folded = bucket::compaction::fold(table, bucket, horizon).expect("folded");
                if let Some(folded) = folded {
                    self.machine().change_bucket(file, bucket, |state| folded.install(state));
                }
            }
        }
    }
}
