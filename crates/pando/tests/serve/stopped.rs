//! Every statement can be stopped, whatever it does, and keeps no other from running.

use super::harness::{Served, connect, get, serve};
use super::raw::{log_in, query};
use futures::future::{join_all, select_all};
use std::io::Write;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, NoTls};
use workloads::endless;

/// A statement that does not end within this time hangs. No statement is this slow, on any machine.
const HANG: Duration = Duration::from_secs(30);

async fn server() -> (Served, Client) {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    client.batch_execute(endless::TABLES).await.expect("the tables are made");
    (served, client)
}

fn code(error: &tokio_postgres::Error) -> Option<&str> {
    error.code().map(tokio_postgres::error::SqlState::code)
}

/// Runs a statement that never ends. The error that ends it, and the time that passed.
async fn ended(client: &Client, sql: &str) -> (Option<String>, Duration) {
    let began = Instant::now();
    let error = tokio::time::timeout(HANG, client.simple_query(sql)).await;
    let error = error.unwrap_or_else(|_| panic!("{sql}: it hangs")).expect_err(sql);
    (code(&error).map(str::to_owned), began.elapsed())
}

#[tokio::test]
async fn every_statement_ends_after_a_cancel_request() {
    let (_served, client) = server().await;
    let token = client.cancel_token();
    let mut slowest = (Duration::ZERO, "");
    for statement in endless::ALL {
        let cancel = async {
            tokio::time::sleep(Duration::from_millis(150)).await;
            token.cancel_query(NoTls).await.expect("asked");
            Instant::now()
        };
        let began = Instant::now();
        let ((code, time), asked) = tokio::join!(ended(&client, statement.sql), cancel);
        assert_eq!(code.as_deref(), Some("57014"), "{}", statement.what);
        let late = (began + time).saturating_duration_since(asked);
        slowest = slowest.max((late, statement.what));
        client.simple_query("SELECT 1").await.expect("the session goes on");
    }
    println!("the slowest to end was {:?}", slowest);
}

#[tokio::test]
async fn every_statement_ends_when_its_time_is_over() {
    let (_served, client) = server().await;
    client.batch_execute("SET statement_timeout = '100ms'").await.expect("set");
    for statement in endless::ALL {
        let (code, _) = ended(&client, statement.sql).await;
        assert_eq!(code.as_deref(), Some("57014"), "{}", statement.what);
    }
}

/// The statements that run, as `pando.queries` lists them.
async fn running(client: &Client) -> i64 {
    let count = "SELECT count(*) - 1 FROM pando.queries";
    client.query_one(count, &[]).await.expect("a count").get(0)
}

#[tokio::test]
async fn a_statement_ends_when_its_client_goes() {
    let (served, client) = server().await;
    for statement in endless::worst() {
        let (mut leaving, _) = log_in(&served.pg);
        leaving.write_all(&query(statement.sql)).expect("sent");
        tokio::time::sleep(Duration::from_millis(50)).await;
        drop(leaving);
    }
    let began = Instant::now();
    while running(&client).await > 0 {
        assert!(began.elapsed() < HANG, "a statement goes on without its client");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn the_worst_statements_keep_no_other_from_running() {
    let (served, client) = server().await;
    let worst = join_all(endless::worst().map(|_| connect(&served, "u", None))).await;
    let worst: Vec<Client> = worst.into_iter().map(|client| client.expect("connected")).collect();
    let running = endless::worst()
        .zip(&worst)
        .map(|(statement, client)| Box::pin(async move { ended(client, statement.sql).await }));
    let running = select_all(running.collect::<Vec<_>>());
    let others = async {
        for _ in 0..20 {
            client.query_one("SELECT 1", &[]).await.expect("a row");
            let new = connect(&served, "u", None).await.expect("a log-in is answered");
            new.query_one("SELECT k FROM n WHERE i = 7", &[]).await.expect("a row");
            let http = served.http.clone();
            let healthz = tokio::task::spawn_blocking(move || get(&http, "/healthz"));
            assert!(healthz.await.expect("answered").ends_with("ok\n"));
        }
    };
    // No endless statement ends, so the others are the first.
    tokio::select! {
        ((code, _), index, _) = running => panic!("statement {index} ended: {code:?}"),
        () = others => {}
    }
}

#[tokio::test]
async fn a_cancelled_statement_fails_its_transaction_only() {
    let (_served, client) = server().await;
    client.batch_execute("BEGIN; INSERT INTO target VALUES (1); SAVEPOINT s").await.expect("begun");
    client.batch_execute("SET LOCAL statement_timeout = '50ms'").await.expect("set");
    let (ended_by, _) = ended(&client, endless::ALL[0].sql).await;
    assert_eq!(ended_by.as_deref(), Some("57014"));
    let refused = client.simple_query("SELECT 1").await.expect_err("the transaction has failed");
    assert_eq!(code(&refused), Some("25P02"));
    client.batch_execute("ROLLBACK TO s; COMMIT").await.expect("committed");
    let count = client.query_one("SELECT count(*) FROM target", &[]).await.expect("a row");
    assert_eq!(count.get::<_, i64>(0), 1);
}

#[tokio::test]
async fn a_stopped_block_leaves_no_transaction_behind() {
    let (_served, client) = server().await;
    client.batch_execute("SET statement_timeout = '3ms'").await.expect("set");
    // The time ends at any point of the block: it, or who waits for it, notices first.
    for _ in 0..200 {
        let (ended_by, _) = ended(&client, "DO $$ BEGIN LOOP PERFORM 1; END LOOP; END $$").await;
        assert_eq!(ended_by.as_deref(), Some("57014"));
        // It may take longer than that, too.
        let shown = client.batch_execute("SHOW statement_timeout").await;
        let refused = shown.err().and_then(|error| code(&error).map(str::to_owned));
        assert_ne!(refused.as_deref(), Some("25P02"), "the transaction has failed");
    }
}

#[tokio::test]
async fn a_transaction_ends_although_its_statement_goes_on() {
    let (_served, client) = server().await;
    client.batch_execute("SET work_mem = '7MB'").await.expect("set");
    // The planner computes a constant at once.
    let unaware = "SELECT decode(repeat('00', 30000000), 'hex')";
    for begin in ["", "BEGIN;"] {
        let settings = "SET work_mem = '9MB'; SET statement_timeout = '50ms';";
        let script = format!("{begin} {settings} {unaware}");
        assert_eq!(ended(&client, &script).await.0.as_deref(), Some("57014"));
        client.batch_execute("ROLLBACK").await.expect("rolled back");
        assert!(running(&client).await > 0, "nobody waits for the statement");
        let set = client.query_one("SHOW work_mem", &[]).await.expect("a row");
        assert_eq!(set.get::<_, &str>(0), "7MB");
        while running(&client).await > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
