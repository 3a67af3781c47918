//! Transactions on several servers: all or nothing for every reader, while rows move.

use crate::support::{Ground, World, batch, key_of};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::catalog::TableId;
use store::{DistributedTransaction, Error};

const ACCOUNTS: i64 = 600;
const BALANCE: i64 = 1000;

async fn bank() -> (Arc<World>, TableId) {
    bank_on(Ground::Local).await
}

async fn bank_on(ground: Ground) -> (Arc<World>, TableId) {
    let world = World::on(ground, 3).await;
    let table = world.table(0, "accounts").await;
    let rows: Vec<(i64, i64)> = (0..ACCOUNTS).map(|key| (key, BALANCE)).collect();
    world.insert(0, table, &rows).await;
    world.until("the accounts lie on several servers", |w| w.owning(table) > 1).await;
    (Arc::new(world), table)
}

/// A deterministic sequence of pseudo-random numbers.
fn mixed(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_moves_between_accounts_on_all_servers_and_none_is_lost_or_made() {
    transfers_on(Ground::Local, 100).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_over_tcp() {
    transfers_on(Ground::Tcp, 50).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_over_tls_by_servers_that_joined_with_a_token() {
    let authority = cluster::net::Authority::found().expect("keys can be made");
    transfers_on(Ground::Tls(Arc::new(authority)), 50).await;
}

/// Four clerks transfer money through all servers, some number of times each, while an auditor
/// reads.
async fn transfers_on(ground: Ground, rounds: u64) {
    let (world, table) = bank_on(ground).await;
    let over = Arc::new(AtomicBool::new(false));
    let keys: Vec<i64> = (0..ACCOUNTS).collect();
    let mut clerks = tokio::task::JoinSet::new();
    for clerk in 0..4u64 {
        let world = Arc::clone(&world);
        clerks.spawn(async move {
            for round in 0..rounds {
                let dice = mixed(clerk * 1000 + round);
                let from = (dice % ACCOUNTS as u64) as i64;
                let to = ((dice >> 20) % ACCOUNTS as u64) as i64;
                if from != to {
                    transfer(&world, (clerk % 3) as usize, table, from, to).await;
                }
            }
        });
    }
    let auditor = {
        let (world, over, keys) = (Arc::clone(&world), Arc::clone(&over), keys.clone());
        tokio::spawn(async move {
            let mut audits = 0;
            while !over.load(Ordering::Relaxed) {
                let rows = world.read(audits % 3, table, &keys).await;
                assert_eq!(rows.len() as i64, ACCOUNTS);
                assert_eq!(rows.values().sum::<i64>(), ACCOUNTS * BALANCE, "audit {audits}");
                audits += 1;
            }
            audits
        })
    };
    while let Some(clerk) = clerks.join_next().await {
        clerk.expect("no clerk fails");
    }
    over.store(true, Ordering::Relaxed);
    assert!(auditor.await.expect("the books are right") > 0);
    world.until("the accounts still lie on several servers", |w| w.owning(table) > 1).await;
    // A clerk's last transaction may end on other servers after it has ended for the clerk.
    let is_over = async || {
        let held = world.sites[0].cluster.report().await.into_iter();
        held.map(|(_, held)| held.expect("reachable")).all(|h| h.coordinated + h.participating == 0)
    };
    world.until_async("every transaction is over everywhere", is_over).await;
}

/// Transfers one unit of money, again after conflicts.
async fn transfer(world: &World, through: usize, table: TableId, from: i64, to: i64) {
    loop {
        let mut transaction =
            world.sites[through].store.begin_distributed().await.expect("reachable");
        let done = match try_transfer(&mut transaction, table, from, to).await {
            Ok(()) => transaction.commit().await.map(drop),
            Err(error) => Err(error),
        };
        match done {
            Ok(()) => return,
            Err(error) => assert!(error.is_retryable(), "not because of others: {error}"),
        }
        tokio::task::yield_now().await;
    }
}

async fn try_transfer(
    transaction: &mut DistributedTransaction,
    table: TableId,
    from: i64,
    to: i64,
) -> Result<(), Error> {
    let view = transaction.table(table).expect("it exists");
    let keys = [key_of(from), key_of(to)];
    let (columns, positions) = view.find_many(&keys, &[1]).await?;
    let values = columns[0].as_primitive::<Int64Type>();
    assert_eq!(positions.len(), 2, "both accounts exist");
    let balance = |position: usize| {
        let row = positions.iter().position(|found| *found == position);
        values.value(row.expect("found"))
    };
    let rows = batch(&[(from, balance(0) - 1), (to, balance(1) + 1)]);
    transaction.upsert(table, &rows).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_rolled_back_leaves_nothing_anywhere() {
    let (world, table) = bank().await;
    world.until("the table spreads", |world| world.bytes(table).iter().all(|b| *b > 0)).await;
    let keys: Vec<i64> = (0..ACCOUNTS).collect();
    {
        let mut transaction = world.sites[1].store.begin_distributed().await.expect("reachable");
        let rows: Vec<(i64, i64)> = keys.iter().map(|key| (*key, 0)).collect();
        transaction.upsert(table, &batch(&rows)).await.expect("written");
    }
    let mut transaction = world.sites[2].store.begin_distributed().await.expect("reachable");
    transaction.upsert(table, &batch(&[(1, 1), (300, 1), (599, 1)])).await.expect("written");
    let savepoint = transaction.savepoint();
    transaction.upsert(table, &batch(&[(2, 2), (301, 2), (598, 2)])).await.expect("written");
    transaction.rollback_to(&savepoint).await.expect("reachable");
    transaction.commit().await.expect("nobody else wrote");
    let rows = world.read(0, table, &keys).await;
    let changed: Vec<_> = rows.iter().filter(|(_, value)| **value != BALANCE).collect();
    assert_eq!(changed, [(&1, &1), (&300, &1), (&599, &1)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_write_one_row_through_different_servers_one_is_refused() {
    let (world, table) = bank().await;
    world.until("the table spreads", |world| world.bytes(table).iter().all(|b| *b > 0)).await;
    let mut one = world.sites[0].store.begin_distributed().await.expect("reachable");
    let mut other = world.sites[1].store.begin_distributed().await.expect("reachable");
    one.upsert(table, &batch(&[(5, 1), (590, 1)])).await.expect("written");
    other.upsert(table, &batch(&[(590, 2), (300, 2)])).await.expect("written");
    one.commit().await.expect("the first");
    let refused = other.commit().await.expect_err("the second");
    assert!(matches!(refused, Error::Conflict { .. }), "{refused}");
    let rows = world.read(2, table, &[5, 300, 590]).await;
    assert_eq!(rows.into_iter().collect::<Vec<_>>(), [(5, 1), (300, BALANCE), (590, 1)]);
}
