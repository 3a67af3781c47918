//! Several stores with parts of one table against a plain map: distributed transactions that are
//! prepared and committed in any order, moves, compaction, and reads at old snapshots.

use super::moves;
use super::*;
use crate::test_tables::rows as as_batch;
use crate::{Error, Prepared};
use futures::FutureExt;
use proptest::prelude::*;
use sdds::{Bound, ServerId, Timestamp};
use std::collections::BTreeSet;

const STORES: usize = 3;

#[derive(Debug, Clone)]
enum Step {
    /// Upserts, or deletes for even values; whether to commit immediately.
    Write(BTreeMap<i64, u8>, bool),
    Load(BTreeSet<i64>, bool),
    /// Commits a prepared transaction, or rolls it back.
    Decide(u8, bool),
    /// Keys, to where, what is written meanwhile, and whether it is cancelled in the end.
    Move(i64, i64, usize, BTreeMap<i64, u8>, bool),
    Compact,
    KeepSnapshot,
    DropSnapshot,
}

fn keys() -> impl Strategy<Value = i64> {
    -60i64..60
}

fn pairs() -> impl Strategy<Value = BTreeMap<i64, u8>> {
    prop::collection::btree_map(keys(), any::<u8>(), 1..25)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (pairs(), any::<bool>()).prop_map(|(pairs, now)| Step::Write(pairs, now)),
        2 => (prop::collection::btree_set(keys(), 1..40), any::<bool>())
            .prop_map(|(keys, now)| Step::Load(keys, now)),
        3 => (any::<u8>(), prop::bool::weighted(0.8)).prop_map(|(which, c)| Step::Decide(which, c)),
        4 => (keys(), 1i64..80, 0..STORES, pairs(), prop::bool::weighted(0.2))
            .prop_map(|(low, width, to, pairs, up)| Step::Move(low, low + width, to, pairs, up)),
        2 => Just(Step::Compact),
        1 => Just(Step::KeepSnapshot),
        1 => Just(Step::DropSnapshot),
    ]
}

type Model = BTreeMap<i64, String>;

/// A transaction that is prepared on the stores where it has written.
struct Pending {
    /// Assigned when it was prepared, like the root does.
    timestamp: Timestamp,
    keys: BTreeSet<i64>,
    /// Its effect on the rows.
    rows: BTreeMap<i64, Option<String>>,
    parts: Vec<(usize, Prepared)>,
}

struct World {
    stores: Vec<Arc<Store>>,
    id: TableId,
    clock: u64,
    /// The committed changes by timestamp and key.
    commits: BTreeMap<Timestamp, BTreeMap<i64, Option<String>>>,
    pending: Vec<Pending>,
    kept: Vec<(Timestamp, Vec<Snapshot>)>,
    horizon: Timestamp,
}

impl World {
    fn new() -> Self {
        let options = |server| Options { server: ServerId(server), in_cluster: true, ..quiet() };
        let (first, id) = store_with(4 << 10, options(0));
        let mut stores = vec![first];
        for server in 1..STORES as u64 {
            let store = Store::open(options(server));
            store.install(&stores[0].catalog(), Timestamp(1)).expect("in memory");
            stores.push(store);
        }
        let (commits, pending, kept) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { stores, id, clock: 1, commits, pending, kept, horizon: Timestamp(1) }
    }

    fn model(&self, at: Timestamp) -> Model {
        let mut model = Model::new();
        for (key, row) in self.commits.range(..=at).flat_map(|(_, rows)| rows) {
            match row {
                Some(value) => drop(model.insert(*key, value.clone())),
                None => drop(model.remove(key)),
            }
        }
        model
    }

    fn owner(&self, key: i64) -> usize {
        let key = key_of(key);
        let owns = |store: &&Arc<Store>| store.owned(self.id).iter().any(|r| r.contains(&key));
        let owners: Vec<usize> = (0..STORES).filter(|index| owns(&&self.stores[*index])).collect();
        assert_eq!(owners.len(), 1, "each key has one owner");
        owners[0]
    }

    /// The newest timestamp at which no prepared transaction blocks readers.
    fn readable(&self) -> Timestamp {
        let first = self.pending.iter().map(|pending| pending.timestamp.0).min();
        Timestamp(first.map_or(self.clock, |first| first - 1))
    }

    /// Prepares writes on their owners. Whether it conflicts must agree with the model.
    fn write(&mut self, rows: BTreeMap<i64, Option<String>>, load: bool) -> Option<Pending> {
        let base = self.readable();
        let before = self.model(base);
        let rows: BTreeMap<_, _> = rows
            .into_iter()
            .filter(|(key, row)| match row {
                Some(_) => !load || !before.contains_key(key),
                None => before.contains_key(key),
            })
            .collect();
        let keys: BTreeSet<i64> = rows.keys().copied().collect();
        if keys.is_empty() {
            return None;
        }
        let newer = self.commits.range(base.next()..).flat_map(|(_, rows)| rows.keys());
        let held = self.pending.iter().flat_map(|pending| &pending.keys);
        let must_conflict = newer.chain(held).any(|key| keys.contains(key));
        let mut parts = Vec::new();
        let mut refused = false;
        for (index, store) in self.stores.iter().enumerate() {
            let own: Vec<_> = rows.iter().filter(|(key, _)| self.owner(**key) == index).collect();
            if own.is_empty() {
                continue;
            }
            let snapshot = store.snapshot_at(base).now_or_never().expect("readable");
            // Otherwise the store would block readers unnecessarily, because it does not know the
            // newest timestamp.
            store.observe(Timestamp(self.clock));
            let mut transaction = store.begin_at(snapshot);
            let puts: Vec<(i64, &str)> =
                own.iter().filter_map(|(key, row)| Some((**key, row.as_deref()?))).collect();
            let gone: Vec<Key> =
                own.iter().filter(|(_, row)| row.is_none()).map(|(key, _)| key_of(**key)).collect();
            if load {
                let mut part = transaction.ingest(self.id).expect("a table");
                part.append(as_batch(&puts)).expect("taken");
                transaction.finish_ingest(self.id, vec![part]).expect("the keys are free");
            } else {
                transaction.upsert(self.id, &as_batch(&puts)).expect("owned");
            }
            transaction.delete(self.id, &gone).expect("owned");
            match transaction.prepare() {
                Ok(part) => parts.push((index, part.expect("it has writes"))),
                Err(error) => {
                    assert!(matches!(error, Error::Conflict { .. }), "{error}");
                    refused = true;
                }
            }
        }
        assert_eq!(refused, must_conflict, "of {keys:?} at {base}");
        if refused {
            return None;
        }
        self.clock += 1;
        Some(Pending { timestamp: Timestamp(self.clock), keys, rows, parts })
    }

    fn decide(&mut self, pending: Pending, commits: bool) {
        if commits {
            self.commits.insert(pending.timestamp, pending.rows);
            pending.parts.into_iter().for_each(|(_, part)| drop(part.commit(pending.timestamp)));
        }
    }

    fn write_step(&mut self, pairs: &BTreeMap<i64, u8>, now: bool) {
        let value = |seed: u8| (seed % 2 == 1).then(|| format!("{seed:03}").repeat(9));
        let rows = pairs.iter().map(|(key, seed)| (*key, value(*seed))).collect();
        let Some(pending) = self.write(rows, false) else { return };
        if now { self.decide(pending, true) } else { self.pending.push(pending) }
    }

    fn load_step(&mut self, keys: &BTreeSet<i64>, now: bool) {
        let rows = keys.iter().map(|key| (*key, Some(format!("loaded {key}").repeat(4))));
        let Some(pending) = self.write(rows.collect(), true) else { return };
        if now { self.decide(pending, true) } else { self.pending.push(pending) }
    }

    fn move_step(
        &mut self,
        range: &KeyRange,
        to: usize,
        meanwhile: &BTreeMap<i64, u8>,
        give_up: bool,
    ) {
        for from in (0..STORES).filter(|from| *from != to) {
            let owned = self.stores[from].owned(self.id);
            for part in owned.iter().filter_map(|owned| owned.intersect(range)) {
                let (mut out, mut incoming) =
                    moves::begin(&self.stores[from], &self.stores[to], self.id, &part);
                for rounds in 0..2 {
                    for piece in out.copy().expect("a table") {
                        incoming.take(piece.expect("written")).expect("well formed");
                    }
                    incoming.end_round().expect("they fit together");
                    let some = |(key, _): &(&i64, &u8)| **key % 2 == rounds;
                    let some = meanwhile.iter().filter(some).map(|(key, seed)| (*key, *seed));
                    self.write_step(&some.collect(), true);
                    self.stores.iter().for_each(|store| store.compact_all());
                }
                let holds = |p: &Pending| p.keys.iter().any(|key| part.contains(&key_of(*key)));
                let is_held = self.pending.iter().any(holds);
                assert_eq!(out.freeze().is_err(), is_held);
                if is_held {
                    continue;
                }
                if give_up {
                    out.thaw();
                    continue;
                }
                for piece in out.rest().expect("a table") {
                    incoming.take(piece.expect("written")).expect("well formed");
                }
                incoming.adopt(0).expect("free");
                out.finish();
            }
        }
    }

    fn keep_snapshot(&mut self) {
        let at = self.readable();
        let take = |store: &Arc<Store>| store.snapshot_at(at).now_or_never().expect("readable");
        self.kept.push((at, self.stores.iter().map(take).collect()));
    }

    fn compact(&mut self) {
        let kept = self.kept.iter().map(|(at, _)| *at).min();
        self.horizon = kept.unwrap_or(Timestamp(u64::MAX)).min(self.readable()).max(self.horizon);
        for store in &self.stores {
            store.set_horizon(self.horizon);
            store.compact_all();
        }
    }

    fn check(&self) {
        let all = self.stores.iter().flat_map(|store| store.owned(self.id));
        let mut tiles: Vec<KeyRange> = all.collect();
        tiles.sort_by(|a, b| a.low.cmp(&b.low));
        assert_eq!(tiles[0].low, Bound::NegInf);
        assert_eq!(tiles[tiles.len() - 1].high, Bound::PosInf);
        assert!(tiles.windows(2).all(|pair| pair[0].high == pair[1].low), "{tiles:?}");
        if self.pending.is_empty() {
            self.stores.iter().for_each(|store| store.check().expect("every invariant holds"));
        }
        for (at, snapshots) in &self.kept {
            self.check_read(*at, snapshots);
        }
        for at in [self.horizon, self.readable()] {
            let take = |store: &Arc<Store>| store.snapshot_at(at).now_or_never().expect("readable");
            self.check_read(at, &self.stores.iter().map(take).collect::<Vec<_>>());
        }
        for pending in &self.pending {
            for (index, _) in &pending.parts {
                let read = self.stores[*index].snapshot_at(pending.timestamp).now_or_never();
                assert!(read.is_none(), "a reader waits for what is prepared");
            }
        }
    }

    fn check_read(&self, at: Timestamp, snapshots: &[Snapshot]) {
        let mut found = Model::new();
        for (store, snapshot) in self.stores.iter().zip(snapshots) {
            for range in store.owned(self.id) {
                found.extend(contents_of(&table_at(snapshot, self.id), &range));
            }
        }
        assert_eq!(found, self.model(at), "at {at}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]
    #[test]
    fn several_stores_are_one_map_at_every_snapshot(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let mut world = World::new();
        for step in &steps {
            match step {
                Step::Write(pairs, now) => world.write_step(pairs, *now),
                Step::Load(keys, now) => world.load_step(keys, *now),
                Step::Decide(which, commits) if !world.pending.is_empty() => {
                    let index = usize::from(*which) % world.pending.len();
                    let pending = world.pending.remove(index);
                    world.decide(pending, *commits);
                }
                Step::Decide(..) => {}
                Step::Move(low, high, to, meanwhile, give_up) => {
                    let range = super::moves::between(*low, *high);
                    world.move_step(&range, *to, meanwhile, *give_up);
                }
                Step::Compact => world.compact(),
                Step::KeepSnapshot => world.keep_snapshot(),
                Step::DropSnapshot => drop(world.kept.pop()),
            }
            world.check();
        }
    }
}
