//! Moves of keys between stores.

use super::*;
use crate::test_tables::rows;
use crate::{Busy, Error, MoveIn, MoveOut};
use bytes::Bytes;
use futures::FutureExt;
use sdds::{Bound, GroupId, MoveId, ServerId, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};

/// Two stores with one table. The first has the rows 0..100, since timestamp 10.
pub(super) fn two_stores() -> (Arc<Store>, Arc<Store>, TableId) {
    let (first, id) = store_with(4 << 10, Options { in_cluster: true, ..quiet() });
    let second = Store::open(Options { server: ServerId(1), in_cluster: true, ..quiet() });
    second.install(&first.catalog(), Timestamp(1)).expect("in memory");
    let pairs: Vec<(i64, &str)> = (0..100).map(|key| (key, "a value of some length")).collect();
    let mut transaction = first.begin();
    let mut part = transaction.ingest(id).expect("a table");
    part.append(rows(&pairs)).expect("taken");
    transaction.finish_ingest(id, vec![part]).expect("no duplicates");
    transaction.prepare().expect("alone").expect("writes").commit(Timestamp(10));
    for (at, value) in [(11, "newer"), (12, "newest")] {
        let mut transaction = first.begin();
        transaction.upsert(id, &rows(&[(50, value)])).expect("staged");
        transaction.delete(id, &[key_of(at)]).expect("staged");
        transaction.prepare().expect("alone").expect("writes").commit(Timestamp(at as u64));
    }
    (first, second, id)
}

pub(super) fn between(low: i64, high: i64) -> KeyRange {
    KeyRange::new(Bound::At(key_of(low)), Bound::At(key_of(high))).expect("not empty")
}

/// The identity of the next move from a store.
pub(super) fn next_move(from: &Store) -> MoveId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    MoveId { from: from.group(), number: NEXT.fetch_add(1, Ordering::Relaxed) }
}

pub(super) fn begin(
    from: &Arc<Store>,
    to: &Arc<Store>,
    id: TableId,
    range: &KeyRange,
) -> (MoveOut, MoveIn) {
    let of = next_move(from);
    let out = from.move_out(of, id, range, to.group()).expect("owned");
    (out, to.move_in(of, id, range).expect("a table"))
}

fn at(store: &Arc<Store>, timestamp: u64) -> Snapshot {
    store.snapshot_at(Timestamp(timestamp)).now_or_never().expect("settled")
}

#[test]
fn a_range_moves_with_all_its_versions() {
    let (first, second, id) = two_stores();
    let range = between(20, 70);
    let (mut out, mut incoming) = begin(&first, &second, id, &range);
    out.copy().expect("a table").for_each(|piece| {
        incoming.take(piece.expect("written")).expect("well formed");
    });
    incoming.end_round().expect("they fit together");
    let mut between_copy_and_freeze = first.begin_at(at(&first, 12));
    between_copy_and_freeze.upsert(id, &rows(&[(60, "late")])).expect("staged");
    assert_eq!(out.freeze().map(drop), Err(Busy::Written), "somebody has written there");
    let prepared = between_copy_and_freeze.prepare().expect("alone").expect("writes");
    assert_eq!(out.freeze().map(drop), Err(Busy::Written), "it may still commit");
    prepared.commit(Timestamp(13));
    let reader = table_at(&at(&first, 13), id).morsels(&range).expect("owned");
    out.freeze().expect("nobody writes");
    assert!(matches!(
        table_at(&at(&first, 13), id).get(&key_of(30), &[1]),
        Err(Error::NotOwned { .. })
    ));
    let mut refused = first.begin_at(at(&first, 13));
    let write = refused.upsert(id, &rows(&[(30, "no")]));
    assert!(matches!(write, Err(Error::NotOwned { .. })) && refused.is_read_only());
    drop(refused);
    out.rest().expect("a table").for_each(|piece| {
        incoming.take(piece.expect("written")).expect("well formed");
    });
    incoming.adopt(0).expect("free");
    out.finish();
    assert_eq!(first.owned(id).len(), 2);
    assert_eq!(second.owned(id), std::slice::from_ref(&range));
    let value = |timestamp: u64, key: i64| {
        let found = table_at(&at(&second, timestamp), id).get(&key_of(key), &[1]).expect("owned");
        found.map(|values| values[0].as_string_view().value(0).to_owned())
    };
    assert_eq!(value(11, 50).as_deref(), Some("newer"));
    assert_eq!(value(12, 50).as_deref(), Some("newest"));
    assert_eq!((value(9, 20), value(12, 60).is_some()), (None, true));
    assert_eq!(value(13, 60).as_deref(), Some("late"));
    let schema = keyed("t").arrow_schema();
    let rows: usize =
        reader.iter().map(|m| m.read(&[0, 1], &schema).expect("read").num_rows()).sum();
    assert_eq!(rows, 50, "who had begun to read goes on");
    first.check().expect("every invariant holds");
    second.check().expect("every invariant holds");
}

/// Sends what has not been sent, and returns the number of rows and versions.
fn round(out: &mut MoveOut, incoming: &mut MoveIn) -> u64 {
    let pieces = out.copy().expect("a table");
    let rows = pieces.rows();
    pieces.for_each(|piece| incoming.take(piece.expect("written")).expect("well formed"));
    incoming.end_round().expect("they fit together");
    rows
}

#[test]
fn what_is_sent_after_the_freeze_is_what_was_written_since_the_last_round() {
    let (first, second, id) = two_stores();
    let upsert = |keys: std::ops::Range<i64>, timestamp: u64| {
        let pairs: Vec<(i64, &str)> = keys.map(|key| (key, "written again")).collect();
        let mut transaction = first.begin_at(at(&first, timestamp - 1));
        transaction.upsert(id, &rows(&pairs)).expect("staged");
        let prepared = transaction.prepare().expect("alone").expect("writes");
        prepared.commit(Timestamp(timestamp));
    };
    (13..33).for_each(|timestamp| upsert(20..60, timestamp));
    let range = between(20, 170);
    let (mut out, mut incoming) = begin(&first, &second, id, &range);
    let all = round(&mut out, &mut incoming);
    assert!(all >= 80 + 20 * 40, "the run, and every version since: {all}");
    upsert(20..23, 33);
    let mut transaction = first.begin_at(at(&first, 33));
    let mut part = transaction.ingest(id).expect("a table");
    let loaded: Vec<(i64, &str)> = (120..150).map(|key| (key, "loaded")).collect();
    part.append(rows(&loaded)).expect("taken");
    transaction.finish_ingest(id, vec![part]).expect("no duplicates");
    transaction.prepare().expect("alone").expect("writes").commit(Timestamp(34));
    let again = round(&mut out, &mut incoming);
    assert_eq!(again, 3 * 21 + 30, "three chains, and a run");
    assert_eq!(round(&mut out, &mut incoming), 0, "nothing was written");
    upsert(130..132, 35);
    out.freeze().expect("nobody writes");
    let rest = out.rest().expect("a table");
    assert_eq!(rest.rows(), 2, "under the freeze");
    rest.for_each(|piece| incoming.take(piece.expect("written")).expect("well formed"));
    let of_range = |store: &Arc<Store>, timestamp: u64| {
        let mut found = Vec::new();
        for key in 20..170 {
            let values = table_at(&at(store, timestamp), id).get(&key_of(key), &[1]);
            found.push(values.expect("owned").map(|v| v[0].as_string_view().value(0).to_owned()));
        }
        found
    };
    incoming.adopt(0).expect("free");
    second.check().expect("every invariant holds");
    out.thaw();
    for timestamp in [12, 20, 33, 34, 35] {
        assert_eq!(of_range(&first, timestamp), of_range(&second, timestamp), "at {timestamp}");
    }
    first.check().expect("every invariant holds");
}

#[test]
fn a_move_that_is_abandoned_changes_nothing() {
    let (first, second, id) = two_stores();
    let (mut out, incoming) = begin(&first, &second, id, &between(20, 70));
    let other = first.move_out(next_move(&first), id, &between(60, 80), GroupId(1));
    assert!(other.is_err(), "they are moving already");
    out.freeze().expect("nobody writes");
    let mut truncate = first.begin_at(at(&first, 12));
    truncate.change_catalog(CatalogChange::Truncate(id)).expect("a table");
    assert!(matches!(truncate.prepare(), Err(Error::SchemaConflict { .. })));
    out.thaw();
    drop(incoming);
    assert_eq!(first.owned(id), [KeyRange::all()]);
    assert_eq!(contents(&table_at(&at(&first, 12), id)).len(), 98);
    let (mut out, _incoming) = begin(&first, &second, id, &between(20, 70));
    let mut truncate = first.begin_at(at(&first, 12));
    truncate.change_catalog(CatalogChange::Truncate(id)).expect("a table");
    let held = truncate.prepare().expect("nothing is frozen").expect("a change");
    assert_eq!(out.freeze().map(drop), Err(Busy::Written));
    held.commit(Timestamp(14));
    assert_eq!(out.freeze().map(drop), Err(Busy::Gone));
    drop(out);
    first.check().expect("every invariant holds");
}

/// Damaged pieces never cause a panic, and those that are accepted are in order.
#[test]
fn malformed_pieces_are_refused() {
    let (first, second, id) = two_stores();
    let (mut out, _) = begin(&first, &second, id, &between(20, 70));
    out.freeze().expect("nobody writes");
    let mut pieces: Vec<Bytes> =
        out.copy().expect("a table").map(|p| p.expect("written")).collect();
    pieces.extend(out.rest().expect("a table").map(|p| p.expect("written")));
    let incoming =
        |range: &KeyRange| second.move_in(next_move(&first), id, range).expect("a table");
    for piece in &pieces {
        let mut elsewhere = incoming(&between(0, 20));
        assert!(elsewhere.take(piece.clone()).is_err(), "keys outside of the range");
        let mut twice = incoming(&between(20, 70));
        twice.take(piece.clone()).expect("well formed");
        let refused = twice.take(piece.clone()).is_err() || twice.adopt(0).is_err();
        assert!(refused, "the same rows again");
        let mut later = incoming(&between(20, 70));
        later.take(piece.clone()).expect("well formed");
        later.end_round().expect("they fit together");
        later.take(piece.clone()).expect("in order, for a round of its own");
        let is_run = piece == &pieces[0];
        assert_eq!(later.end_round().is_err(), is_run, "versions replace themselves, rows do not");
        for end in 0..piece.len() {
            let short = incoming(&between(20, 70)).take(piece.slice(..end));
            assert!(short.is_err() || end + 8 >= piece.len(), "{end} of {}", piece.len());
        }
        for at in (0..piece.len()).step_by(3) {
            let mut damaged = piece.to_vec();
            damaged[at] ^= 0x81;
            let _ = incoming(&between(20, 70)).take(damaged.into());
        }
    }
    assert!(incoming(&between(20, 70)).take(Bytes::from_static(b"no piece at all")).is_err());
    assert_eq!(second.owned(id), []);
    second.check().expect("nothing is left of what was refused");
}
