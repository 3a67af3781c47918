//! Locks over four servers, while rows move: transfers, queues, deadlocks.

use crate::joins::rows;
use crate::random_moves::RandomMoves;
use crate::statements::{execute, number, until_spread};
use futures::future::join_all;
use pando::{Database, Options, Session};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use workloads::InProcess;

const SERVERS: usize = 4;
const ROWS: i64 = 2_000;

async fn four() -> InProcess {
    let options = Options { bucket_size: Some(4 << 10), ..Options::default() };
    let servers = InProcess::start(SERVERS, options).await.expect("four servers");
    execute(of(&servers, 1), "CREATE TABLE t (id bigint PRIMARY KEY, v bigint, note text)").await;
    let fill = "INSERT INTO t SELECT i, 100, repeat('x', 40) FROM generate_series(1, 2000) g(i)";
    execute(of(&servers, 2), fill).await;
    until_spread(&servers, "t").await;
    servers
}

fn of(servers: &InProcess, server: usize) -> &Database {
    &servers.servers()[server].database
}

/// The SQLSTATE of the first statement that fails; then the transaction is rolled back.
async fn all(session: &Session, statements: &[String]) -> Option<String> {
    for sql in statements {
        if let Err(error) = session.execute(sql).await {
            session.execute("ROLLBACK").await.expect("rolled back");
            return Some(error.state().code().to_owned());
        }
    }
    None
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_lose_nothing_and_fail_only_in_deadlocks() {
    let servers = four().await;
    let random_moves = RandomMoves::over(&servers);
    let clients = (0..8_i64).map(|client| {
        let session = of(&servers, client as usize % SERVERS).session();
        tokio::spawn(async move {
            let mut done = 0;
            for round in 0..15_i64 {
                // Few rows, far apart, in every order.
                let (from, to) = ((client * 7 + round) % 5 * 400 + 1, (round * 3) % 5 * 400 + 1);
                let step = |id: i64, by: i64| format!("UPDATE t SET v = v + {by} WHERE id = {id}");
                let transfer =
                    ["BEGIN".to_owned(), step(from, -1), step(to, 1), "COMMIT".to_owned()];
                match all(&session, &transfer).await {
                    None => done += 1,
                    Some(code) => assert_eq!(code, "40P01"),
                }
            }
            done
        })
    });
    let done: i64 = join_all(clients).await.into_iter().map(|done| done.expect("ended")).sum();
    drop(random_moves);
    assert!(done > 0, "some transfers succeed");
    assert_eq!(number(of(&servers, 0), "SELECT sum(v)::bigint FROM t").await, 100 * ROWS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contended_increments_from_all_servers_all_succeed() {
    let servers = four().await;
    let clients = (0..8_usize).map(|client| {
        let session = of(&servers, client % SERVERS).session();
        tokio::spawn(async move {
            for round in 0..10 {
                let sql = match (client + round) % 3 {
                    0 => "UPDATE t SET v = v + 1 WHERE id = 1234",
                    1 => "BEGIN; UPDATE t SET v = v + 1 WHERE id = 1234; COMMIT",
                    _ => "UPDATE t SET v = v + 1 WHERE note LIKE 'x%' AND id BETWEEN 1230 AND 1239",
                };
                session.execute(sql).await.expect("it waits");
            }
        })
    });
    for client in join_all(clients).await {
        client.expect("no client fails");
    }
    assert_eq!(number(of(&servers, 3), "SELECT v FROM t WHERE id = 1234").await, 180);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_hands_each_job_out_once() {
    const JOBS: i64 = 60;
    let servers = four().await;
    let workers = (0..8_usize).map(|worker| {
        let session = of(&servers, worker % SERVERS).session();
        tokio::spawn(async move {
            let mut taken = Vec::new();
            loop {
                session.execute("BEGIN").await.expect("begun");
                let next = format!(
                    "SELECT id FROM t WHERE v = 100 AND id % 20 = 0 AND id <= {} \
                     ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
                    JOBS * 20
                );
                let next = rows(&session, &next).await;
                let Some(job) = next.first().and_then(|row| row.split(' ').next()) else {
                    session.execute("ROLLBACK").await.expect("over");
                    return taken;
                };
                let done = format!("UPDATE t SET v = 101 WHERE id = {job}; COMMIT");
                session.execute(&done).await.expect("the row is locked");
                taken.push(job.to_owned());
            }
        })
    });
    let mut all = Vec::new();
    for worker in join_all(workers).await {
        all.extend(worker.expect("no worker fails"));
    }
    assert_eq!(all.len() as i64, JOBS, "each job is done");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>().len() as i64, JOBS, "none twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_circle_over_all_servers_one_transaction_gives_up() {
    let servers = four().await;
    let sessions: Vec<Session> =
        (0..SERVERS).map(|server| of(&servers, server).session()).collect();
    let update = |place: usize| format!("UPDATE t SET v = v + 1 WHERE id = {}", place * 500 + 1);
    for (place, session) in sessions.iter().enumerate() {
        session.execute("BEGIN").await.expect("begun");
        session.execute(&update(place)).await.expect("nobody has it");
    }
    let began = Instant::now();
    let ends = sessions.into_iter().enumerate().map(|(place, session)| {
        let next = update((place + 1) % SERVERS);
        tokio::spawn(async move { all(&session, &[next, "COMMIT".to_owned()]).await })
    });
    let failed: Vec<String> =
        join_all(ends).await.into_iter().filter_map(|end| end.expect("ended")).collect();
    assert_eq!(failed, ["40P01"], "one is enough");
    assert!(began.elapsed() < Duration::from_secs(20), "it is found");
    assert_eq!(number(of(&servers, 0), "SELECT sum(v)::bigint FROM t").await, 100 * ROWS + 6);
}
