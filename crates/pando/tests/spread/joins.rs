//! Joins of two tables on three servers with hash-partitioned exchanges: the answers are those of one server, and no resources
//! are left.

use crate::random_moves::RandomMoves;
use crate::statements::{execute, number, servers, until_spread};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::{StreamExt, TryStreamExt};
use pando::{Database, Options, Session};
use std::fmt::Write;
use workloads::InProcess;

pub(crate) const TABLES: &[&str] = &[
    "CREATE TABLE a (id bigint PRIMARY KEY, k bigint, m int, t text)",
    "CREATE TABLE b (id bigint PRIMARY KEY, k bigint, m int, t text)",
    "CREATE TABLE c (id bigint PRIMARY KEY, b bigint, t text)",
    "CREATE TABLE d (of_a bigint, n bigint, t text, PRIMARY KEY (of_a, n)) WITH (colocate_with = a)",
    "INSERT INTO a SELECT i, CASE WHEN i % 7 <> 0 THEN i % 611 END, i % 5, 'key ' || i % 300 \
     FROM generate_series(1, 3000) AS g(i)",
    "INSERT INTO b SELECT i, CASE WHEN i % 11 <> 0 THEN i % 733 END, i % 4, \
     CASE WHEN i % 3 <> 0 THEN 'key ' || i % 450 END FROM generate_series(1, 2500) AS g(i)",
    "INSERT INTO c SELECT i, i * 2, 'key ' || i % 100 FROM generate_series(1, 2000) AS g(i)",
    "INSERT INTO d SELECT i % 3500, i, 'key ' || i % 90 FROM generate_series(1, 5000) AS g(i)",
];

pub(crate) const QUERIES: &[&str] = &[
    "SELECT a.id, b.id FROM a JOIN b ON a.k = b.k",
    "SELECT a.id, b.id FROM a LEFT JOIN b ON a.k = b.k AND b.m > 1",
    "SELECT a.id, b.id FROM a RIGHT JOIN b ON a.k = b.k AND a.m < b.m",
    "SELECT a.id, b.id, a.t, b.t FROM a FULL JOIN b ON a.k = b.k AND a.id > b.id",
    "SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.m <> a.m)",
    "SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k)",
    "SELECT id FROM a WHERE k IN (SELECT k FROM b)",
    "SELECT id FROM a WHERE k NOT IN (SELECT k FROM b WHERE k IS NOT NULL)",
    "SELECT id FROM a WHERE k NOT IN (SELECT k FROM b)",
    "SELECT id FROM a WHERE m = 3 OR k IN (SELECT k FROM b)",
    "SELECT a.id, b.id FROM a JOIN b ON a.k = b.k AND a.m = b.m",
    "SELECT a.id, b.id FROM a JOIN b ON a.t = b.t AND a.k = b.k",
    "SELECT a.id, b.id FROM a JOIN b ON a.k IS NOT DISTINCT FROM b.k WHERE a.id < 200 AND b.id < 300",
    "SELECT upper(a.t), count(*), sum(b.id) FROM a JOIN b ON a.t = b.t GROUP BY 1",
    "SELECT a.t, count(*), sum(b.id) FROM a JOIN b ON a.t = b.t GROUP BY a.t HAVING count(*) > 10",
    "SELECT k, count(DISTINCT m) FROM a GROUP BY k",
    "SELECT a.id, b.id, c.id FROM a JOIN b ON a.k = b.k JOIN c ON c.b = b.id",
    "SELECT a.id, c.t FROM a LEFT JOIN b ON a.k = b.k LEFT JOIN c ON c.b = b.id WHERE a.m = 2",
    "SELECT x.id, y.id FROM a x JOIN a y ON x.t = y.t AND x.id < y.id",
    "SELECT a.k, b.n FROM a JOIN (SELECT k, count(*) AS n FROM b GROUP BY k) b ON a.k = b.k",
    "SELECT a.id, s.i FROM a JOIN generate_series(1, 5000) AS s(i) ON a.k = s.i",
    "SELECT a.id, d.n FROM a JOIN d ON d.of_a = a.id",
    "SELECT a.id, d.n FROM a FULL JOIN d ON d.of_a = a.id AND d.n > 2000 AND a.m <> 2",
    "SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM d WHERE d.of_a = a.id AND d.t = a.t)",
    "SELECT a.id, count(*), min(d.t) FROM a JOIN d ON d.of_a = a.id WHERE a.m > 1 GROUP BY a.id",
    "SELECT x.n, y.n FROM d x JOIN d y ON x.of_a = y.of_a AND x.n < y.n",
    "SELECT a.t, sum(b.id), count(d.n) FROM a JOIN d ON d.of_a = a.id JOIN b ON b.k = a.k GROUP BY a.t",
    "SELECT k FROM a INTERSECT SELECT k FROM b",
    "SELECT k, m FROM a EXCEPT SELECT k, m FROM b",
    "SELECT k FROM a UNION SELECT k FROM b",
    "SELECT t, sum(n) FROM (SELECT t, 1 AS n FROM a UNION ALL SELECT b.t, 1 FROM b JOIN c ON b.id = c.b) GROUP BY t",
    "SELECT a.id, row_number() OVER (PARTITION BY a.k ORDER BY b.id, a.id) FROM a JOIN b ON a.k = b.k",
    "SELECT a.id, b.id FROM a JOIN b ON a.k = b.k ORDER BY b.id DESC, a.id LIMIT 20",
    "SELECT count(*) FROM (SELECT 1 FROM a JOIN b ON a.m = b.m LIMIT 1234)",
];

pub(crate) async fn rows(session: &Session, sql: &str) -> Vec<String> {
    let answer = session.query(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let batches = answer.stream.try_collect::<Vec<_>>().await;
    let options = FormatOptions::new().with_null("NULL");
    let mut lines = Vec::new();
    for batch in batches.unwrap_or_else(|error| panic!("{sql}: {error}")) {
        let columns = batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options));
        let columns: Vec<_> = columns.collect::<Result<_, _>>().expect("values");
        for row in 0..batch.num_rows() {
            let mut line = String::new();
            columns.iter().for_each(|column| {
                let _ = write!(line, "{} | ", column.value(row));
            });
            lines.push(line);
        }
    }
    lines.sort();
    lines
}

/// A session that hash-partitions both sides of each join.
pub(crate) async fn partitioning(servers: &InProcess, server: usize) -> Session {
    let session = servers.servers()[server].database.session();
    session.execute("SET pando.broadcast_bytes = 0").await.expect("set");
    session
}

pub(crate) async fn spread() -> InProcess {
    let servers = servers().await;
    for statement in TABLES {
        execute(&servers.servers()[0].database, statement).await;
    }
    for table in ["a", "b", "c"] {
        until_spread(&servers, table).await;
    }
    servers
}

/// Waits until no server has an exchange, stored rows of a bundle, or memory of a query.
pub(crate) async fn until_nothing_is_left(servers: &InProcess) {
    until_nothing_is_left_on(servers.servers()).await;
}

async fn until_nothing_is_left_on(servers: &[workloads::Member]) {
    let begun = std::time::Instant::now();
    for server in servers {
        for sql in [
            "SELECT value FROM pando.counters WHERE name = 'exchanges'",
            "SELECT value FROM pando.counters WHERE name = 'stored_bundles'",
            "SELECT query_bytes FROM pando.memory",
        ] {
            loop {
                let left = number(&server.database, sql).await;
                if left == 0 {
                    break;
                }
                assert!(begun.elapsed().as_secs() < 30, "{}: {sql} is {left}", server.name);
                tokio::task::yield_now().await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_those_of_one_server() {
    let servers = spread().await;
    let alone = Database::open(Options::default()).expect("a server").session();
    for statement in TABLES {
        alone.execute(statement).await.expect(statement);
    }
    let mut partitioned = 0;
    for random_moves in [false, true] {
        let random_moves = random_moves.then(|| RandomMoves::over(&servers));
        for (number, sql) in QUERIES.iter().enumerate() {
            let session = partitioning(&servers, number % 3).await;
            let plan = rows(&session, &format!("EXPLAIN {sql}")).await;
            partitioned += usize::from(plan.iter().any(|line| line.contains("Exchange")));
            let (answer, expected) = (rows(&session, sql).await, rows(&alone, sql).await);
            let wrong = answer.iter().zip(&expected).find(|(answer, expected)| answer != expected);
            let counts = (answer.len(), expected.len());
            assert!(answer == expected, "{sql}: {counts:?} rows, first {wrong:?}");
        }
        drop(random_moves);
    }
    assert!(
        partitioned > QUERIES.len(),
        "{partitioned} of {} plans have exchanges",
        QUERIES.len() * 2
    );
    until_nothing_is_left(&servers).await;
}

/// Exchanges are not read to their end: image adjustments come with the first rows. The number of forwards may come too late to
/// be counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exchanges_adjust_the_coordinators_image() {
    let servers = spread().await;
    let last = &servers.servers()[2];
    let session = partitioning(&servers, 2).await;
    let adjustments = "SELECT sum(adjustments)::bigint FROM pando.images WHERE server = 'c'";
    let mut counted = Vec::new();
    for _ in 0..2 {
        rows(&session, "SELECT count(*) FROM a JOIN b ON a.k = b.k").await;
        counted.push(number(&last.database, adjustments).await);
    }
    assert!(counted[0] > 0, "at first the image has the initial owners");
    assert_eq!(counted[0], counted[1], "then it is correct");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_joins_its_own_writes() {
    let servers = spread().await;
    let session = partitioning(&servers, 1).await;
    let joined = "SELECT count(*) FROM a JOIN b ON a.k = b.k";
    let before = rows(&session, joined).await;
    session.begin().await.expect("begun");
    session.execute("UPDATE a SET k = 7 WHERE k IS NULL").await.expect("updated");
    session.execute("DELETE FROM b WHERE k <> 7").await.expect("deleted");
    // Four rows of b have the key 7, 428 rows of a had NULL, and five had the key 7.
    let own = rows(&session, joined).await;
    let of_seven =
        "SELECT (SELECT count(*) FROM a WHERE k = 7) * (SELECT count(*) FROM b WHERE k = 7)";
    assert_eq!(own, rows(&session, of_seven).await);
    assert_ne!(own, before);
    assert_eq!(rows(&partitioning(&servers, 2).await, joined).await, before);
    session.commit().await.expect("committed");
    assert_eq!(rows(&partitioning(&servers, 0).await, joined).await, own);
    until_nothing_is_left(&servers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_join_that_is_not_read_to_its_end_leaves_nothing() {
    let servers = spread().await;
    let session = partitioning(&servers, 2).await;
    let pairs = "SELECT a.id, b.id FROM a JOIN b ON a.m = b.m";
    for _ in 0..3 {
        let mut answer = session.query(pairs).await.expect("asked");
        let first = answer.stream.next().await.expect("a batch").expect("rows");
        assert!(first.num_rows() > 0);
        drop(answer);
        assert_eq!(rows(&session, &format!("{pairs} LIMIT 5")).await.len(), 5);
    }
    until_nothing_is_left(&servers).await;
    let mut answer = session.query(pairs).await.expect("asked");
    answer.stream.next().await.expect("a batch").expect("rows");
    session.cancel_handle().cancel();
    let cancelled = answer.stream.try_collect::<Vec<_>>().await.expect_err("cancelled");
    assert_eq!(pando::Error::from(cancelled).state().code(), "57014");
    until_nothing_is_left(&servers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_join_that_fails_on_a_server_fails_and_leaves_nothing() {
    let servers = spread().await;
    let session = partitioning(&servers, 1).await;
    let fails =
        "SELECT count(*) FROM a JOIN b ON a.k = b.k AND 1 / (a.id - 1500) + 1 / (b.id - 700) < 9";
    for _ in 0..3 {
        let answer = session.query(fails).await;
        let error = match answer {
            Ok(answer) => answer.stream.try_collect::<Vec<_>>().await.err().map(pando::Error::from),
            Err(error) => Some(error),
        };
        assert_eq!(error.expect("it divides by zero").state().code(), "22012");
    }
    until_nothing_is_left(&servers).await;
}

/// Runs a query through the second server, cuts a server off after the first rows, and reads on. The query fails unless all rows
/// had been sent.
async fn cut_off_while_it_joins(lost: &str) -> InProcess {
    const ROWS: usize = 14_062_500;
    let servers = spread().await;
    let session = partitioning(&servers, 1).await;
    let many = "SELECT x.id, y.id FROM a x JOIN a y ON x.id % 40 = y.id % 40 JOIN b ON b.id % 40 = x.id % 40";
    let mut answer = session.query(many).await.expect("asked");
    let first = answer.stream.next().await.expect("a batch").expect("rows").num_rows();
    servers.cut_off(lost);
    match answer.stream.try_collect::<Vec<_>>().await {
        Err(error) => assert_eq!(pando::Error::from(error).state().code(), "08006"),
        Ok(rest) => {
            let rest: usize = rest.iter().map(|batch| batch.num_rows()).sum();
            assert_eq!(first + rest, ROWS, "rows are missing without an error");
        }
    }
    servers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_join_that_loses_a_server_is_never_incomplete_and_leaves_nothing() {
    let servers = cut_off_while_it_joins("c").await;
    until_nothing_is_left_on(&servers.servers()[..2]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_join_whose_coordinator_is_lost_leaves_nothing_on_the_others() {
    let servers = cut_off_while_it_joins("b").await;
    until_nothing_is_left_on(&servers.servers()[..1]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_groups_are_aggregated_after_hash_partitioning() {
    let servers = servers().await;
    let first = &servers.servers()[0].database;
    execute(first, "CREATE TABLE g (id bigint PRIMARY KEY, k bigint)").await;
    let rows_of_g =
        "INSERT INTO g SELECT i, i * 7 % 120011 FROM generate_series(1, 130000) AS s(i)";
    execute(first, rows_of_g).await;
    until_spread(&servers, "g").await;
    let session = servers.servers()[2].database.session();
    let grouped = "SELECT k, count(*) FROM g GROUP BY k HAVING count(*) > 1 ORDER BY k LIMIT 3";
    // The estimate of groups needs the statistics of all servers.
    let begun = std::time::Instant::now();
    loop {
        let plan = rows(&session, &format!("EXPLAIN {grouped}")).await;
        if plan.iter().any(|line| line.contains("Exchange")) {
            break;
        }
        assert!(begun.elapsed().as_secs() < 30, "{}", plan.join("\n"));
        tokio::task::yield_now().await;
    }
    assert_eq!(rows(&session, grouped).await, ["14 | 2 | ", "21 | 2 | ", "7 | 2 | "]);
    let counted =
        "SELECT count(*), sum(n)::bigint FROM (SELECT k, count(*) AS n FROM g GROUP BY k) AS x";
    assert_eq!(rows(&session, counted).await, ["120011 | 130000 | "]);
    until_nothing_is_left(&servers).await;
}
