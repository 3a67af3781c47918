//! Readers concurrent with writers, splits and compaction: no partial commit is visible.

use super::*;
use crate::test_tables::rows;
use std::sync::atomic::{AtomicBool, Ordering};

const ACCOUNTS: i64 = 200;
const TOTAL: i64 = ACCOUNTS * 100;

fn balance(view: &TableView, account: i64) -> i64 {
    let values =
        view.get(&key_of(account), &[1]).expect("owned here").expect("every account exists");
    let text = values[0].as_string_view().value(0);
    text.trim_start_matches('0').parse().unwrap_or(0)
}

/// Pads balances, so that buckets fill and split.
fn padded(balance: i64) -> String {
    format!("{balance:0>60}")
}

fn transfer(store: &Arc<Store>, id: TableId, from: i64, to: i64) {
    loop {
        let mut transaction = store.begin();
        let view = transaction.table(id).expect("the table");
        let (a, b) = (balance(&view, from), balance(&view, to));
        let moved = a.min(7);
        let (a, b) = (padded(a - moved), padded(b + moved));
        transaction.upsert(id, &rows(&[(from, &a), (to, &b)])).expect("upserted");
        match transaction.commit() {
            Ok(_) => return,
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
    }
}

#[test]
fn transfers_keep_their_sum_in_every_snapshot() {
    let (store, id) = store_with(4 << 10, Options::default());
    let mut transaction = store.begin();
    for account in 0..ACCOUNTS {
        transaction.insert(id, &rows(&[(account, &padded(100))])).expect("inserted");
    }
    transaction.commit().expect("committed");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3i64)
            .map(|seed| {
                let store = &store;
                scope.spawn(move || {
                    for step in 0..1500i64 {
                        let from = (seed * 71 + step * 13) % ACCOUNTS;
                        let to = (seed * 29 + step * 7 + 1) % ACCOUNTS;
                        if from != to {
                            transfer(store, id, from, to);
                        }
                    }
                })
            })
            .collect();
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let snapshot = store.snapshot();
                    let rows = contents(&table_at(&snapshot, id));
                    let sum: i64 = rows
                        .values()
                        .map(|v| v.trim_start_matches('0').parse::<i64>().unwrap_or(0))
                        .sum();
                    assert_eq!((rows.len() as i64, sum), (ACCOUNTS, TOTAL));
                }
            });
        }
        writers.into_iter().for_each(|writer| writer.join().expect("a writer finishes"));
        done.store(true, Ordering::Relaxed);
    });
    let counters = store.counters();
    assert!(counters.splits > 0 && counters.compactions > 0, "{counters:?}");
}
