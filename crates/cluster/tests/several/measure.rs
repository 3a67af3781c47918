//! Transactions on several servers that share no rows: none conflicts. Prints their cost, and that of a row of another server:
//! `cargo test --profile quick -p cluster --test several measure -- --nocapture`.

use crate::support::{Ground, World, batch};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::catalog::TableId;

const ROWS: i64 = 3000;
/// How long transactions are counted. Use 3 s for figures to publish.
const TIME: Duration = Duration::from_millis(200);

async fn spread(ground: Ground) -> (Arc<World>, TableId) {
    let world = World::on(ground, 3).await;
    let table = world.table(0, "t").await;
    let rows: Vec<(i64, i64)> = (0..ROWS).map(|key| (key, 0)).collect();
    world.insert(0, table, &rows).await;
    world.until("the table spreads", |world| world.bytes(table).iter().all(|b| *b > 0)).await;
    world.settled(table).await;
    (Arc::new(world), table)
}

/// Transactions per second on two servers each, of some clients of a server that is not the root.
async fn commits(world: &Arc<World>, table: TableId, clients: i64) -> f64 {
    let mut running = tokio::task::JoinSet::new();
    let begun = Instant::now();
    for client in 0..clients {
        let world = Arc::clone(world);
        let own: Vec<i64> = (0..ROWS).filter(|key| key % clients == client).collect();
        let (near, far) = (world.key_at(table, 1, &own), world.key_at(table, 2, &own));
        let keys = near.zip(far).expect("the client has keys on both");
        running.spawn(async move {
            let mut count = 0;
            while begun.elapsed() < TIME {
                let rows = batch(&[(keys.0, count), (keys.1, count)]);
                let begun = world.sites[1].store.begin_distributed().await;
                let mut transaction = begun.expect("reachable");
                transaction.upsert(table, &rows).await.expect("written");
                transaction.commit().await.expect("nobody else writes to these rows");
                count += 1;
            }
            count
        });
    }
    let count: i64 = running.join_all().await.into_iter().sum();
    count as f64 / begun.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_share_no_rows_never_conflict() {
    for ground in [Ground::Local, Ground::Tcp] {
        let (world, table) = spread(ground.clone()).await;
        for clients in [1, 16] {
            let rate = commits(&world, table, clients).await;
            println!(
                "{ground:?}, {clients} clients: {rate:.0} transactions a second, each over two servers"
            );
        }
        let keys: Vec<i64> = (0..ROWS).collect();
        let key = world.key_at(table, 2, &keys).expect("it owns rows");
        let reading = world.sites[1].store.reading().await.expect("reachable");
        let (begun, finds) = (Instant::now(), 500);
        for _ in 0..finds {
            crate::support::read_of(&reading, table, &[key]).await.expect("readable");
        }
        let each = begun.elapsed().as_secs_f64() * 1e6 / f64::from(finds);
        println!("{ground:?}: {each:.0} us for a row of another server");
    }
}
