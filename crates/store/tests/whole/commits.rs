//! What commits change, and which commits are refused.

use super::*;
use crate::test_tables::rows;
use store::Error;

#[test]
fn the_first_committer_wins_and_the_other_learns_table_and_key() {
    let (store, id) = store_with(64 << 10, quiet());
    let (mut first, mut second) = (store.begin(), store.begin());
    first.insert(id, &rows(&[(1, "first")])).expect("no such key");
    second.insert(id, &rows(&[(1, "second")])).expect("no such key in its snapshot");
    first.commit().expect("first");
    let error = second.commit().expect_err("second");
    assert!(error.is_retryable());
    let Error::Conflict { table, key } = error else { panic!("{error}") };
    assert_eq!((table.as_str(), key.as_str()), ("t", "(key)=(1)"));
    assert_eq!(store.counters().conflicts, 1);
}

#[test]
fn writers_of_different_rows_do_not_meet() {
    let (store, id) = store_with(64 << 10, quiet());
    let (mut first, mut second) = (store.begin(), store.begin());
    first.insert(id, &rows(&[(1, "one")])).expect("inserted");
    second.insert(id, &rows(&[(2, "two")])).expect("inserted");
    first.commit().expect("first");
    second.commit().expect("second");
    assert_eq!(contents(&table_at(&store.snapshot(), id)).len(), 2);
}

#[test]
fn a_load_conflicts_with_a_row_written_meanwhile() {
    let (store, id) = store_with(64 << 10, quiet());
    let mut load = store.begin();
    let mut part = load.ingest(id).expect("a table");
    part.append(rows(&[(1, "a"), (2, "b"), (3, "c")])).expect("taken");
    load.finish_ingest(id, vec![part]).expect("no duplicates");
    let mut single = store.begin();
    single.insert(id, &rows(&[(2, "x")])).expect("inserted");
    single.commit().expect("first");
    assert!(matches!(load.commit(), Err(Error::Conflict { .. })));
    assert_eq!(contents(&table_at(&store.snapshot(), id)).len(), 1);
}

#[test]
fn a_deleted_key_can_be_loaded_again_before_and_after_compaction() {
    let (store, id) = store_with(64 << 10, quiet());
    for round in ["first", "second", "third"] {
        let mut transaction = store.begin();
        let mut part = transaction.ingest(id).expect("a table");
        part.append(rows(&[(1, round), (2, round)])).expect("taken");
        transaction.finish_ingest(id, vec![part]).expect("the keys are free");
        transaction.commit().expect("committed");
        assert_eq!(contents(&table_at(&store.snapshot(), id))[&2], round);
        let mut transaction = store.begin();
        transaction.delete(id, &[key_of(1), key_of(2)]).expect("deleted");
        transaction.commit().expect("committed");
        if round == "second" {
            store.compact_all();
        }
        store.check().expect("every invariant holds");
    }
}

#[test]
fn a_change_of_the_definition_refuses_writers_that_began_before() {
    let (store, id) = store_with(64 << 10, quiet());
    let mut writer = store.begin();
    writer.insert(id, &rows(&[(1, "one")])).expect("inserted");
    let mut change = store.begin();
    let mut table = Table::clone(change.catalog().table_by_id(id).expect("the table"));
    table.version += 1;
    table.name = "renamed".to_owned();
    change
        .change_catalog(CatalogChange::Replace(Relation::Table(Arc::new(table))))
        .expect("renamed");
    change.commit().expect("committed");
    assert!(matches!(writer.commit(), Err(Error::SchemaConflict { .. })));
}

#[test]
fn truncation_is_seen_by_later_snapshots_only() {
    let (store, id) = store_with(64 << 10, quiet());
    let mut transaction = store.begin();
    transaction.insert(id, &rows(&[(1, "one")])).expect("inserted");
    transaction.commit().expect("committed");
    let before = store.snapshot();
    let mut transaction = store.begin();
    transaction.change_catalog(CatalogChange::Truncate(id)).expect("truncated");
    assert!(contents(&transaction.table(id).expect("the table")).is_empty());
    transaction.insert(id, &rows(&[(7, "seven")])).expect("inserted");
    transaction.commit().expect("committed");
    assert_eq!(contents(&table_at(&before, id)).len(), 1);
    assert_eq!(contents(&table_at(&store.snapshot(), id)), [(7, "seven".to_owned())].into());
    store.check().expect("every invariant holds");
}

#[test]
fn a_big_load_becomes_many_buckets_and_small_neighbours_merge_again() {
    let (store, id) = store_with(64 << 10, quiet());
    let mut transaction = store.begin();
    let mut part = transaction.ingest(id).expect("a table");
    let text = "a text that is longer than a view holds";
    for start in (0..100_000i64).step_by(10_000) {
        let batch: Vec<(i64, &str)> = (start..start + 10_000).map(|key| (key, text)).collect();
        part.append(rows(&batch)).expect("taken");
    }
    assert_eq!(transaction.finish_ingest(id, vec![part]).expect("loaded"), 100_000);
    transaction.commit().expect("committed");
    store.check().expect("every invariant holds");
    let full = store.bucket_infos(id).len();
    assert!(full > 64, "{full} buckets");
    let gone: Vec<Key> = (0..99_000).map(key_of).collect();
    let mut transaction = store.begin();
    transaction.delete(id, &gone).expect("deleted");
    transaction.commit().expect("committed");
    (0..12).for_each(|_| store.compact_all());
    store.check().expect("every invariant holds");
    let left = store.bucket_infos(id).len();
    assert!(left <= 4, "{left} of {full} buckets are left for 1 % of the rows");
    assert_eq!(contents(&table_at(&store.snapshot(), id)).len(), 1000);
}
