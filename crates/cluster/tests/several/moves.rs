//! Lost messages of moves, and lost servers: every key has one owner, and rows are lost only with
//! their server.

use crate::gate::Fate;
use crate::support::World;
use store::catalog::TableId;

const ROWS: i64 = 1200;

/// One server with a table, and one that will get half of it.
async fn beginning() -> (World, TableId) {
    let mut world = World::of(1).await;
    let table = world.table(0, "t").await;
    let rows: Vec<(i64, i64)> = (0..ROWS).map(|key| (key, key)).collect();
    world.insert(0, table, &rows).await;
    world.add(0).await;
    (world, table)
}

/// Both servers see all rows, and every key has one owner.
async fn is_whole(world: &World, table: TableId) {
    world.settled(table).await;
    let keys: Vec<i64> = (0..ROWS).collect();
    for site in 0..world.sites.len() {
        let rows = world.read(site, table, &keys).await;
        assert!(rows.iter().all(|(key, value)| key == value));
        assert_eq!(rows.len() as i64, ROWS);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_whose_arrival_is_not_heard_of_have_arrived() {
    let (world, table) = beginning().await;
    world.sites[1].gate.rule("MoveAdopt", Fate::LoseAnswer);
    world.sites[0].cluster.set_weight("s1", 1).await.expect("there is such a server");
    world.until("rows arrive", |world| world.share(table, 1) > 0.2).await;
    assert!(world.sites[1].gate.seen("MoveOutcome") > 0);
    is_whole(&world, table).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_did_not_arrive_stay() {
    let (world, table) = beginning().await;
    world.sites[1].gate.rule("MoveAdopt", Fate::LoseRequest);
    world.sites[0].cluster.set_weight("s1", 1).await.expect("there is such a server");
    world.until("it is tried", |world| world.sites[1].gate.seen("MoveOutcome") > 0).await;
    is_whole(&world, table).await;
    assert_eq!(world.bytes(table)[1], 0);
    world.sites[1].gate.heal();
    world.until("rows arrive", |world| world.share(table, 1) > 0.2).await;
    is_whole(&world, table).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_destination_that_vanishes_takes_nothing_with_it() {
    let (world, table) = beginning().await;
    world.sites[1].gate.rule("MoveAdopt", Fate::SwallowRequest);
    world.sites[0].cluster.set_weight("s1", 1).await.expect("there is such a server");
    world.until("rows are moving", |w| w.sites[1].gate.seen("MoveAdopt") > 0).await;
    world.crash(1);
    world.until("the source has them again", |world| world.owners(table).is_ok()).await;
    let keys: Vec<i64> = (0..ROWS).collect();
    let is_back = async || world.try_read(0, table, &keys).await.is_ok();
    world.until_async("the source serves again", is_back).await;
    assert_eq!(world.read(0, table, &keys).await.len() as i64, ROWS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_written_before_the_freeze_is_not_sent_after_it() {
    let (world, table) = beginning().await;
    // A reader uses an old snapshot: no row version is removed.
    let _reading = world.sites[0].store.reading().await.expect("reachable");
    for value in 0..5 {
        let rows: Vec<(i64, i64)> = (0..ROWS).map(|key| (key, value)).collect();
        let rows = crate::support::batch(&rows);
        world.retried(0, async |transaction| transaction.upsert(table, &rows).await).await;
    }
    world.sites[0].cluster.set_weight("s1", 1).await.expect("there is such a server");
    world.until("rows arrive", |world| world.share(table, 1) > 0.4).await;
    world.settled(table).await;
    let held = world.sites[0].cluster.report().await.remove(0).1.expect("itself");
    let done: Vec<_> = held.moves.iter().filter(|info| info.state == "done").collect();
    assert!(!done.is_empty());
    for info in done {
        assert!(info.sent > 0, "{info:?}");
        assert_eq!(info.frozen_rows, 0, "{info:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_wait_only_a_moment_for_rows_that_move() {
    let (world, table) = beginning().await;
    world.sites[0].cluster.set_weight("s1", 1).await.expect("there is such a server");
    world.until("rows arrive", |world| world.share(table, 1) > 0.4).await;
    world.settled(table).await;
    let held = world.sites[0].cluster.report().await.remove(0).1.expect("itself");
    let done = held.moves.iter().filter(|info| info.state == "done");
    let frozen: Vec<u64> = done.map(|info| info.frozen_micros).collect();
    let (count, sum) = (frozen.len() as u64, frozen.iter().sum::<u64>());
    assert!(count > 0);
    let longest = frozen.iter().max().copied().unwrap_or(0);
    println!("{count} moves: requests waited for {} us, at most {longest} us", sum / count);
    assert!(sum / count < 50_000, "on average, also on a busy machine");
}
