//! Lost messages about the end of a transaction: it has the same outcome on all servers.

use crate::gate::Fate;
use crate::support::{World, batch, key_of};
use store::catalog::TableId;
use store::{DistributedTransaction, Error};

/// Three servers with rows on each, and one key of each.
async fn spread() -> (World, TableId, [i64; 3]) {
    let world = World::of(3).await;
    let table = world.table(0, "t").await;
    let rows: Vec<(i64, i64)> = (0..900).map(|key| (key, 0)).collect();
    world.insert(0, table, &rows).await;
    world.until("the table spreads", |world| world.bytes(table).iter().all(|b| *b > 0)).await;
    world.settled(table).await;
    let keys: Vec<i64> = (0..900).collect();
    let key = |site| world.key_at(table, site, &keys).expect("it owns rows");
    let keys = [key(0), key(1), key(2)];
    (world, table, keys)
}

/// A transaction of the second server that has written a row on each.
async fn written(world: &World, table: TableId, keys: [i64; 3]) -> DistributedTransaction {
    let mut transaction = world.sites[1].store.begin_distributed().await.expect("reachable");
    let rows = keys.map(|key| (key, 1));
    transaction.upsert(table, &batch(&rows)).await.expect("written");
    transaction
}

/// The rows as every server sees them.
async fn seen(world: &World, table: TableId, keys: &[i64]) -> Vec<i64> {
    let mut seen = Vec::new();
    for site in 0..3 {
        seen.extend(world.read(site, table, keys).await.into_values());
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_is_lost_is_a_commit() {
    let (world, table, keys) = spread().await;
    let transaction = written(&world, table, keys).await;
    world.sites[0].gate.rule("Decide", Fate::LoseAnswer);
    transaction.commit().await.expect("the root says so when it is asked");
    assert_eq!(seen(&world, table, &keys).await, [1; 9]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_never_reached_the_root_is_none() {
    let (world, table, keys) = spread().await;
    let transaction = written(&world, table, keys).await;
    world.sites[0].gate.rule("Decide", Fate::LoseRequest);
    let refused = transaction.commit().await.expect_err("nobody has decided it");
    assert!(matches!(&refused, Error::Remote { sql_state, .. } if sql_state == "40001"));
    assert_eq!(seen(&world, table, &keys).await, [0; 9]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_coordinator_that_does_not_hear_the_decision_says_so_and_follows_it() {
    let (world, table, keys) = spread().await;
    let transaction = written(&world, table, keys).await;
    world.sites[0].gate.rule("Decide", Fate::LoseAnswer);
    world.sites[0].gate.rule("Outcome", Fate::LoseRequest);
    let unknown = transaction.commit().await.expect_err("nobody says what was decided");
    assert!(matches!(&unknown, Error::Remote { sql_state, .. } if sql_state == "08007"));
    let (site, key) = (&world.sites[1], key_of(keys[1]));
    let (peers, catalog) = (site.cluster.peers(), site.store.catalog());
    let definition = catalog.table_by_id(table).expect("the table");
    let newest = site.store.find_newest(&*peers, definition, &key, &[1]).await;
    let newest = newest.expect_err("it may be committed");
    let is_so = matches!(&newest, Error::Unreachable { server, .. } if *server == site.name);
    assert!(is_so, "{newest:?}");
    world.sites[0].gate.heal();
    assert_eq!(seen(&world, table, &keys).await, [1; 9], "also where its coordinator is");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_participant_that_does_not_hear_the_outcome_asks_the_root() {
    let (world, table, keys) = spread().await;
    let transaction = written(&world, table, keys).await;
    world.sites[2].gate.rule("Commit", Fate::LoseRequest);
    transaction.commit().await.expect("it is decided");
    assert_eq!(seen(&world, table, &keys).await, [1; 9]);
    assert!(world.sites[2].gate.seen("Commit") > 0 && world.sites[0].gate.seen("Outcome") > 0);
}

/// The coordinator stops when the others are prepared.
async fn without_its_coordinator(fate: Fate, value: i64) {
    let (world, table, keys) = spread().await;
    let transaction = written(&world, table, keys).await;
    world.sites[0].gate.rule("Decide", fate);
    let commit = tokio::spawn(transaction.commit());
    world.until("it is prepared", |world| world.sites[0].gate.seen("Decide") > 0).await;
    world.crash(1);
    for site in [0, 2] {
        let rows = world.read(site, table, &[keys[0], keys[2]]).await;
        assert_eq!(rows.into_values().collect::<Vec<_>>(), [value; 2]);
    }
    commit.await.expect("no panic").expect_err("the coordinator has stopped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_decided_is_committed_without_its_coordinator() {
    without_its_coordinator(Fate::SwallowAnswer, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_not_decided_is_abandoned_without_its_coordinator() {
    without_its_coordinator(Fate::SwallowRequest, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_whose_end_is_lost_is_forgotten_everywhere() {
    let (world, table, keys) = spread().await;
    let transaction = written(&world, table, keys).await;
    world.sites[2].gate.rule("RollBack", Fate::LoseRequest);
    drop(transaction);
    let is_forgotten = async || {
        let held = world.sites[2].cluster.report().await.remove(2).1.expect("itself");
        held.participating == 0
    };
    world.until_async("the participant asks its coordinator", is_forgotten).await;
    world.sites[2].gate.heal();
    world.retried(0, async |t| t.upsert(table, &batch(&[(keys[2], 7)])).await).await;
    assert_eq!(world.read(1, table, &[keys[2]]).await[&keys[2]], 7);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_goes_on_when_nobody_waits_for_it() {
    let (world, table, keys) = spread().await;
    let transaction = written(&world, table, keys).await;
    let mut commit = Box::pin(transaction.commit());
    // The commit has begun, and may have ended.
    let _ = futures::poll!(commit.as_mut());
    drop(commit);
    let mut values = seen(&world, table, &keys).await;
    while values.contains(&0) {
        // All or nothing, on each of the three servers.
        assert!(values.chunks(3).all(|rows| rows.iter().all(|value| *value == rows[0])));
        values = seen(&world, table, &keys).await;
    }
}
