//! Servers that keep their data lose power and come back: what was acknowledged is there, and nothing in part.

use crate::gate::Fate;
use crate::support::{World, batch, is_transient, key_of};
use cluster::net::Address;
use cluster::{Cluster, NewServer};
use parking_lot::Mutex;
use sdds::{Bound, GroupId, KeyRange};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::catalog::TableId;
use store::{Error, Store};
use tokio::runtime::Handle;

const KEYS: i64 = 900;

/// Three servers with a table over all of them, whose values are 100.
async fn spread() -> (World, TableId) {
    let world = World::keeping(3).await;
    let table = world.table(0, "t").await;
    let rows: Vec<(i64, i64)> = (0..KEYS).map(|key| (key, 100)).collect();
    world.insert(0, table, &rows).await;
    world.until("the table spreads", |world| world.bytes(table).iter().all(|b| *b > 0)).await;
    world.settled(table).await;
    (world, table)
}

/// All rows, as a server reads them; waits until it can.
async fn all(world: &World, through: usize, table: TableId) -> BTreeMap<i64, i64> {
    let keys: Vec<i64> = (0..KEYS).collect();
    let read = async || world.try_read(through, table, &keys).await;
    world.until_async("all rows can be read", async || read().await.is_ok()).await;
    read().await.expect("readable")
}

async fn upsert(world: &World, through: usize, table: TableId, rows: &[(i64, i64)]) {
    world.retried(through, async |t| t.upsert(table, &batch(rows)).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_servers_lose_power_and_come_back_in_any_order() {
    let (mut world, table) = spread().await;
    let mut expected = all(&world, 1, table).await;
    for (round, order) in [[0, 1, 2], [2, 1, 0], [1, 2, 0]].into_iter().enumerate() {
        let rows: Vec<(i64, i64)> = (0..KEYS).step_by(7).map(|key| (key, round as i64)).collect();
        upsert(&world, round, table, &rows).await;
        expected.extend(rows);
        world.power_cut(&order, round as u64).await;
        for through in 0..3 {
            assert_eq!(all(&world, through, table).await, expected, "round {round}");
        }
        world.settled(table).await;
    }
    let other = world.table(2, "other").await;
    world.insert(1, other, &[(1, 1), (900, 2)]).await;
    assert_eq!(world.read(0, other, &[1, 900]).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_server_is_down_and_the_others_serve_what_they_have() {
    let (mut world, table) = spread().await;
    let keys: Vec<i64> = (0..KEYS).collect();
    for down in [1, 0, 2] {
        let key = |site| world.key_at(table, site, &keys).expect("it owns rows");
        let (up, other) = ((down + 1) % 3, (down + 2) % 3);
        let (lost, kept) = (key(down), [key(up), key(other)]);
        let disks = world.cut_power(&[down], down as u64);
        if down != 0 {
            world
                .until_async("the rest is served", async || {
                    world.try_read(up, table, &kept).await.is_ok_and(|rows| rows.len() == 2)
                })
                .await;
            let refused = world.try_read(up, table, &[lost]).await.expect_err("it is down");
            assert!(matches!(refused, Error::Unreachable { .. }), "{refused}");
        }
        world.restart(&[down], disks).await;
        assert_eq!(all(&world, up, table).await.len(), KEYS as usize);
        upsert(&world, down, table, &[(lost, 1), (kept[0], 2)]).await;
        assert_eq!(
            world.read(other, table, &[lost, kept[0]]).await,
            [(lost, 1), (kept[0], 2)].into()
        );
    }
}

/// Keys of rows that say that a transfer was committed, as its client was told.
type Told = Arc<Mutex<Vec<i64>>>;

/// Moves amounts between rows of all servers until it cannot.
async fn transfer(store: Arc<Store>, table: TableId, seed: i64, told: Told) {
    let mut dice = seed;
    for number in 0.. {
        dice = (dice * 1_103_515_245 + 12_345) & 0x7fff_ffff;
        let (from, to) = (dice % KEYS, (dice / KEYS) % KEYS);
        if from == to {
            continue;
        }
        let key = KEYS + seed * 100_000 + number;
        let moved = async {
            let mut transaction = store.begin_distributed().await?;
            let read = transaction.reading();
            let rows = crate::support::read_of(&read, table, &[from, to]).await?;
            let rows = [(from, rows[&from] - 1), (to, rows[&to] + 1), (key, 1)];
            transaction.upsert(table, &batch(&rows)).await?;
            transaction.commit().await
        };
        match moved.await {
            Ok(_) => told.lock().push(key),
            Err(error) if is_transient(&error) => tokio::task::yield_now().await,
            Err(_) => return,
        }
    }
}

/// Moves keys from a server to another one until it cannot.
async fn give_away(cluster: Cluster, table: TableId, to: u64) {
    loop {
        let owned = cluster.store().owned(table);
        for key in (0..KEYS).step_by(40) {
            let part = KeyRange::new(Bound::At(key_of(key)), Bound::At(key_of(key + 20)));
            let part = part.expect("not empty");
            if owned.iter().any(|range| range.covers(&part)) {
                let _ = cluster.give(table, &part, GroupId(to)).await;
            }
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_over_all_servers_are_whole_after_power_cuts() {
    let (mut world, table) = spread().await;
    let told = Told::default();
    for round in 0..6u64 {
        let transfers: Vec<_> = (0..3)
            .map(|site| {
                let store = Arc::clone(&world.sites[site].store);
                let seed = (round * 3 + site as u64 + 1) as i64;
                tokio::spawn(transfer(store, table, seed, Arc::clone(&told)))
            })
            .chain((0..3).map(|site| {
                let cluster = world.sites[site].cluster.clone();
                tokio::spawn(give_away(cluster, table, (site as u64 + 1 + round % 2) % 3))
            }))
            .collect();
        tokio::time::sleep(std::time::Duration::from_millis(150 + round * 37)).await;
        let sites: &[usize] = match round % 3 {
            0 => &[0, 1, 2],
            1 => &[1],
            _ => &[2, 1],
        };
        let disks = world.cut_power(sites, round);
        // Those on a server without power may wait for ever.
        transfers.into_iter().for_each(|transfer| transfer.abort());
        world.restart(sites, disks).await;
        let rows = all(&world, 2, table).await;
        let sum: i64 = rows.values().sum();
        assert_eq!((rows.len() as i64, sum), (KEYS, KEYS * 100), "round {round}");
        let keys = told.lock().clone();
        let found = world.read(1, table, &keys).await;
        let lost: Vec<i64> = keys.into_iter().filter(|key| !found.contains_key(key)).collect();
        assert!(lost.is_empty(), "round {round}: {}", world.fates(table, &lost).await);
        world.until("every key has an owner", |world| world.owners(table).is_ok()).await;
    }
}

/// A server that was started again took the next write of a transaction for its first one, and the transaction committed
/// without what it had written there before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_fails_when_a_server_has_lost_what_it_has_written_there() {
    let (mut world, table) = spread().await;
    let keys: Vec<i64> = (0..KEYS).collect();
    let lost = world.key_at(table, 1, &keys).expect("it owns rows");
    let mut others = keys.clone();
    others.retain(|key| *key != lost);
    let other = world.key_at(table, 1, &others).expect("it owns rows");
    let store = Arc::clone(&world.sites[2].store);
    let mut transaction = store.begin_distributed().await.expect("reachable");
    transaction.upsert(table, &batch(&[(lost, 1)])).await.expect("reachable");
    world.power_cut(&[1], 1).await;
    all(&world, 2, table).await;
    let written = transaction.upsert(table, &batch(&[(other, 1)])).await;
    let ended = match written {
        Ok(()) => transaction.commit().await.map(drop),
        refused => refused,
    };
    assert!(ended.is_err_and(|error| is_transient(&error)));
    assert_eq!(world.read(2, table, &[lost, other]).await, [(lost, 100), (other, 100)].into());
}

/// The server lost power, and its log stopped, while the root gave its transaction a timestamp. The client was told that it
/// had committed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_a_power_cut_overtakes_is_not_acknowledged() {
    let (mut world, table) = spread().await;
    let keys: Vec<i64> = (0..KEYS).collect();
    let key = world.key_at(table, 1, &keys).expect("it owns rows");
    let store = Arc::clone(&world.sites[1].store);
    let mut transaction = store.begin_distributed().await.expect("reachable");
    transaction.upsert(table, &batch(&[(key, 1)])).await.expect("its own row");
    world.sites[0].gate.rule("Next", Fate::Wait);
    let before = world.sites[0].gate.seen("Next");
    let commit = tokio::spawn(transaction.commit());
    world.until("it asks for a timestamp", |w| w.sites[0].gate.seen("Next") > before).await;
    let disks = world.cut_power(&[1], 1);
    let noted = async { store.set_fact("noted", Some(vec![1]))?.wait().await };
    noted.await.expect_err("its disk is gone");
    world.sites[0].gate.heal();
    let told = commit.await.expect("no panic");
    world.restart(&[1], disks).await;
    let rows = all(&world, 2, table).await;
    assert!(told.is_err() && rows[&key] == 100, "{told:?}, {}", rows[&key]);
}

/// The root keeps the locks of serializable commits in memory. Started again in the middle of one, it let another one pass
/// it, and each had read what the other one changed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_serializable_commit_fails_when_the_root_has_lost_its_locks() {
    let (mut world, table) = spread().await;
    let keys: Vec<i64> = (0..KEYS).collect();
    let [one, other] = [1, 2].map(|site| world.key_at(table, site, &keys).expect("it owns rows"));
    let mut transactions = Vec::new();
    for (site, written) in [(1, other), (2, one)] {
        let begun = world.sites[site].store.begin_distributed().await;
        let mut transaction = begun.expect("reachable");
        transaction.validate_reads();
        let read = transaction.reading();
        let rows = crate::support::read_of(&read, table, &[one, other]).await;
        assert_eq!(rows.expect("reachable").values().sum::<i64>(), 200);
        transaction.upsert(table, &batch(&[(written, 0)])).await.expect("reachable");
        transactions.push(transaction);
    }
    let (second, first) = (transactions.pop().expect("two"), transactions.pop().expect("two"));
    world.sites[2].gate.rule("Prepare", Fate::Wait);
    let first = tokio::spawn(first.commit());
    world.until("it has its locks", |world| world.sites[2].gate.seen("Prepare") > 0).await;
    world.power_cut(&[0], 1).await;
    let second = second.commit().await;
    world.sites[2].gate.heal();
    let first = first.await.expect("no panic");
    let error = first.expect_err("it has no locks");
    assert!(second.is_ok() && is_transient(&error), "{second:?}, {error}");
    assert_eq!(world.read(2, table, &[one, other]).await, [(one, 0), (other, 100)].into());
}

fn sql_state(error: &Error) -> &str {
    match error {
        Error::Remote { sql_state, .. } => sql_state,
        Error::Failed(failure) => &failure.sql_state,
        _ => "",
    }
}

/// A checkpoint has the newest versions of rows only, and snapshots of other servers outlive a restart: they found rows
/// missing that were there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_that_a_restart_has_made_unreadable_is_refused() {
    let (mut world, table) = spread().await;
    let keys: Vec<i64> = (0..KEYS).collect();
    let key = world.key_at(table, 1, &keys).expect("it owns rows");
    let old = world.sites[2].store.reading().await.expect("reachable");
    upsert(&world, 2, table, &[(key, 1)]).await;
    world.sites[1].store.checkpoint().expect("room");
    world.power_cut(&[1], 1).await;
    all(&world, 2, table).await;
    match crate::support::read_of(&old, table, &[key]).await {
        Ok(rows) => assert_eq!(rows, [(key, 100)].into()),
        Err(error) => assert_eq!(sql_state(&error), "72000", "{error}"),
    }
}

/// After a restart the root did not know which snapshots were in use. It moved keys that lacked versions which some of them
/// needed, to the server that read them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_root_that_was_started_again_keeps_to_the_snapshots_of_others() {
    let (mut world, table) = spread().await;
    let keys: Vec<i64> = (0..KEYS).collect();
    let key = world.key_at(table, 0, &keys).expect("it owns rows");
    let old = world.sites[1].store.reading().await.expect("reachable");
    upsert(&world, 2, table, &[(key, 1)]).await;
    world.sites[0].store.checkpoint().expect("room");
    world.power_cut(&[0], 1).await;
    all(&world, 1, table).await;
    let root = world.sites[0].cluster.clone();
    let range = KeyRange::new(Bound::At(key_of(key)), Bound::At(key_of(key + 1)));
    let range = range.expect("not empty");
    for _ in 0..20 {
        if root.give(table, &range, GroupId(1)).await.is_ok() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    match crate::support::read_of(&old, table, &[key]).await {
        Ok(rows) => assert_eq!(rows, [(key, 100)].into()),
        Err(error) => assert_eq!(sql_state(&error), "72000", "{error}"),
    }
    drop(old);
    let give = async || {
        let _ = root.give(table, &range, GroupId(1)).await;
        world.key_at(table, 0, &[key]).is_none()
    };
    world.until_async("the key moves when nobody reads old versions", give).await;
    assert_eq!(world.read(1, table, &[key]).await, [(key, 1)].into());
}

/// Two servers with data were started with one name before the root had heard the first one. Both were told the same number,
/// and what was meant for the first went to the second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_number_is_given_to_one_server_also_before_it_is_heard() {
    let mut world = World::keeping(1).await;
    world.sites[0].gate.rule("Heartbeat", Fate::SwallowRequest);
    world.add_keeping().await;
    let address = Address::new("elsewhere");
    let network = Arc::new(world.hub.network(address.clone()));
    let intro = NewServer { name: "s1".into(), address, weight: 1 };
    let open = |server| panic!("it was told that it is {server}");
    let joined =
        Cluster::join(intro, &Address::new("s0"), true, open, network, Handle::current()).await;
    let refused = joined.expect_err("the first one may be heard soon");
    assert_eq!(sql_state(&refused), "42710", "{refused}");
    world.sites[0].gate.heal();
    let table = world.table(1, "t").await;
    upsert(&world, 0, table, &[(1, 1)]).await;
}
