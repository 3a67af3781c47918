//! A table against a plain map, with random inserts, updates, deletes, loads, splits, merges,
//! compactions, savepoints, and reads at old snapshots.

use super::*;
use crate::test_tables::rows;
use crate::{Error, Transaction};
use proptest::prelude::*;

#[derive(Debug, Clone)]
pub(super) enum Step {
    Insert(Vec<(i64, u8)>),
    Upsert(Vec<(i64, u8)>),
    Delete(Vec<i64>),
    Load(Vec<(i64, u8)>),
    RolledBack(Vec<(i64, u8)>),
    Undone(Vec<(i64, u8)>),
    Compact,
    KeepSnapshot,
    DropSnapshot,
}

fn keys() -> impl Strategy<Value = i64> {
    -200i64..200
}

fn some_rows() -> impl Strategy<Value = Vec<(i64, u8)>> {
    prop::collection::vec((keys(), any::<u8>()), 1..60)
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => some_rows().prop_map(Step::Insert),
        3 => some_rows().prop_map(Step::Upsert),
        3 => prop::collection::vec(keys(), 1..80).prop_map(Step::Delete),
        3 => some_rows().prop_map(Step::Load),
        1 => some_rows().prop_map(Step::RolledBack),
        1 => some_rows().prop_map(Step::Undone),
        2 => Just(Step::Compact),
        1 => Just(Step::KeepSnapshot),
        1 => Just(Step::DropSnapshot),
    ]
}

fn value(seed: u8) -> String {
    format!("{seed:03}").repeat(usize::from(seed % 7))
}

fn as_batch(pairs: &[(i64, u8)]) -> arrow::array::RecordBatch {
    let values: Vec<(i64, String)> = pairs.iter().map(|(k, v)| (*k, value(*v))).collect();
    let borrowed: Vec<(i64, &str)> = values.iter().map(|(k, v)| (*k, v.as_str())).collect();
    rows(&borrowed)
}

pub(super) type Model = BTreeMap<i64, String>;

fn apply_all(model: &mut Model, pairs: &[(i64, u8)]) {
    model.extend(pairs.iter().map(|(k, v)| (*k, value(*v))));
}

fn has_duplicates(model: &Model, pairs: &[(i64, u8)]) -> bool {
    let distinct: std::collections::BTreeSet<i64> = pairs.iter().map(|(k, _)| *k).collect();
    distinct.len() < pairs.len() || distinct.iter().any(|k| model.contains_key(k))
}

fn load(transaction: &mut Transaction, id: TableId, pairs: &[(i64, u8)]) -> Result<u64, Error> {
    let (left, right) = pairs.split_at(pairs.len() / 2);
    let mut parts = Vec::new();
    for half in [left, right] {
        let mut part = transaction.ingest(id)?;
        if !half.is_empty() {
            part.append(as_batch(half))?;
        }
        parts.push(part);
    }
    transaction.finish_ingest(id, parts)
}

/// Applies a step to store and model. Both must refuse the same writes.
pub(super) fn take(store: &Arc<Store>, id: TableId, model: &mut Model, step: &Step) {
    let mut transaction = store.begin();
    match step {
        Step::Insert(pairs) | Step::Load(pairs) => {
            let result = match step {
                Step::Insert(_) => transaction.insert(id, &as_batch(pairs)),
                _ => load(&mut transaction, id, pairs).map(drop),
            };
            assert_eq!(result.is_err(), has_duplicates(model, pairs), "{result:?}");
            if result.is_err() {
                return;
            }
            apply_all(model, pairs);
        }
        Step::Upsert(pairs) => {
            transaction.upsert(id, &as_batch(pairs)).expect("upserted");
            apply_all(model, pairs);
        }
        Step::Delete(keys) => {
            let gone: Vec<Key> = keys.iter().map(|key| key_of(*key)).collect();
            transaction.delete(id, &gone).expect("deleted");
            keys.iter().for_each(|key| drop(model.remove(key)));
        }
        Step::RolledBack(pairs) => {
            transaction.upsert(id, &as_batch(pairs)).expect("upserted");
            return;
        }
        Step::Undone(pairs) => {
            let (kept, undone) = pairs.split_at(pairs.len() / 2);
            transaction.upsert(id, &as_batch(kept)).expect("upserted");
            let savepoint = transaction.savepoint();
            transaction.upsert(id, &as_batch(undone)).expect("upserted");
            transaction.rollback_to(&savepoint);
            apply_all(model, kept);
        }
        Step::Compact | Step::KeepSnapshot | Step::DropSnapshot => unreachable!("not a write"),
    }
    let own = transaction.table(id).expect("the table exists");
    assert_eq!(contents(&own), *model, "a transaction sees its own writes");
    transaction.commit().expect("nobody else writes");
}

fn check_reads(view: &TableView, model: &Model, low: i64, high: i64) {
    assert_eq!(contents(view), *model);
    for key in low..high {
        let found = view
            .get(&key_of(key), &[1])
            .expect("owned here")
            .map(|v| v[0].as_string_view().value(0).to_owned());
        assert_eq!(found.as_ref(), model.get(&key), "key {key}");
    }
    let bound = |key: i64| sdds::Bound::At(key_of(key));
    if let Some(range) = KeyRange::new(bound(low), bound(high)) {
        let expected: Model = model.range(low..high).map(|(k, v)| (*k, v.clone())).collect();
        assert_eq!(contents_of(view, &range), expected, "range {low}..{high}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]
    #[test]
    fn a_table_is_a_map_at_every_snapshot(
        steps in prop::collection::vec(step(), 1..40),
        low in keys(),
        width in 0i64..50,
    ) {
        let (store, id) = store_with(4 << 10, quiet());
        let mut model = Model::new();
        let mut kept: Vec<(Snapshot, Model)> = Vec::new();
        for step in &steps {
            match step {
                Step::Compact => store.compact_all(),
                Step::KeepSnapshot => kept.push((store.snapshot(), model.clone())),
                Step::DropSnapshot => drop(kept.pop()),
                write => take(&store, id, &mut model, write),
            }
            store.check().expect("every invariant holds");
            let now = store.snapshot();
            check_reads(&table_at(&now, id), &model, low, low + width);
            if let Some(rows) = table_at(&now, id).row_count() {
                prop_assert_eq!(rows as usize, model.len());
            }
        }
        for (snapshot, model) in &kept {
            check_reads(&table_at(snapshot, id), model, low, low + width);
        }
    }
}
