//! Servers that cannot be reached: statements that need them fail, others go on, and nothing is committed by half.

use crate::support::{World, batch};
use cluster::net::local::Link;
use store::Error;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_cut_off_fails_only_what_needs_it() {
    let world = World::of(3).await;
    let table = world.table(0, "t").await;
    let rows: Vec<(i64, i64)> = (0..900).map(|key| (key, 0)).collect();
    world.insert(0, table, &rows).await;
    world.until("the table spreads", |world| world.bytes(table).iter().all(|b| *b > 0)).await;
    let owners = world.owners(table).expect("nothing moves");
    let key_at = |site: usize| {
        let owns = |key: &i64| {
            let key = crate::support::key_of(*key);
            owners.iter().any(|(range, owner)| *owner == site && range.contains(&key))
        };
        (0..900).find(owns).expect("it owns rows")
    };
    let (near, far) = (key_at(1), key_at(2));
    world.link(1, 2, Link::Cut);
    let mut transaction = world.sites[1].store.begin_joint().await.expect("the root is there");
    let refused = transaction.upsert(table, &batch(&[(near, 1), (far, 1)])).await;
    assert!(matches!(refused, Err(Error::Unreachable { .. })), "{refused:?}");
    drop(transaction);
    world.retried(1, async |t| t.upsert(table, &batch(&[(near, 2)])).await).await;
    world.retried(0, async |t| t.upsert(table, &batch(&[(far, 3)])).await).await;
    world.link(1, 2, Link::Open);
    let rows = world.read(1, table, &[near, far]).await;
    assert_eq!((rows[&near], rows[&far]), (2, 3));
}
