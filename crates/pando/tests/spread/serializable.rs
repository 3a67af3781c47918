//! SERIALIZABLE over four servers, while rows move: what each transaction has seen is true when it commits.

use crate::joins::rows;
use crate::random_moves::RandomMoves;
use crate::statements::{execute, number, until_spread};
use futures::future::join_all;
use pando::{Database, Options, Session};
use workloads::InProcess;

const SERVERS: usize = 4;

async fn four() -> InProcess {
    let options = Options { bucket_size: Some(4 << 10), ..Options::default() };
    let servers = InProcess::start(SERVERS, options).await.expect("four servers");
    for (server, table) in ["a", "b"].into_iter().enumerate() {
        let create = format!("CREATE TABLE {table} (id bigint PRIMARY KEY, v bigint, note text)");
        execute(of(&servers, server), &create).await;
        let fill = format!(
            "INSERT INTO {table} SELECT i, 1, repeat('x', 40) FROM generate_series(1, 800) g(i)"
        );
        execute(of(&servers, server), &fill).await;
        until_spread(&servers, table).await;
    }
    servers
}

fn of(servers: &InProcess, server: usize) -> &Database {
    &servers.servers()[server].database
}

/// The number that a query in a transaction returns.
async fn number_in(session: &Session, sql: &str) -> i64 {
    let rows = rows(session, sql).await;
    let first = rows[0].split(' ').next().expect("a column");
    first.parse().expect("a number")
}

/// Takes one from a row if the sum of all is greater than `least`. `None` if it has to be done again.
async fn take(session: &Session, (table, id): (&str, i64), least: i64) -> Option<bool> {
    session.execute("BEGIN ISOLATION LEVEL SERIALIZABLE").await.expect("begun");
    let sum = "SELECT ((SELECT sum(v) FROM a) + (SELECT sum(v) FROM b))::bigint";
    let done = async {
        let takes = number_in(session, sum).await > least;
        if takes {
            let update = format!("UPDATE {table} SET v = v - 1 WHERE id = {id}");
            session.execute(&update).await.ok()?;
        }
        session.execute("COMMIT").await.ok()?;
        Some(takes)
    };
    let done = done.await;
    if done.is_none() {
        session.execute("ROLLBACK").await.expect("rolled back");
    }
    done
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_condition_over_two_tables_holds_whoever_changes_them() {
    const LEAST: i64 = 1_560;
    let servers = four().await;
    let random_moves = RandomMoves::over(&servers);
    let clients = (0..4_usize).map(|client| {
        let session = of(&servers, client % SERVERS).session();
        tokio::spawn(async move {
            let (mut taken, mut tries) = (0, 0_i64);
            loop {
                tries += 1;
                let table = if client % 2 == 0 { "a" } else { "b" };
                let id = (client as i64 * 191 + tries * 37) % 800 + 1;
                match take(&session, (table, id), LEAST).await {
                    Some(true) => taken += 1,
                    Some(false) => return taken,
                    None => tokio::task::yield_now().await,
                }
                assert!(tries < 5_000, "nobody gets on");
            }
        })
    });
    let taken: i64 = join_all(clients).await.into_iter().map(|done| done.expect("ended")).sum();
    drop(random_moves);
    assert_eq!(taken, 1_600 - LEAST);
    let sum = "SELECT ((SELECT sum(v) FROM a) + (SELECT sum(v) FROM b))::bigint";
    assert_eq!(number(of(&servers, 3), sum).await, LEAST);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_transactions_that_miss_each_other_is_refused() {
    let servers = four().await;
    for round in 0..8_usize {
        let sessions = [of(&servers, round % 4).session(), of(&servers, (round + 1) % 4).session()];
        for (session, (read, written)) in sessions.iter().zip([("a", "b"), ("b", "a")]) {
            session.execute("BEGIN ISOLATION LEVEL SERIALIZABLE").await.expect("begun");
            rows(session, &format!("SELECT sum(v)::bigint FROM {read}")).await;
            let id = round * 90 + 1;
            let update = format!("UPDATE {written} SET v = v + 1 WHERE id = {id}");
            session.execute(&update).await.expect("nobody else has it");
        }
        let mut ends = Vec::new();
        for session in &sessions {
            ends.push(session.execute("COMMIT").await.err().map(|error| error.state().code()));
        }
        assert_eq!(ends, [None, Some("40001")], "round {round}");
    }
}
