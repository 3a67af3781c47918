//! Deferrable unique constraints over four servers, while rows and entries of indexes move: no value is ever twice, and
//! nobody is refused who only has to wait.

use crate::random_moves::RandomMoves;
use crate::statements::{execute, number, until_spread};
use futures::future::join_all;
use pando::{Database, Options, Session};
use std::time::Duration;
use workloads::InProcess;

const SERVERS: usize = 4;

/// Four servers with a table whose constraint is checked when `timing` says. Each row has its number as value.
async fn four(timing: &str) -> InProcess {
    let options = Options { bucket_size: Some(4 << 10), ..Options::default() };
    let servers = InProcess::start(SERVERS, options).await.expect("four servers");
    let table = format!(
        "CREATE TABLE t (id bigint PRIMARY KEY, v bigint UNIQUE DEFERRABLE {timing}, note text)"
    );
    execute(of(&servers, 1), &table).await;
    let fill = "INSERT INTO t SELECT i, i, repeat('x', 40) FROM generate_series(1, 2000) g(i)";
    execute(of(&servers, 2), fill).await;
    until_spread(&servers, "t").await;
    servers
}

fn of(servers: &InProcess, server: usize) -> &Database {
    &servers.servers()[server].database
}

/// The SQLSTATE of the first statement that fails; then the transaction is rolled back.
async fn all(session: &Session, statements: &[&str]) -> Option<String> {
    for sql in statements {
        if let Err(error) = session.execute(sql).await {
            session.execute("ROLLBACK").await.expect("rolled back");
            return Some(error.state().code().to_owned());
        }
    }
    None
}

/// Clients of all servers claim the same values, each in a transaction of its own or in a block, and give values back.
async fn claims(timing: &str) {
    const VALUES: i64 = 12;
    let servers = four(timing).await;
    let random_moves = RandomMoves::over(&servers);
    let clients = (0..8_i64).map(|client| {
        let session = of(&servers, client as usize % SERVERS).session();
        tokio::spawn(async move {
            let mut claimed = 0;
            for round in 0..20_i64 {
                let id = 10_000 + client * 100 + round;
                let value = 10_000 + (client * 5 + round * 7) % VALUES;
                let insert = format!("INSERT INTO t VALUES ({id}, {value}, 'claimed')");
                let free = format!("DELETE FROM t WHERE v = {value} AND note = 'claimed'");
                let failed = match (client + round) % 4 {
                    0 => all(&session, &[&insert]).await,
                    1 => all(&session, &["BEGIN", &insert, "COMMIT"]).await,
                    2 => all(&session, &["BEGIN", &insert, &free, "COMMIT"]).await,
                    _ => all(&session, &[&free]).await,
                };
                match failed.as_deref() {
                    None => claimed += 1,
                    Some(code) => assert!(["23505", "40P01"].contains(&code), "{code}"),
                }
                let twice = "SELECT count(*) FROM (SELECT v FROM t GROUP BY v HAVING count(*) > 1)";
                let found = session.query(twice).await.expect("read");
                let found: Vec<_> =
                    futures::TryStreamExt::try_collect(found.stream).await.expect("read");
                let found: &[arrow::array::RecordBatch] = &found;
                let count = arrow::array::AsArray::as_primitive::<arrow::datatypes::Int64Type>(
                    found[0].column(0),
                );
                assert_eq!(count.value(0), 0, "a value is there twice");
            }
            claimed
        })
    });
    let claimed: i64 = join_all(clients).await.into_iter().map(|done| done.expect("ended")).sum();
    drop(random_moves);
    assert!(claimed > 0, "some claims succeed");
    let rows = "SELECT count(*) - count(DISTINCT v) FROM t";
    assert_eq!(number(of(&servers, 0), rows).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_value_is_twice_at_the_end_of_statements() {
    claims("INITIALLY IMMEDIATE").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_value_is_twice_at_the_end_of_transactions() {
    claims("INITIALLY DEFERRED").await;
}

/// Whoever meets a value that another transaction has given or taken waits for its end, wherever rows and entries are.
async fn waits(timing: &str) {
    let servers = four(timing).await;
    let random_moves = RandomMoves::over(&servers);
    for round in 0..8_usize {
        let (first, second) =
            (of(&servers, round % 4).session(), of(&servers, (round + 1) % 4).session());
        let (id, value) = (20_000 + round, 250 * round + 1);
        first.execute("BEGIN").await.expect("begun");
        let take = match round % 2 {
            0 => format!("DELETE FROM t WHERE v = {value}"),
            _ => format!("UPDATE t SET v = -v WHERE v = {value}"),
        };
        first.execute(&take).await.expect("nobody has it");
        let insert = format!("INSERT INTO t VALUES ({id}, {value}, '')");
        let inserted = tokio::spawn(async move { all(&second, &[&insert]).await });
        tokio::time::sleep(Duration::from_millis(150)).await;
        assert!(!inserted.is_finished(), "it waits in round {round}");
        let (end, outcome) = match round % 3 {
            0 => ("ROLLBACK", Some("23505".to_owned())),
            _ => ("COMMIT", None),
        };
        first.execute(end).await.expect("ended");
        assert_eq!(inserted.await.expect("ended"), outcome, "round {round}, {end}");
    }
    drop(random_moves);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_that_is_being_taken_is_waited_for_by_statements() {
    waits("INITIALLY IMMEDIATE").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_that_is_being_taken_is_waited_for_by_transactions() {
    waits("INITIALLY DEFERRED").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_values_move_by_one_on_all_servers() {
    let servers = four("INITIALLY IMMEDIATE").await;
    let random_moves = RandomMoves::over(&servers);
    for (server, step) in ["v + 1", "v - 1", "2001 - v"].into_iter().enumerate() {
        execute(of(&servers, server), &format!("UPDATE t SET v = {step}")).await;
        assert_eq!(number(of(&servers, 3), "SELECT count(DISTINCT v) FROM t").await, 2000);
    }
    let session = of(&servers, 1).session();
    let twice = all(&session, &["UPDATE t SET v = v % 1999"]).await;
    assert_eq!(twice.as_deref(), Some("23505"));
    assert_eq!(number(of(&servers, 2), "SELECT sum(v)::bigint FROM t").await, 2_001_000);
    drop(random_moves);
}
