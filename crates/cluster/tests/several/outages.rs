//! Unreachable servers: statements that need them fail, others succeed, and no transaction is
//! committed in part.

use crate::support::{World, batch};
use cluster::net::Address;
use cluster::net::local::Link;
use cluster::{Cluster, NewServer};
use std::sync::Arc;
use store::{Error, Options, Store};
use tokio::runtime::Handle;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_cut_off_fails_only_what_needs_it() {
    let world = World::of(3).await;
    let table = world.table(0, "t").await;
    let rows: Vec<(i64, i64)> = (0..900).map(|key| (key, 0)).collect();
    world.insert(0, table, &rows).await;
    world.until("the table spreads", |world| world.bytes(table).iter().all(|b| *b > 0)).await;
    world.settled(table).await;
    let keys: Vec<i64> = (0..900).collect();
    let key_at = |site| world.key_at(table, site, &keys).expect("it owns rows");
    let (near, far) = (key_at(1), key_at(2));
    world.link(1, 2, Link::Cut);
    let mut transaction =
        world.sites[1].store.begin_distributed().await.expect("the root is there");
    let refused = transaction.upsert(table, &batch(&[(near, 1), (far, 1)])).await;
    assert!(matches!(refused, Err(Error::Unreachable { .. })), "{refused:?}");
    drop(transaction);
    world.retried(1, async |t| t.upsert(table, &batch(&[(near, 2)])).await).await;
    world.retried(0, async |t| t.upsert(table, &batch(&[(far, 3)])).await).await;
    world.link(1, 2, Link::Open);
    let rows = world.read(1, table, &[near, far]).await;
    assert_eq!((rows[&near], rows[&far]), (2, 3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_evicted_takes_its_keys_with_it_and_no_others() {
    let world = World::of(3).await;
    let table = world.table(0, "t").await;
    let keys: Vec<i64> = (0..900).collect();
    let rows: Vec<(i64, i64)> = keys.iter().map(|key| (*key, 0)).collect();
    world.insert(0, table, &rows).await;
    world.until("the table spreads", |world| world.bytes(table).iter().all(|b| *b > 0)).await;
    world.settled(table).await;
    let key = |site| world.key_at(table, site, &keys).expect("it owns rows");
    let (first, lost, third) = (key(0), key(1), key(2));
    world.crash(1);
    let is_known = |site: usize| world.sites[site].cluster.members().list[1].is_lost;
    world.until("the others know", |_| is_known(0) && is_known(2)).await;
    for site in [0, 2] {
        assert_eq!(world.read(site, table, &[first, third]).await.len(), 2);
        let refused = world.try_read(site, table, &[lost]).await.expect_err("it is gone");
        assert!(refused.to_string().contains("evicted"), "{refused}");
    }
    let held = world.sites[0].cluster.report().await.remove(0).1.expect("itself");
    assert!(held.images.iter().any(|image| image.finding.broadcasts > 0), "everybody was asked");
    assert!(world.sites[1].store.begin_distributed().await.is_err(), "it serves no more itself");
    world.retried(2, async |t| t.upsert(table, &batch(&[(first, 1), (third, 1)])).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_is_given_once_unless_its_server_is_started_again() {
    let world = World::of(2).await;
    let join = async |address: &str| {
        let address = Address::new(address);
        let network = Arc::new(world.hub.network(address.clone()));
        let intro = NewServer { name: "s1".into(), address, weight: 1 };
        let open = |server| Ok(Store::open(Options { server, ..Options::default() }));
        Cluster::join(intro, &Address::new("s0"), false, open, network, Handle::current()).await
    };
    let refused = join("elsewhere").await.expect_err("the name is taken");
    assert!(matches!(&refused, Error::Remote { sql_state, .. } if sql_state == "42710"));
    world.crash(1);
    let again = join("s1").await.expect("nobody else can listen there");
    assert_eq!(again.here().0, 2, "with nothing of what it was");
    assert!(again.members().list[1].is_lost);
}
