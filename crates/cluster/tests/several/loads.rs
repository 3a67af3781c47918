//! A bulk load through a server that owns nothing of the table.

use crate::support::{World, batch};
use store::Error;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_reaches_the_owners() {
    let mut world = World::of(2).await;
    let table = world.table(0, "t").await;
    let rows: Vec<(i64, i64)> = (0..1200).map(|key| (key * 10, 0)).collect();
    world.insert(0, table, &rows).await;
    world.until("the table spreads", |world| world.share(table, 1) > 0.2).await;
    world.add(0).await;
    world
        .retried(2, async |transaction| {
            let mut part = transaction.ingest(table)?;
            for start in (0..1200).step_by(100) {
                let rows: Vec<(i64, i64)> = (start..start + 100).map(|n| (n * 10 + 1, n)).collect();
                part.append(batch(&rows))?;
            }
            transaction.finish_ingest(table, vec![part]).await
        })
        .await;
    let keys: Vec<i64> = (0..12_010).collect();
    for site in 0..3 {
        assert_eq!(world.read(site, table, &keys).await.len(), 2400);
    }
    world.settled(table).await;
    let mut again = world.sites[2].store.begin_distributed().await.expect("reachable");
    let mut part = again.ingest(table).expect("it exists");
    part.append(batch(&[(10_001, 0), (11_998, 0)])).expect("room for two rows");
    let refused = again.finish_ingest(table, vec![part]).await.expect_err("one is there");
    assert!(matches!(refused, Error::DuplicateKey { .. }), "{refused}");
}
