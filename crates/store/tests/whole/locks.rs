//! Transactions that lock what they write, and those that do not.

use super::*;
use crate::test_tables::rows;
use futures::FutureExt;
use sdds::ServerId;
use store::locks::{Mode, Party};
use store::{Error, LockPolicy, RowLocks, Transaction};

fn party(number: u64) -> Party {
    Party { server: ServerId(0), number }
}

fn begin(store: &Arc<Store>, number: u64) -> Transaction {
    let mut transaction = store.begin();
    transaction.lock_rows(party(number));
    transaction
}

fn store_of_rows() -> (Arc<Store>, TableId) {
    let (store, id) = store_with(64 << 10, quiet());
    let mut setup = store.begin();
    setup.insert(id, &rows(&[(1, "one"), (2, "two")])).expect("inserted");
    setup.commit().expect("committed");
    (store, id)
}

#[test]
fn a_write_waits_for_the_writer_of_its_row_and_then_learns_of_the_change() {
    let (store, id) = store_of_rows();
    let (mut first, mut second) = (begin(&store, 1), begin(&store, 2));
    first.upsert(id, &rows(&[(1, "first")])).expect("nobody has it");
    let locked = second.upsert(id, &rows(&[(1, "second")]));
    assert!(matches!(locked, Err(Error::Locked { .. })));
    let wait = second.take_wait().expect("it waits");
    assert_eq!(store.waits(), [(party(2), party(1))]);
    first.commit().expect("committed");
    wait.granted(None).now_or_never().expect("granted").expect("in time");
    let changed = second.upsert(id, &rows(&[(1, "second")]));
    assert!(matches!(changed, Err(Error::Conflict { .. })), "the row has changed");
    assert!(second.refresh(store.snapshot()).expect("no loads"));
    second.upsert(id, &rows(&[(1, "second")])).expect("it has the lock");
    second.commit().expect("committed");
    assert!(!store.has_locks());
}

#[test]
fn a_rollback_lets_the_next_writer_on_without_a_conflict() {
    let (store, id) = store_of_rows();
    let (mut first, mut second) = (begin(&store, 1), begin(&store, 2));
    first.delete(id, &[key_of(1)]).expect("nobody has it");
    assert!(matches!(second.delete(id, &[key_of(1)]), Err(Error::Locked { .. })));
    drop(first);
    second.delete(id, &[key_of(1)]).expect("it has the lock, and nothing has changed");
    second.commit().expect("committed");
}

#[test]
fn a_commit_without_locks_is_refused_while_another_has_the_row() {
    let (store, id) = store_of_rows();
    let mut holder = begin(&store, 1);
    let keys = vec![key_of(1)];
    let share = RowLocks { keys, mode: Mode::ForKeyShare, policy: LockPolicy::Wait };
    assert_eq!(holder.lock_selected(id, &share).expect("free"), [true]);
    let mut update = store.begin();
    update.upsert(id, &rows(&[(1, "new")])).expect("it locks nothing");
    update.commit().expect("the key stays");
    let mut delete = store.begin();
    delete.delete(id, &[key_of(1)]).expect("it locks nothing");
    assert!(matches!(delete.commit(), Err(Error::Conflict { .. })));
    drop(holder);
    let mut delete = store.begin();
    delete.delete(id, &[key_of(1)]).expect("it locks nothing");
    delete.commit().expect("nobody has it");
}

#[test]
fn waiting_in_a_circle_is_refused() {
    let (store, id) = store_of_rows();
    let (mut first, mut second) = (begin(&store, 1), begin(&store, 2));
    first.upsert(id, &rows(&[(1, "first")])).expect("nobody has it");
    second.upsert(id, &rows(&[(2, "second")])).expect("nobody has it");
    assert!(matches!(first.upsert(id, &rows(&[(2, "first")])), Err(Error::Locked { .. })));
    let wait = first.take_wait().expect("it waits");
    let Err(Error::Failed(failure)) = second.upsert(id, &rows(&[(1, "second")])) else {
        panic!("a circle")
    };
    assert_eq!(failure.sql_state, "40P01");
    drop(second);
    wait.granted(None).now_or_never().expect("granted").expect("in time");
    first.upsert(id, &rows(&[(2, "first")])).expect("it has the lock");
    first.commit().expect("committed");
}

#[test]
fn locks_since_a_savepoint_are_given_back() {
    let (store, id) = store_of_rows();
    let (mut first, mut second) = (begin(&store, 1), begin(&store, 2));
    first.upsert(id, &rows(&[(1, "first")])).expect("nobody has it");
    let before = first.savepoint();
    first.upsert(id, &rows(&[(2, "first")])).expect("nobody has it");
    first.rollback_to(&before);
    first.release_to(&before);
    second.upsert(id, &rows(&[(2, "second")])).expect("nobody has it any more");
    assert!(matches!(second.upsert(id, &rows(&[(1, "second")])), Err(Error::Locked { .. })));
}

#[test]
fn a_serializable_transaction_is_refused_if_what_it_has_read_has_changed() {
    let (store, id) = store_of_rows();
    let skewed = || {
        let mut transaction = store.begin();
        transaction.validate_reads();
        assert!(transaction.reading(None).table(id).is_some());
        transaction
    };
    let (mut first, mut second, reader) = (skewed(), skewed(), skewed());
    first.upsert(id, &rows(&[(1, "first")])).expect("written");
    second.upsert(id, &rows(&[(2, "second")])).expect("written");
    first.commit().expect("the first");
    assert!(matches!(second.commit(), Err(Error::Unserializable)));
    reader.commit().expect("it has written nothing");
}
