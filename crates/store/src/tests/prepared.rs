//! Commits at timestamps assigned by the cluster, in any order.

use super::*;
use crate::test_tables::rows;
use crate::{Error, Prepared, Transaction};
use futures::FutureExt;
use sdds::Timestamp;

/// A store of a cluster with a table that has the row (0, "zero") at timestamp 10.
fn cluster_store() -> (Arc<Store>, TableId) {
    let (store, id) = store_with(4 << 10, Options { in_cluster: true, ..quiet() });
    write(&store, id, Timestamp(1), &[(0, "zero")]).commit(Timestamp(10));
    (store, id)
}

fn begin(store: &Arc<Store>, at: Timestamp) -> Transaction {
    let snapshot = store.snapshot_at(at).now_or_never().expect("nobody is prepared");
    store.begin_at(snapshot)
}

fn write(store: &Arc<Store>, id: TableId, at: Timestamp, pairs: &[(i64, &str)]) -> Prepared {
    let mut transaction = begin(store, at);
    transaction.upsert(id, &rows(pairs)).expect("staged");
    transaction.prepare().expect("nobody else wrote").expect("it has writes")
}

fn refused(store: &Arc<Store>, id: TableId, at: Timestamp, pairs: &[(i64, &str)]) -> Error {
    let mut transaction = store.begin_at(store.snapshots().take_at(at));
    transaction.upsert(id, &rows(pairs)).expect("staged");
    transaction.prepare().expect_err("somebody else wrote")
}

#[test]
fn a_prepared_transaction_is_seen_by_nobody_until_it_is_committed() {
    let (store, id) = cluster_store();
    let prepared = write(&store, id, Timestamp(10), &[(1, "one")]);
    assert_eq!(contents(&table_at(&store.snapshot(), id)).len(), 1);
    prepared.commit(Timestamp(20));
    assert_eq!(contents(&table_at(&store.snapshot(), id)).len(), 2);
    let before = store.snapshot_at(Timestamp(19)).now_or_never().expect("settled");
    assert_eq!((before.timestamp(), contents(&table_at(&before, id)).len()), (Timestamp(19), 1));
    store.check().expect("every invariant holds");
}

#[test]
fn dropping_a_prepared_transaction_undoes_it_and_frees_its_rows() {
    let (store, id) = cluster_store();
    drop(write(&store, id, Timestamp(10), &[(1, "one")]));
    write(&store, id, Timestamp(10), &[(1, "other")]).commit(Timestamp(20));
    assert_eq!(contents(&table_at(&store.snapshot(), id))[&1], "other");
    store.check().expect("every invariant holds");
}

#[test]
fn a_prepared_transaction_blocks_later_readers_and_no_earlier_ones() {
    let (store, id) = cluster_store();
    store.observe(Timestamp(15));
    let prepared = write(&store, id, Timestamp(10), &[(1, "one")]);
    assert!(store.snapshot_at(Timestamp(15)).now_or_never().is_some(), "it commits after 15");
    let mut later = Box::pin(store.snapshot_at(Timestamp(20)));
    assert!((&mut later).now_or_never().is_none(), "it may commit at 18");
    prepared.commit(Timestamp(18));
    let later = later.now_or_never().expect("it is decided");
    assert_eq!(contents(&table_at(&later, id)).len(), 2);
    let prepared = write(&store, id, Timestamp(20), &[(2, "two")]);
    let mut later = Box::pin(store.snapshot_at(Timestamp(30)));
    assert!((&mut later).now_or_never().is_none());
    drop(prepared);
    assert!(later.now_or_never().is_some(), "it is undone");
}

#[test]
fn two_transactions_that_write_one_row_are_not_both_prepared() {
    let (store, id) = cluster_store();
    let _first = write(&store, id, Timestamp(10), &[(1, "one"), (2, "two")]);
    let error = refused(&store, id, Timestamp(10), &[(2, "two"), (3, "three")]);
    let Error::Conflict { key, .. } = &error else { panic!("{error}") };
    assert!(error.is_retryable() && key == "(key)=(2)", "{key}");
    let mut load = store.begin_at(store.snapshots().take_at(Timestamp(10)));
    let mut part = load.ingest(id).expect("a table");
    part.append(rows(&[(2, "two"), (4, "four")])).expect("taken");
    load.finish_ingest(id, vec![part]).expect("staged");
    assert!(matches!(load.prepare(), Err(Error::Conflict { .. })), "a run meets a row");
    let mut local = store.begin_at(store.snapshots().take_at(Timestamp(10)));
    local.delete(id, &[key_of(1)]).expect("staged");
    assert!(matches!(local.commit(), Err(Error::Conflict { .. })), "a commit on one server too");
}

#[test]
fn a_change_of_the_catalog_and_a_prepared_write_refuse_each_other() {
    let (store, id) = cluster_store();
    let truncate = || {
        let mut transaction = store.begin_at(store.snapshots().take_at(Timestamp(10)));
        transaction.change_catalog(CatalogChange::Truncate(id)).expect("a table");
        transaction.prepare()
    };
    let held = write(&store, id, Timestamp(10), &[(1, "one")]);
    assert!(matches!(truncate(), Err(Error::SchemaConflict { .. })));
    drop(held);
    let held = truncate().expect("nobody writes");
    let error = refused(&store, id, Timestamp(10), &[(2, "two")]);
    assert!(matches!(error, Error::SchemaConflict { .. }), "{error}");
    assert!(matches!(truncate(), Err(Error::SchemaConflict { .. })), "one at a time");
    held.expect("it has changes").commit(Timestamp(20));
    assert!(contents(&table_at(&store.snapshot(), id)).is_empty());
    store.check().expect("every invariant holds");
}

#[test]
fn commits_of_different_rows_come_in_any_order() {
    let (store, id) = cluster_store();
    let (first, second) = (
        write(&store, id, Timestamp(10), &[(1, "one")]),
        write(&store, id, Timestamp(0), &[(2, "two")]),
    );
    second.commit(Timestamp(30));
    assert_eq!(store.snapshot().timestamp(), Timestamp(30));
    first.commit(Timestamp(20));
    assert_eq!(store.snapshot().timestamp(), Timestamp(30));
    let at = |timestamp: u64| {
        let snapshot = store.snapshot_at(Timestamp(timestamp)).now_or_never().expect("settled");
        contents(&table_at(&snapshot, id)).into_keys().collect::<Vec<_>>()
    };
    assert_eq!((at(10), at(20), at(30)), (vec![0], vec![0, 1], vec![0, 1, 2]));
    store.compact_all();
    assert_eq!((at(10), at(20), at(30)), (vec![0], vec![0, 1], vec![0, 1, 2]));
    store.check().expect("every invariant holds");
}

async fn newest(store: &Store, id: TableId, range: &KeyRange) -> Snapshot {
    let snapshot = |observed| store.snapshots().take_from(observed);
    store.holds().unless_prepared(id, range, snapshot).await
}

#[test]
fn the_newest_of_a_row_waits_for_who_has_prepared_it_and_for_nobody_else() {
    let (store, id) = cluster_store();
    let (first, second) = (KeyRange::point(&key_of(1)), KeyRange::point(&key_of(2)));
    let newest = |range| newest(&store, id, range);
    let prepared = write(&store, id, Timestamp(10), &[(1, "one")]);
    assert!(newest(&second).now_or_never().is_some(), "nobody writes it");
    let mut waiting = Box::pin(newest(&first));
    assert!((&mut waiting).now_or_never().is_none());
    // It commits before the change of another row that arrived here first.
    write(&store, id, Timestamp(10), &[(2, "two")]).commit(Timestamp(30));
    assert!((&mut waiting).now_or_never().is_none());
    prepared.commit(Timestamp(20));
    let snapshot = waiting.now_or_never().expect("it is decided");
    assert_eq!(snapshot.timestamp(), Timestamp(30));
    assert_eq!(contents(&table_at(&snapshot, id))[&1], "one");
}

#[test]
fn who_changes_the_newest_of_a_row_meets_whoever_prepares_it_later() {
    let (store, id) = cluster_store();
    store.observe(Timestamp(40));
    let range = KeyRange::point(&key_of(1));
    let snapshot = newest(&store, id, &range).now_or_never().expect("nobody writes it");
    assert_eq!(snapshot.timestamp(), Timestamp(40), "as late as anybody has seen");
    let mut transaction = store.begin_at(snapshot);
    transaction.upsert(id, &rows(&[(1, "mine")])).expect("staged");
    write(&store, id, Timestamp(10), &[(1, "theirs")]).commit(Timestamp(41));
    let refused = transaction.prepare().expect_err("it was changed since");
    assert!(matches!(refused, Error::Conflict { .. }), "{refused}");
}

/// Compaction made a run with the timestamp of the horizon. A transaction that was prepared and committed before that was
/// then older than the run of its rows, and its bucket could not be moved any more.
#[test]
fn compaction_leaves_room_for_what_is_prepared() {
    let (store, id) = cluster_store();
    let prepared = write(&store, id, Timestamp(10), &[(0, "new")]);
    store.observe(Timestamp(30));
    store.set_horizon(Timestamp(30));
    store.compact_all();
    prepared.commit(Timestamp(20));
    store.check().expect("every invariant holds");
    store.compact_all();
    store.check().expect("every invariant holds");
    let later = store.snapshot_at(Timestamp(30)).now_or_never().expect("settled");
    assert_eq!(contents(&table_at(&later, id))[&0], "new");
}
