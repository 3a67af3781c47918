//! Image adjustments: a server that has a wrong owner in its image is corrected.

use crate::support::World;
use cluster::ImageInfo;
use store::catalog::TableId;
use store::{MessageCount, Traffic};

async fn image(world: &World, site: usize, table: TableId) -> ImageInfo {
    let held = world.sites[site].cluster.report().await.remove(site).1.expect("itself");
    held.images.into_iter().find(|image| image.table == table).expect("it has asked for rows")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_forwarded_once_is_asked_for_at_the_right_place_the_next_time() {
    let world = World::of(4).await;
    let table = world.table(1, "t").await;
    let keys: Vec<i64> = (0..2000).collect();
    let rows: Vec<(i64, i64)> = keys.iter().map(|key| (*key, *key)).collect();
    world.insert(1, table, &rows).await;
    world.until("the table spreads", |world| world.bytes(table).iter().all(|b| *b > 0)).await;
    world.settled(table).await;
    let far: Vec<i64> = keys.iter().copied().step_by(40).collect();
    assert_eq!(world.read(3, table, &far).await.len(), far.len());
    let first = image(&world, 3, table).await;
    assert!(first.finding.requests > 0 && first.finding.adjustments > 0, "{first:?}");
    for key in &keys {
        world.read(3, table, &[*key]).await;
    }
    let second = image(&world, 3, table).await;
    for key in &keys {
        world.read(3, table, &[*key]).await;
    }
    let third = image(&world, 3, table).await;
    assert_eq!(third.finding.forwards, second.finding.forwards, "nothing is forwarded twice");
    assert_eq!(third.finding.adjustments, second.finding.adjustments);
    let owned = world.sites[3].store.owned(table);
    let is_far = |key: &&i64| !owned.iter().any(|r| r.contains(&crate::support::key_of(**key)));
    let far = keys.iter().filter(is_far).count() as u64;
    assert_eq!(
        third.finding.requests - second.finding.requests,
        far,
        "one request for each key that is elsewhere"
    );
    assert_eq!(third.finding.broadcasts, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_rest_every_image_leads_to_the_owner_with_two_forwards_at_most() {
    let mut world = World::of(3).await;
    let table = world.table(2, "t").await;
    let rows: Vec<(i64, i64)> = (0..1500).map(|key| (key, 0)).collect();
    world.insert(0, table, &rows).await;
    world.add(1).await;
    world.until("the table spreads", |world| world.bytes(table).iter().all(|b| *b > 0)).await;
    world.settled(table).await;
    for site in 0..4 {
        for key in (0..1500).step_by(10) {
            let before = image(&world, site, table).await.finding.forwards;
            assert_eq!(world.read(site, table, &[key]).await[&key], 0);
            let forwards = image(&world, site, table).await.finding.forwards - before;
            assert!(forwards <= 2, "key {key} from server {site}: {forwards}");
        }
    }
}

/// The messages of each server so far.
async fn traffic(world: &World) -> Vec<Traffic> {
    let report = world.sites[0].cluster.report().await.into_iter();
    report.map(|(_, held)| held.expect("it is there").traffic).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_server_sends_another_receives() {
    let world = World::of(3).await;
    let table = world.table(2, "t").await;
    let rows: Vec<(i64, i64)> = (0..1500).map(|key| (key, 0)).collect();
    world.insert(0, table, &rows).await;
    world.until("the table spreads", |world| world.bytes(table).iter().all(|b| *b > 0)).await;
    world.settled(table).await;
    let far = (0..1500).find(|key| {
        let owned = world.sites[2].store.owned(table);
        owned.iter().any(|range| range.contains(&crate::support::key_of(*key)))
    });
    let far = far.expect("every server has rows");
    world.read(1, table, &[far]).await;
    world
        .until_async("all that was sent has come", async || {
            let traffic = traffic(&world).await;
            let sum = |of: fn(&Traffic) -> MessageCount| {
                let all = traffic.iter().map(of).map(|traffic| (traffic.messages, traffic.bytes));
                all.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
            };
            sum(|traffic| traffic.sent) == sum(|traffic| traffic.received)
        })
        .await;
    let before = traffic(&world).await;
    world.settled(table).await;
    assert_eq!(traffic(&world).await, before, "heartbeats do not count");
    world.read(1, table, &[far]).await;
    let after = traffic(&world).await;
    // One request to the root for a timestamp, and one to the owner for the row.
    for (site, asked, answered) in [(0, 0, 1), (1, 2, 0), (2, 0, 1)] {
        let messages =
            |traffic: &[Traffic], of: fn(&Traffic) -> MessageCount| of(&traffic[site]).messages;
        let more = |of| messages(&after, of) - messages(&before, of);
        assert_eq!(more(|traffic| traffic.sent), asked + answered, "sent by {site}");
        assert_eq!(more(|traffic| traffic.received), asked + answered, "received by {site}");
    }
    assert!(after[2].sent.bytes > before[2].sent.bytes);
}
