//! Newest versions of rows, and combined requests for timestamps: the number of messages.

use crate::support::{World, batch, key_of};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use cluster::net::local::Link;
use futures::future::join_all;
use std::collections::BTreeSet;
use std::time::Duration;
use store::catalog::TableId;

const KEYS: i64 = 900;

/// Three servers with rows on each; all values are 0.
async fn spread() -> (World, TableId) {
    let world = World::of(3).await;
    let table = world.table(0, "t").await;
    let rows: Vec<(i64, i64)> = (0..KEYS).map(|key| (key, 0)).collect();
    world.insert(0, table, &rows).await;
    world.until("the table spreads", |world| world.bytes(table).iter().all(|b| *b > 0)).await;
    world.settled(table).await;
    (world, table)
}

/// The newest value of a row, read through a server.
async fn newest(world: &World, through: usize, table: TableId, key: i64) -> i64 {
    let site = &world.sites[through];
    let definition = site.store.catalog().table_by_id(table).cloned().expect("the table");
    let (peers, key) = (site.cluster.peers(), key_of(key));
    let found = site.store.find_newest(&*peers, &definition, &key, &[1]).await;
    let values = found.expect("reachable").expect("it has a row");
    values[0].as_primitive::<Int64Type>().value(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_as_it_is_now_takes_one_question_of_its_owner() {
    let (world, table) = spread().await;
    let all: Vec<i64> = (0..KEYS).collect();
    for owner in 0..3 {
        let key = world.key_at(table, owner, &all).expect("it owns rows");
        for (turn, writer) in [0, 1, 2].into_iter().enumerate() {
            let value = turn as i64 + 1;
            let write = async |transaction: &mut store::DistributedTransaction| {
                transaction.upsert(table, &batch(&[(key, value)])).await
            };
            world.retried(writer, write).await;
            for through in 0..3 {
                newest(&world, through, table, key).await;
                let count =
                    |name: &str| world.sites.iter().map(|s| s.gate.seen(name)).sum::<usize>();
                let (questions, times) = (count("Newest"), count("Now"));
                assert_eq!(newest(&world, through, table, key).await, value);
                assert_eq!(count("Newest") - questions, usize::from(through != owner));
                assert_eq!(count("Now"), times, "nobody is asked for the time");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_that_begin_together_ask_for_the_time_together() {
    let (world, table) = spread().await;
    let (site, root) = (&world.sites[1], &world.sites[0].gate);
    world.link(1, 0, Link::Slow(Duration::from_millis(50)));
    let asked = root.seen("Now");
    let readings = join_all((0..50).map(|_| site.store.reading())).await;
    assert!(readings.iter().all(Result::is_ok));
    assert!(root.seen("Now") - asked < 25, "{} questions", root.seen("Now") - asked);

    let all: Vec<i64> = (0..KEYS).collect();
    let own = |key: &&i64| world.key_at(table, 1, &[**key]).is_some();
    let own: Vec<i64> = all.iter().filter(own).copied().take(50).collect();
    let asked = root.seen("Next");
    let commits = own.iter().map(async |key| {
        let begun = site.store.begin_newest(&*site.cluster.peers(), table, &key_of(*key)).await;
        let mut transaction = begun.expect("settled").expect("it is its own");
        transaction.upsert(table, &batch(&[(*key, 7)])).await.expect("staged");
        transaction.commit().await.expect("nobody else writes it")
    });
    let timestamps = join_all(commits).await;
    assert!(timestamps.iter().collect::<BTreeSet<_>>().len() == own.len(), "everybody's own");
    let asked = root.seen("Next") - asked;
    assert!((1..own.len()).contains(&asked), "{asked} questions for {} commits", own.len());
    let seen = world.read(2, table, &own).await;
    assert!(seen.values().all(|value| *value == 7), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_root_that_does_not_answer_is_waited_for_once() {
    let (world, table) = spread().await;
    let root = &world.sites[0].gate;
    root.rule("Now", crate::gate::Fate::LoseRequest);
    let store = &world.sites[1].store;
    let refused = join_all((0..20).map(|_| store.reading())).await;
    assert!(refused.iter().all(Result::is_err));
    assert!(root.seen("Now") > 0);
    root.heal();
    let row = world.read(1, table, &[5]).await;
    assert_eq!(row[&5], 0, "as soon as it answers again");
}
