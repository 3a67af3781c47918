//! Advisory locks over three servers: sessions of all servers exclude each other.

use crate::harness::{run, soon, three, until};
use std::time::Duration;
use tokio_postgres::Client;

/// Whether a query says so.
async fn says(client: &Client, sql: &str) -> bool {
    soon(client.query_one(sql, &[])).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
}

/// A statement that waits.
async fn waits(client: Client, sql: &'static str) -> tokio::task::JoinHandle<Client> {
    let waiting = tokio::spawn(async move {
        run(&client, sql).await;
        client
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!waiting.is_finished(), "it waits: {sql}");
    waiting
}

#[tokio::test]
async fn sessions_of_all_servers_exclude_each_other() {
    let servers = three();
    let [one, two, three] =
        [servers[0].connect().await, servers[1].connect().await, servers[2].connect().await];
    for (holder, other) in [(&two, &three), (&one, &two), (&three, &one)] {
        assert!(says(holder, "SELECT pg_try_advisory_lock(42)").await);
        assert!(says(holder, "SELECT pg_try_advisory_lock(42)").await);
        assert!(!says(other, "SELECT pg_try_advisory_lock(42)").await);
        assert!(says(other, "SELECT pg_try_advisory_lock(0, 42)").await, "another space");
        assert!(says(other, "SELECT pg_advisory_unlock(0, 42)").await);
        assert!(says(holder, "SELECT pg_advisory_unlock(42)").await);
        assert!(!says(other, "SELECT pg_try_advisory_lock_shared(42)").await, "taken twice");
        assert!(says(holder, "SELECT pg_advisory_unlock(42)").await);
        assert!(!says(holder, "SELECT pg_advisory_unlock(42)").await);
        assert!(says(other, "SELECT pg_try_advisory_lock_shared(42)").await);
        assert!(says(holder, "SELECT pg_try_advisory_lock_shared(42)").await);
        assert!(!says(holder, "SELECT pg_try_advisory_lock(42)").await);
        run(other, "SELECT pg_advisory_unlock_all()").await;
        run(holder, "SELECT pg_advisory_unlock_all()").await;
    }

    // Who waits goes on when the lock is free: released, or with the end of the session.
    run(&two, "SELECT pg_advisory_lock(1)").await;
    let waiting = waits(three, "SELECT pg_advisory_lock(1)").await;
    run(&two, "SELECT pg_advisory_unlock(1)").await;
    let three = soon(waiting).await.expect("it has the lock");
    let waiting = waits(one, "SELECT pg_advisory_lock(1)").await;
    drop(three);
    let one = soon(waiting).await.expect("it has the lock");
    run(&two, "SET lock_timeout = '200ms'").await;
    let late = two.execute("SELECT pg_advisory_lock(1)", &[]).await.expect_err("it is taken");
    assert_eq!(late.code().map(|code| code.code()), Some("55P03"), "{late}");
    run(&one, "SELECT pg_advisory_unlock(1)").await;
    assert!(says(&two, "SELECT pg_try_advisory_lock(1)").await, "who gave up is not in the way");
}

#[tokio::test]
async fn locks_of_transactions_end_with_them() {
    let servers = three();
    let (one, two) = (servers[1].connect().await, servers[2].connect().await);
    for end in ["COMMIT", "ROLLBACK"] {
        run(&one, "BEGIN").await;
        run(&one, "SELECT pg_advisory_xact_lock(7)").await;
        run(&one, "SELECT pg_advisory_xact_lock(7)").await;
        assert!(!says(&two, "SELECT pg_try_advisory_xact_lock(7)").await);
        run(&one, end).await;
        assert!(says(&two, "SELECT pg_try_advisory_xact_lock(7)").await, "after {end}");
        assert!(says(&one, "SELECT pg_try_advisory_xact_lock(7)").await, "no transaction is open");
    }
    run(&one, "BEGIN").await;
    run(&one, "SELECT pg_advisory_xact_lock(7)").await;
    one.execute("SELECT 1 / 0", &[]).await.expect_err("the transaction fails");
    assert!(says(&two, "SELECT pg_try_advisory_lock(7)").await, "a failed transaction has none");
    run(&one, "ROLLBACK").await;
    assert!(!says(&one, "SELECT pg_try_advisory_lock(7)").await);
}

#[tokio::test]
async fn a_circle_over_servers_is_found() {
    let servers = three();
    let (one, two) = (servers[1].connect().await, servers[2].connect().await);
    run(&one, "SELECT pg_advisory_lock(1)").await;
    run(&two, "SELECT pg_advisory_lock(2)").await;
    let first = tokio::spawn(async move { one.execute("SELECT pg_advisory_lock(2)", &[]).await });
    let second = tokio::spawn(async move { two.execute("SELECT pg_advisory_lock(1)", &[]).await });
    let ends = [soon(first).await.expect("ended"), soon(second).await.expect("ended")];
    let failed: Vec<String> =
        ends.iter().filter_map(|end| Some(end.as_ref().err()?.code()?.code().to_owned())).collect();
    assert_eq!(failed, ["40P01"], "one is enough");
}

#[tokio::test]
async fn locks_of_a_server_that_is_gone_end() {
    let [first, mut second, third] = three();
    let (two, three) = (second.connect().await, third.connect().await);
    run(&two, "SELECT pg_advisory_lock(5)").await;
    assert!(!says(&three, "SELECT pg_try_advisory_lock(5)").await);
    second.signal("-KILL");
    second.end();
    until(&three, "SELECT pg_try_advisory_lock(5)").await;
    drop(first);
}
