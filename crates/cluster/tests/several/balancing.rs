//! Balancing: tables spread over the servers, and every key has exactly one owner.

use crate::support::{World, key_of};
use std::num::NonZeroU64;
use std::time::{Duration, Instant};
use store::MoveSetting;
use store::catalog::{Table, TableId};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_spreads_over_the_servers_and_any_of_them_reads_and_writes_all_of_it() {
    let world = World::of(3).await;
    let table = world.table(1, "t").await;
    for part in 0..20 {
        let rows: Vec<(i64, i64)> = (0..100).map(|n| (part * 100 + n, n)).collect();
        world.insert((part % 3) as usize, table, &rows).await;
    }
    let is_spread = |world: &World| (0..3).all(|site| world.share(table, site) > 0.2);
    world.until("the table spreads", is_spread).await;
    world.until("nothing moves", |world| world.owners(table).is_ok()).await;
    let keys: Vec<i64> = (-5..2005).collect();
    for site in 0..3 {
        let rows = world.read(site, table, &keys).await;
        assert_eq!(rows.len(), 2000);
        assert!(rows.iter().all(|(key, value)| key % 100 == *value));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_comes_later_gets_its_share_and_one_of_no_weight_gives_everything_back() {
    let mut world = World::of(2).await;
    let table = world.table(0, "t").await;
    let rows: Vec<(i64, i64)> = (0..3000).map(|n| (n * 7, n)).collect();
    world.insert(0, table, &rows).await;
    world.add(1).await;
    world.until("the new server gets a share", |world| world.share(table, 2) > 0.2).await;
    world.sites[0].cluster.set_weight("s1", 0).await.expect("there is such a server");
    world.until("the server is empty", |world| world.bytes(table)[1] == 0).await;
    world.until("every key has an owner", |world| world.owners(table).is_ok()).await;
    let keys: Vec<i64> = rows.iter().map(|row| row.0).collect();
    for site in 0..3 {
        assert_eq!(world.read(site, table, &keys).await.len(), rows.len());
    }
    let unknown = world.sites[1].cluster.set_weight("nobody", 0).await;
    assert!(unknown.expect_err("no such server").to_string().contains("nobody"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_that_many_access_is_divided_among_servers() {
    let world = World::of(3).await;
    // There is one bucket: nothing moves by bytes.
    let table = world.table(0, "t").await;
    world.insert(0, table, &(0..20).map(|key| (key, key)).collect::<Vec<_>>()).await;
    assert_eq!(world.sites[0].store.bucket_infos(table).len(), 1);
    let is_spread = |world: &World| (0..3).all(|site| world.bytes(table)[site] > 0);
    let accessing = access_until(&world, table, 20, is_spread);
    tokio::join!(accessing, world.until("what is accessed is spread", is_spread));
    world.until("every key has an owner", |world| world.owners(table).is_ok()).await;
    let splits = world.sites.iter().flat_map(|site| site.store.splits());
    assert!(splits.into_iter().any(|split| split.reason == "accesses"));
    let rows = world.read(1, table, &(0..20).collect::<Vec<_>>()).await;
    assert!(rows.len() == 20 && rows.iter().all(|(key, value)| key == value));
    let moves = world.sites[0].cluster.report().await.into_iter();
    let moves = moves.filter_map(|(_, held)| held.ok()).flat_map(|held| held.moves);
    assert!(moves.into_iter().any(|info| info.reason.contains("accesses per second")));
}

/// Reads the rows of some keys on their owners, many times per second.
async fn access_until(world: &World, table: TableId, keys: i64, is_over: impl Fn(&World) -> bool) {
    while !is_over(world) {
        for site in &world.sites {
            let reading = site.store.reading_here().expect("its own");
            let view = reading.table(table).expect("it is there");
            for key in 0..400 {
                // Rows that have just left are accessed on their new owner.
                let _ = view.get(&key_of(key % keys), &[1]);
            }
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_all_access_holds_up_no_other_table() {
    let world = World::of(2).await;
    // By size, much should move; but one row cannot be divided, and fits nowhere better.
    let hot = Table { bucket_size: 16 << 20, ..world.definition(0, "hot") };
    let hot = world.create(0, hot).await;
    world.insert(0, hot, &[(0, 0)]).await;
    let is_hot = |world: &World| world.sites[0].store.accesses(hot) > 10_000;
    access_until(&world, hot, 1, is_hot).await;
    let other = world.table(0, "other").await;
    world.insert(0, other, &(0..300).map(|key| (key, key)).collect::<Vec<_>>()).await;
    let is_spread = |world: &World| world.bytes(other)[1] > 0;
    let accessing = access_until(&world, hot, 1, is_spread);
    tokio::join!(accessing, world.until("the other table spreads", is_spread));
    assert!(world.bytes(hot)[0] > 0, "the row has not moved");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn buckets_do_not_split_and_merge_again_and_again() {
    let world = World::of(2).await;
    let table = world.table(0, "t").await;
    let rows: Vec<(i64, i64)> = (0..3000).map(|key| (key, 0)).collect();
    let changes = |world: &World| -> (u64, u64) {
        let counters = world.sites.iter().map(|site| site.store.counters());
        counters.fold((0, 0), |(splits, merges), c| (splits + c.splits, merges + c.merges))
    };
    world.insert(0, table, &rows).await;
    world.until("the table spreads", |world| world.share(table, 1) > 0.3).await;
    world.settled(table).await;
    let before = changes(&world);
    for round in 0..10 {
        let rows: Vec<(i64, i64)> = (0..3000).map(|key| (key, round)).collect();
        let rows = crate::support::batch(&rows);
        world.retried(0, async |transaction| transaction.upsert(table, &rows).await).await;
        world.settled(table).await;
    }
    let after = changes(&world);
    let again = (after.0 - before.0, after.1 - before.1);
    println!("splits and merges: {before:?} while it grew, {again:?} while it was written again");
    assert!(again.0 < 60 && again.1 < 6, "rows that only change do not split and merge: {again:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moves_are_paused_go_on_and_are_no_faster_than_they_may_be() {
    const LIMIT: u64 = 20_000;
    let mut world = World::of(1).await;
    let table = world.table(0, "t").await;
    let rows: Vec<(i64, i64)> = (0..3000).map(|n| (n * 7, n)).collect();
    world.insert(0, table, &rows).await;
    world.sites[0].cluster.change_moves(MoveSetting::IsPaused(true)).await.expect("the root");
    world.add(1).await;
    world.until("it is told", |world| world.sites[1].cluster.members().moves.is_paused).await;
    let beats = world.sites[0].gate.seen("Heartbeat") + 10;
    world.until("heartbeats", |world| world.sites[0].gate.seen("Heartbeat") >= beats).await;
    assert_eq!(world.bytes(table)[1], 0, "nothing moves");
    let limit = MoveSetting::BytesPerSecond(NonZeroU64::new(LIMIT));
    world.sites[1].cluster.change_moves(limit).await.expect("the root is there");
    let begun = Instant::now();
    world.sites[1].cluster.change_moves(MoveSetting::IsPaused(false)).await.expect("as before");
    world.until("rows move", |world| world.share(table, 1) > 0.4).await;
    let held = world.sites[0].cluster.report().await.remove(0).1.expect("itself");
    // Taken after the sent bytes: a slow machine allows more, never less.
    let seconds = begun.elapsed().as_secs_f64();
    let sent: Vec<u64> = held.moves.iter().map(|info| info.sent).collect();
    let largest = sent.iter().max().copied().unwrap_or(0);
    let all: u64 = sent.iter().sum();
    let most = LIMIT as f64 * seconds + 2.0 * largest as f64;
    assert!(all as f64 <= most, "{all} bytes in {seconds} s");
    world.sites[0].cluster.change_moves(MoveSetting::BytesPerSecond(None)).await.expect("it is");
    world.settled(table).await;
}
