//! Two servers of a cluster that lose power after any step: transactions and moves over both happen, or do not.

use super::*;
use futures::executor::block_on;
use sdds::{Bound, GroupId, MoveId, ServerId, Timestamp, TransactionId};
use store::{MoveIn, MoveOut, Prepared};

const ID: TransactionId = TransactionId { coordinator: ServerId(0), number: 7 };
const OUTCOME: &str = "outcome";
const SEEDS: u64 = 6;

/// Two stores with one table. The second owns the keys from 50 on.
struct Pair {
    stores: [Arc<Store>; 2],
    id: TableId,
}

fn open_both(disks: &[MemoryDisk; 2]) -> [Arc<Store>; 2] {
    [0, 1].map(|at| {
        let options = Options { server: ServerId(at as u64), in_cluster: true, ..quiet() };
        let (store, _) = Store::open_durable(&options, data(&disks[at])).expect("it opens");
        store.check().expect("every invariant holds");
        store
    })
}

impl Pair {
    fn new(disks: &[MemoryDisk; 2]) -> Self {
        let stores = open_both(disks);
        let id = create(&stores[0], keyed("t")).expect("created");
        let installed = stores[1].install(&stores[0].catalog(), Timestamp(1)).expect("room");
        block_on(installed.wait()).expect("durable");
        let pair = Self { stores, id };
        let pairs: Vec<(i64, &str)> = (0..100).map(|key| (key, "a value")).collect();
        commit(pair.write(0, &pairs), 10);
        let range = KeyRange::new(Bound::At(key_of(50)), Bound::PosInf).expect("not empty");
        let mut moving = Moving::default();
        (0..Moving::STEPS).for_each(|step| moving.step(&pair, 1, &range, step));
        pair
    }

    /// Opens the stores again, and asks for what the power cut has left open.
    fn restart(disks: &[MemoryDisk; 2]) -> Self {
        let stores = open_both(disks);
        let id = stores[0].catalog().relation("public", "t").expect("there").id();
        let pair = Self { stores, id: TableId(id.0) };
        let committed = pair.stores[0].fact(OUTCOME).map(|value| value[0].into());
        for store in &pair.stores {
            for (transaction, prepared) in store.undecided() {
                assert_eq!(transaction, ID);
                match committed {
                    Some(timestamp) => commit(prepared, timestamp),
                    None => prepared.roll_back(),
                }
            }
        }
        for frozen in pair.stores[0].frozen() {
            let is_adopted = block_on(pair.stores[1].has_adopted(frozen.of)).expect("known");
            pair.stores[0].end_frozen(&frozen, is_adopted).expect("room");
        }
        pair
    }

    fn checkpoint(&self) {
        for store in &self.stores {
            store.checkpoint().expect("room");
        }
    }

    fn write(&self, at: usize, pairs: &[(i64, &str)]) -> Prepared {
        let mut transaction = self.stores[at].begin();
        transaction.upsert(self.id, &rows(pairs)).expect("owned");
        transaction.prepare().expect("alone").expect("writes")
    }

    /// All rows, each from its owner. Every key has one owner.
    fn rows(&self) -> BTreeMap<i64, String> {
        let mut all = BTreeMap::new();
        let mut owned: Vec<KeyRange> = Vec::new();
        for store in &self.stores {
            store.check().expect("every invariant holds");
            let view = table_at(&store.snapshot(), self.id);
            for range in store.owned(self.id) {
                let schema = view.table().arrow_schema();
                for morsel in view.morsels(&range).expect("owned here") {
                    let batch = morsel.read(&[0, 1], &schema).expect("readable");
                    let keys = batch.column(0).as_primitive::<Int64Type>();
                    let values = batch.column(1).as_string_view();
                    for row in 0..batch.num_rows() {
                        let value = values.value(row).to_owned();
                        assert!(all.insert(keys.value(row), value).is_none(), "two owners");
                    }
                }
                owned.push(range);
            }
        }
        owned.sort_by(|a, b| a.low.cmp(&b.low));
        let ends = [&owned[0].low, &owned[owned.len() - 1].high];
        assert_eq!(ends, [&Bound::NegInf, &Bound::PosInf]);
        assert!(owned.windows(2).all(|pair| pair[0].high == pair[1].low), "{owned:?}");
        all
    }
}

fn commit(prepared: Prepared, timestamp: u64) {
    block_on(prepared.commit(Timestamp(timestamp)).wait()).expect("durable");
}

/// What a power cut leaves of two disks.
fn cut(disks: &[MemoryDisk; 2], seed: u64) -> [MemoryDisk; 2] {
    [disks[0].crash(seed), disks[1].crash(seed / 2 + 100)]
}

/// The steps of a commit on both servers. The decision is a fact on the first.
fn commit_in_steps(pair: &Pair, steps: usize) {
    let mut parts: Vec<Prepared> = Vec::new();
    for step in 0..steps {
        match step {
            0 => parts.push(pair.write(0, &[(1, "new")])),
            1 => parts.push(pair.write(1, &[(60, "new"), (61, "new")])),
            2 | 3 => block_on(parts[step - 2].keep(ID)).expect("room"),
            4 => pair.checkpoint(),
            5 => {
                let decided = pair.stores[0].set_fact(OUTCOME, Some(vec![20])).expect("room");
                block_on(decided.wait()).expect("durable");
            }
            _ => commit(parts.remove(0), 20),
        }
    }
    // As at a power cut: nobody tells the parts how they end.
    parts.into_iter().for_each(std::mem::forget);
}

#[test]
fn a_transaction_on_two_servers_commits_on_both_or_on_none() {
    for (steps, seed) in (0..=8).flat_map(|steps| (0..SEEDS).map(move |seed| (steps, seed))) {
        let what = format!("{steps} steps, seed {seed}");
        let disks = [MemoryDisk::new(), MemoryDisk::new()];
        let pair = Pair::new(&disks);
        let before = pair.rows();
        commit_in_steps(&pair, steps);
        let disks = cut(&disks, seed);
        drop(pair);
        let mut expected = before;
        if steps > 5 {
            expected.extend([1, 60, 61].map(|key| (key, "new".to_owned())));
        }
        let pair = Pair::restart(&disks);
        assert_eq!(pair.rows(), expected, "{what}");
        commit(pair.write(0, &[(1, "later")]), 30);
        drop(pair);
        let pair = Pair::restart(&disks);
        assert!(pair.stores.iter().all(|store| store.undecided().is_empty()), "{what}");
        expected.insert(1, "later".to_owned());
        assert_eq!(pair.rows(), expected, "{what}");
    }
}

#[test]
fn rows_of_an_undecided_transaction_are_held_after_a_restart() {
    let disks = [MemoryDisk::new(), MemoryDisk::new()];
    let pair = Pair::new(&disks);
    commit_in_steps(&pair, 4);
    drop(pair);
    let stores = open_both(&cut(&disks, 1));
    let undecided = stores[0].undecided();
    assert_eq!(undecided.len(), 1);
    let id = TableId(stores[0].catalog().relation("public", "t").expect("there").id().0);
    let upsert = |key: i64| {
        let mut transaction = stores[0].begin();
        transaction.upsert(id, &rows(&[(key, "other")])).expect("owned");
        transaction.prepare()
    };
    assert!(matches!(upsert(1), Err(Error::Conflict { .. })));
    assert!(upsert(2).is_ok());
    undecided.into_iter().for_each(|(_, prepared)| prepared.roll_back());
    assert!(upsert(1).is_ok());
}

/// A move in its steps.
#[derive(Default)]
struct Moving {
    out: Option<MoveOut>,
    incoming: Option<MoveIn>,
}

impl Moving {
    const STEPS: usize = 7;

    fn step(&mut self, pair: &Pair, number: u64, range: &KeyRange, step: usize) {
        let of = MoveId { from: GroupId(0), number };
        let [first, second] = &pair.stores;
        match (step, &mut self.out, &mut self.incoming) {
            (0, out, incoming) => {
                *out = Some(first.move_out(of, pair.id, range, GroupId(1)).expect("owned"));
                *incoming = Some(second.move_in(of, pair.id, range).expect("a table"));
            }
            (1, Some(out), Some(incoming)) => {
                for piece in out.copy().expect("a table") {
                    incoming.take(piece.expect("written")).expect("well formed");
                }
                incoming.end_round().expect("they fit together");
            }
            (2, Some(out), _) => block_on(out.reserve()).expect("room"),
            (3, Some(out), _) => {
                let frozen = out.freeze().expect("nobody writes");
                block_on(frozen.wait()).expect("durable");
            }
            (4, Some(out), Some(incoming)) => {
                for piece in out.rest().expect("a table") {
                    incoming.take(piece.expect("written")).expect("well formed");
                }
            }
            (5, _, incoming) => incoming.take().expect("begun").adopt(0).expect("free"),
            (_, out, _) => out.take().expect("begun").finish(),
        }
    }
}

#[test]
fn keys_that_move_have_one_owner_after_a_power_cut() {
    let range = KeyRange::new(Bound::At(key_of(20)), Bound::At(key_of(40))).expect("not empty");
    for (steps, seed) in
        (0..=Moving::STEPS).flat_map(|steps| (0..SEEDS).map(move |seed| (steps, seed)))
    {
        let what = format!("{steps} steps, seed {seed}");
        let disks = [MemoryDisk::new(), MemoryDisk::new()];
        let pair = Pair::new(&disks);
        let before = pair.rows();
        let mut moving = Moving::default();
        (0..steps).for_each(|step| moving.step(&pair, 2, &range, step));
        if seed % 2 == 1 {
            pair.checkpoint();
        }
        let disks = cut(&disks, seed);
        drop((moving, pair));
        let pair = Pair::restart(&disks);
        assert_eq!(pair.rows(), before, "{what}");
        let has_moved = pair.stores[1].owned(pair.id).iter().any(|owned| owned.overlaps(&range));
        assert_eq!(has_moved, steps > 5, "{what}");
        drop(pair);
        let pair = Pair::restart(&disks);
        assert_eq!(pair.rows(), before, "{what}");
        assert!(pair.stores[0].frozen().is_empty(), "{what}");
    }
}
