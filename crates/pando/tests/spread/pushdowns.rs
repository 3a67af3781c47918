//! UPDATE and DELETE that are pushed down to the owners of the rows, on four servers with tiny buckets that keep moving.

use crate::joins::rows;
use crate::random_moves::RandomMoves;
use crate::statements::{execute, number, until_spread};
use pando::{Database, Error, Options, Outcome, Session};
use workloads::InProcess;

const SERVERS: usize = 4;
const ROWS: i64 = 4_000;

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY, v bigint CHECK (v >= 0), \
                     name varchar(12) NOT NULL, note text)";
const FILL: &str = "INSERT INTO t SELECT i, i, 'name ' || i, repeat('x', (i % 40)::int) \
                    FROM generate_series(1, 4000) AS g(i)";
const SUM: &str = "SELECT sum(v)::bigint FROM t";
const ALL: &str = "SELECT * FROM t";

async fn four() -> InProcess {
    let options = Options { bucket_size: Some(4 << 10), ..Options::default() };
    let servers = InProcess::start(SERVERS, options).await.expect("four servers");
    execute(of(&servers, 1), TABLE).await;
    execute(of(&servers, 2), FILL).await;
    until_spread(&servers, "t").await;
    servers
}

fn of(servers: &InProcess, server: usize) -> &Database {
    &servers.servers()[server].database
}

/// The tag or error of a statement.
async fn tag(session: &Session, sql: &str) -> Result<String, Error> {
    let outcomes = session.execute(sql).await?;
    let tag = |outcome: &Outcome| match outcome {
        Outcome::Done(tag) => tag.to_string(),
        Outcome::Rows(_) => "rows".to_owned(),
    };
    Ok(outcomes.iter().map(tag).collect::<Vec<_>>().join(", "))
}

async fn is_at_owners(session: &Session, sql: &str) -> bool {
    let plan = rows(session, &format!("EXPLAIN {sql}")).await;
    plan.iter().any(|line| line.contains("by the owners of its rows"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_row_is_changed_twice_and_none_is_missed() {
    const ROUNDS: i64 = 12;
    let servers = four().await;
    let before = number(of(&servers, 0), SUM).await;
    let random_moves = RandomMoves::over(&servers);
    let writers = (0..SERVERS).map(|server| {
        let database = of(&servers, server).clone();
        tokio::spawn(async move {
            let session = database.session();
            for _ in 0..ROUNDS {
                let sql = format!("UPDATE t SET v = v + 1 WHERE id % 4 = {server}");
                assert_eq!(tag(&session, &sql).await.expect("updated"), "UPDATE 1000");
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    for writer in writers {
        writer.await.expect("it ends well");
    }
    for server in 0..SERVERS {
        assert_eq!(number(of(&servers, server), SUM).await, before + ROUNDS * ROWS);
        assert_eq!(number(of(&servers, server), "SELECT count(*) FROM t").await, ROWS);
    }
    let session = of(&servers, 3).session();
    assert_eq!(tag(&session, "DELETE FROM t WHERE id % 5 = 0").await.expect("gone"), "DELETE 800");
    assert_eq!(tag(&session, "DELETE FROM t WHERE id % 5 = 0").await.expect("gone"), "DELETE 0");
    assert_eq!(tag(&session, "DELETE FROM t").await.expect("gone"), "DELETE 3200");
    assert_eq!(number(of(&servers, 0), "SELECT count(*) FROM t").await, 0);
    assert!(random_moves.moves() > 0, "buckets moved meanwhile");
}

/// A deterministic sequence of statements.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    fn statement(&mut self) -> String {
        let (a, b) = (self.below(ROWS as u64), self.below(ROWS as u64));
        let (low, high) = (a.min(b), a.max(b));
        let (of, rest) = (2 + self.below(9), self.below(2));
        match self.below(9) {
            0 => format!("UPDATE t SET v = v + {of} WHERE id % {of} = {rest}"),
            1 => {
                format!(
                    "UPDATE t SET v = v * 2, note = 'n' || name WHERE id BETWEEN {low} AND {high}"
                )
            }
            2 => format!("UPDATE t SET note = upper(coalesce(note, name)) WHERE v > {low}"),
            3 => format!("UPDATE t SET note = NULL, name = left(name, 6) WHERE id = {low}"),
            4 => format!("DELETE FROM t WHERE id % {of} = {rest} AND id > {high}"),
            5 => format!("DELETE FROM t WHERE id = {low}"),
            6 => format!(
                "INSERT INTO t SELECT i, i, 'new', 'row' FROM generate_series({low}, {low} + 200) g(i) \
                 ON CONFLICT DO NOTHING"
            ),
            7 => format!("UPDATE t SET v = -1 WHERE id = {low}"),
            _ => format!("UPDATE t SET name = 'far too long a name' WHERE id = {high}"),
        }
    }
}

/// Runs a statement on the cluster and on a single server, and compares the answers. Returns false if a concurrent move ended the
/// transaction of the cluster with 40001; then the single server did not run the statement.
async fn both(spread: &Session, alone: &Session, sql: &str) -> bool {
    let answer = tag(spread, sql).await;
    if answer.as_ref().is_err_and(|error| error.state().code() == "40001") {
        return false;
    }
    let expected = tag(alone, sql).await;
    assert_eq!(answer, expected, "{sql}");
    if expected.is_err() {
        for session in [spread, alone] {
            session.execute("ROLLBACK TO s").await.expect("back");
        }
    }
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_agree_with_those_of_one_server() {
    let servers = four().await;
    let alone = Database::open(Options::default()).expect("a server").session();
    alone.execute(&format!("{TABLE}; {FILL}")).await.expect("filled");
    let mut dice = Dice(7);
    let random_moves = RandomMoves::over(&servers);
    let mut evicted = 0;
    for round in 0..10 {
        let spread = of(&servers, round % SERVERS).session();
        for session in [&spread, &alone] {
            session.execute("BEGIN; SAVEPOINT first; SAVEPOINT s").await.expect("begun");
        }
        let mut goes_on = true;
        for _ in 0..6 {
            let then = ["SAVEPOINT s", "SAVEPOINT s", "ROLLBACK TO s"][dice.below(3) as usize];
            let statement = dice.statement();
            goes_on = goes_on && both(&spread, &alone, &statement).await;
            goes_on = goes_on && both(&spread, &alone, then).await;
        }
        let end = ["COMMIT", "COMMIT", "ROLLBACK TO first; COMMIT", "ROLLBACK"];
        let end = end[dice.below(4) as usize];
        if !(goes_on && both(&spread, &alone, end).await) {
            evicted += 1;
            for session in [&spread, &alone] {
                session.execute("ROLLBACK").await.expect("rolled back");
            }
        }
        let other = of(&servers, (round + 1) % SERVERS).session();
        assert!(rows(&other, ALL).await == rows(&alone, ALL).await, "round {round}");
    }
    assert!(evicted < 5, "{evicted} of ten transactions met rows on their way");
    assert!(random_moves.moves() > 0, "buckets moved meanwhile");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_changes_its_own_writes() {
    let servers = four().await;
    let session = of(&servers, 3).session();
    for (sql, says) in [
        ("BEGIN", "BEGIN"),
        (
            "INSERT INTO t SELECT i, 0, 'own', NULL FROM generate_series(5001, 5400) g(i)",
            "INSERT 0 400",
        ),
        ("DELETE FROM t WHERE id <= 1000", "DELETE 1000"),
        ("UPDATE t SET v = v + 1 WHERE id <= 1000 OR id > 5000", "UPDATE 400"),
        ("UPDATE t SET v = v + 10 WHERE v = 1", "UPDATE 400"),
        ("SAVEPOINT s", "SAVEPOINT"),
        ("UPDATE t SET v = v + 100", "UPDATE 3400"),
        ("DELETE FROM t WHERE v = 111", "DELETE 400"),
        ("UPDATE t SET v = 0", "UPDATE 3000"),
        ("ROLLBACK TO s", "ROLLBACK"),
        ("UPDATE t SET note = 'seen' WHERE v = 11 AND name = 'own'", "UPDATE 400"),
        ("COMMIT", "COMMIT"),
    ] {
        assert_eq!(tag(&session, sql).await.expect(sql), says, "{sql}");
    }
    let seen = "SELECT count(*) FROM t WHERE note = 'seen' AND v = 11 AND id > 5000";
    assert_eq!(number(of(&servers, 1), seen).await, 400);
    let sum = (1001..=ROWS).sum::<i64>() + 400 * 11;
    assert_eq!(number(of(&servers, 1), SUM).await, sum);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_on_one_server_rolls_back_all() {
    let servers = four().await;
    let alone = Database::open(Options::default()).expect("a server").session();
    alone.execute(&format!("{TABLE}; {FILL}")).await.expect("filled");
    let before = rows(&alone, ALL).await;
    let session = of(&servers, 2).session();
    for sql in [
        "UPDATE t SET v = v - 1000 * (id / 4000) - id + 1",
        "UPDATE t SET name = CASE WHEN id <> 3210 THEN name END",
        "UPDATE t SET name = CASE WHEN id = 3999 THEN name || ' and more' ELSE upper(name) END",
        "UPDATE t SET v = 100 / (id - 2345) + 200",
        "UPDATE t SET note = 'written', v = CASE WHEN id = 17 THEN -1 ELSE v END",
    ] {
        let expected = tag(&alone, sql).await.expect_err(sql);
        assert!(is_at_owners(&session, sql).await, "{sql}");
        assert_eq!(tag(&session, sql).await.expect_err(sql), expected, "{sql}");
        session
            .execute("BEGIN; UPDATE t SET v = 5 WHERE id = 5; SAVEPOINT s")
            .await
            .expect("begun");
        assert_eq!(tag(&session, sql).await.expect_err(sql), expected, "{sql}");
        let goes_on = "ROLLBACK TO s; UPDATE t SET v = v + 1 WHERE id = 5; COMMIT";
        session.execute(goes_on).await.expect("it goes on");
        assert_eq!(number(of(&servers, 0), "SELECT v FROM t WHERE id = 5").await, 6, "{sql}");
        session.execute("UPDATE t SET v = 5 WHERE id = 5").await.expect("as before");
        assert!(rows(&session, ALL).await == before, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_conflict_names_the_row() {
    let servers = four().await;
    let (slow, fast) = (of(&servers, 1).session(), of(&servers, 2).session());
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t";
    slow.execute(begin).await.expect("it has a snapshot");
    fast.execute("UPDATE t SET v = v + 1 WHERE id = 2500").await.expect("first");
    let refused = tag(&slow, "UPDATE t SET v = v + 1").await.expect_err("second");
    assert_eq!(refused.state().code(), "40001");
    assert_eq!(refused.detail(), Some("Table \"t\", key (id)=(2500)."));
    slow.execute("ROLLBACK").await.expect("rolled back");
    let sum = (1..=ROWS).sum::<i64>() + 1;
    assert_eq!(number(of(&servers, 0), SUM).await, sum, "all or nothing");
    // Outside of transactions, the statement is retried.
    let both = [1, 3].map(|server| {
        let session = of(&servers, server).session();
        tokio::spawn(async move {
            for _ in 0..5 {
                session.execute("UPDATE t SET v = v + 1").await.expect("in the end");
            }
        })
    });
    for one in both {
        one.await.expect("it ends well");
    }
    assert_eq!(number(of(&servers, 0), SUM).await, sum + 10 * ROWS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_times_out_changes_all_rows_or_none() {
    let servers = four().await;
    let session = of(&servers, 3).session();
    let _random_moves = RandomMoves::over(&servers);
    let mut sum = (1..=ROWS).sum::<i64>();
    let mut late = 0;
    for milliseconds in (1..200).step_by(7) {
        let limit = format!("SET statement_timeout = {milliseconds}");
        session.execute(&limit).await.expect("set");
        match tag(&session, "UPDATE t SET v = v + 1").await {
            Ok(_) => sum += ROWS,
            Err(error) if error.state().code() == "57014" => late += 1,
            Err(error) => panic!("{error}"),
        }
        // A commit that has started continues, and is visible then or later.
        let seen = number(of(&servers, 0), SUM).await;
        assert!(seen >= sum && (seen - sum) % ROWS == 0, "{limit}: {seen}, after {sum}");
        sum = seen;
    }
    assert!(late > 0, "no time is too short");
    session.execute("RESET statement_timeout; UPDATE t SET v = v + 1").await.expect("free again");
    let seen = number(of(&servers, 1), SUM).await;
    assert!(seen > sum && (seen - sum) % ROWS == 0, "{seen}, after {sum}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_that_depend_on_other_rows_are_made_by_the_coordinator() {
    let servers = four().await;
    let session = of(&servers, 1).session();
    session
        .execute("CREATE SEQUENCE s; CREATE TABLE o (id bigint PRIMARY KEY)")
        .await
        .expect("made");
    for sql in [
        "UPDATE t SET v = nextval('s')",
        "UPDATE t SET v = (random() * 100)::bigint",
        "UPDATE t SET id = id + 10000",
        "UPDATE t SET v = 1 FROM o WHERE o.id = t.id",
        "UPDATE t SET v = (SELECT count(*) FROM o)",
        "DELETE FROM t USING o WHERE o.id = t.id",
        "DELETE FROM t WHERE id IN (SELECT id FROM o)",
        "DELETE FROM t WHERE random() < 0",
        "UPDATE t SET v = 0 RETURNING id",
    ] {
        assert!(!is_at_owners(&session, sql).await, "{sql}");
    }
    for sql in [
        "UPDATE t SET note = now()::text, v = length(note) WHERE v % 2 = 0",
        "DELETE FROM t WHERE note LIKE 'x%' AND name <> current_user",
    ] {
        assert!(is_at_owners(&session, sql).await, "{sql}");
    }
    session.execute("SET pando.shipping = off").await.expect("set");
    assert!(!is_at_owners(&session, "DELETE FROM t").await);
}

/// With DML pushdown, owners return only the number of changed rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_of_all_rows_sends_few_bytes() {
    const BYTES: &str = "SELECT sum(bytes_sent)::bigint FROM pando.servers";
    let servers = four().await;
    let session = of(&servers, 1).session();
    tag(&session, "ALTER SYSTEM SET pando.moves = paused").await.expect("paused");
    let mut bytes = Vec::new();
    for shipping in ["on", "on", "off"] {
        tag(&session, &format!("SET pando.shipping = {shipping}")).await.expect("set");
        let before = number(of(&servers, 1), BYTES).await;
        assert_eq!(tag(&session, "UPDATE t SET v = v + 1").await.expect("done"), "UPDATE 4000");
        bytes.push(number(of(&servers, 1), BYTES).await - before);
    }
    // The first statement may have adjusted the image.
    let [_, by_owners, from_here] = bytes[..] else { unreachable!("three updates") };
    assert!(from_here > 5 * by_owners, "{from_here} and {by_owners} bytes");
}
