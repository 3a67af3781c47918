//! Sessions that wait for each other: contended rows, queues, deadlocks, and what a wait ends with.
//!
//! The scripts in `tests/isolation` compare the steps of a few sessions with PostgreSQL's; here are many.

use futures::future::join_all;
use query::{Database, Options, Outcome, Session};
use servers::Servers;
use std::collections::BTreeSet;
use std::time::Duration;

mod servers;

async fn prepared(setup: &[&str]) -> Database {
    let database = Database::open(Options::default()).expect("opened");
    for sql in setup {
        database.session().execute(sql).await.expect("set up");
    }
    database
}

/// The first column of a query, as numbers.
async fn numbers(session: &Session, sql: &str) -> Result<Vec<i64>, values::error::Error> {
    let rows = session.query(sql).await?;
    first_column(Outcome::Rows(rows)).await
}

/// The first column of an outcome, as numbers.
async fn first_column(outcome: Outcome) -> Result<Vec<i64>, values::error::Error> {
    use datafusion::arrow::array::AsArray;
    use datafusion::arrow::compute::cast;
    use datafusion::arrow::datatypes::{DataType, Int64Type};
    use futures::TryStreamExt;
    let Outcome::Rows(rows) = outcome else { return Ok(Vec::new()) };
    let batches: Vec<_> = rows.stream.try_collect().await?;
    let mut all = Vec::new();
    for batch in batches {
        let column = cast(batch.column(0), &DataType::Int64).expect("numbers");
        all.extend(column.as_primitive::<Int64Type>().iter().flatten());
    }
    Ok(all)
}

#[tokio::test(flavor = "multi_thread")]
async fn contended_updates_of_one_row_all_succeed() {
    let database =
        prepared(&["CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t VALUES (1, 0)"])
            .await;
    let clients = (0..16).map(|client| {
        let session = database.session();
        tokio::spawn(async move {
            for round in 0..25 {
                match (client + round) % 3 {
                    0 => {
                        let update = "UPDATE t SET v = v + 1 WHERE id = 1";
                        session.execute(update).await.expect("it waits");
                    }
                    1 => {
                        let update = session.prepare("UPDATE t SET v = v + 1 WHERE id = $1");
                        let update = update.await.expect("prepared");
                        let one = datafusion::common::ScalarValue::Int32(Some(1));
                        let done = update.execute(&[one]).await.expect("it waits");
                        assert!(matches!(done, Outcome::Done(_)));
                    }
                    _ => {
                        session.execute("BEGIN").await.expect("begun");
                        let read = "SELECT v FROM t WHERE id = 1 FOR UPDATE";
                        let before = numbers(&session, read).await.expect("it waits")[0];
                        let update = format!("UPDATE t SET v = {} WHERE id = 1", before + 1);
                        session.execute(&update).await.expect("nobody else has it");
                        session.execute("COMMIT").await.expect("committed");
                    }
                }
            }
        })
    });
    for client in join_all(clients).await {
        client.expect("no client fails");
    }
    let sum = numbers(&database.session(), "SELECT v FROM t").await.expect("read");
    assert_eq!(sum, [16 * 25], "no update is lost");
}

/// Prepared statements find rows by an index, lock them by their keys, and return them: each change counts once.
#[tokio::test(flavor = "multi_thread")]
async fn contended_changes_of_prepared_statements_all_succeed() {
    use datafusion::common::ScalarValue;
    const CLIENTS: i32 = 12;
    const ROUNDS: i32 = 20;
    let database = prepared(&[
        "CREATE TABLE t (id int PRIMARY KEY, code int, v int)",
        "CREATE INDEX ON t (code)",
        "INSERT INTO t VALUES (1, 10, 0), (2, 10, 0), (3, 30, 0)",
        "CREATE TABLE tickets (id int PRIMARY KEY, code int)",
        "CREATE INDEX ON tickets (code)",
        "INSERT INTO tickets SELECT g, g % 40 FROM generate_series(1, 40) AS s(g)",
    ])
    .await;
    let clients = (0..CLIENTS).map(|client| {
        let session = database.session();
        tokio::spawn(async move {
            let number = |number: i32| ScalarValue::Int32(Some(number));
            let by_code = session.prepare("UPDATE t SET v = v + 1 WHERE code = $1").await;
            let lock = session.prepare("SELECT v FROM t WHERE id = $1 FOR UPDATE").await;
            let set = session.prepare("UPDATE t SET v = $2 WHERE id = $1").await;
            let take = session.prepare("DELETE FROM tickets WHERE code = $1 RETURNING id").await;
            let (by_code, lock) = (by_code.expect("prepared"), lock.expect("prepared"));
            let (set, take) = (set.expect("prepared"), take.expect("prepared"));
            let mut taken = 0;
            for round in 0..ROUNDS {
                by_code.execute(&[number(10)]).await.expect("it waits");
                session.execute("BEGIN").await.expect("begun");
                let found = lock.execute(&[number(3)]).await.expect("it waits");
                let before = first_column(found).await.expect("a row")[0] as i32;
                set.execute(&[number(3), number(before + 1)]).await.expect("it has the lock");
                session.execute("COMMIT").await.expect("committed");
                let code = (round * CLIENTS + client) / 6 % 40;
                let ticket = take.execute(&[number(code)]).await.expect("it waits");
                taken += first_column(ticket).await.expect("rows").len();
            }
            taken
        })
    });
    let mut taken = 0;
    for client in join_all(clients).await {
        taken += client.expect("no client fails");
    }
    let session = database.session();
    let all = numbers(&session, "SELECT v FROM t ORDER BY id").await.expect("read");
    assert_eq!(all, [i64::from(CLIENTS * ROUNDS); 3], "no update is lost");
    let left = numbers(&session, "SELECT count(*) FROM tickets").await.expect("read");
    assert_eq!(taken as i64 + left[0], 40, "each ticket is taken once");
}

/// Prepared statements take jobs from a queue, one or several at a time.
#[tokio::test(flavor = "multi_thread")]
async fn a_queue_of_prepared_statements_hands_each_job_out_once() {
    const JOBS: i64 = 400;
    let database = prepared(&[
        "CREATE TABLE jobs (id int PRIMARY KEY, state text, due int)",
        "CREATE INDEX ON jobs (state, due)",
        "INSERT INTO jobs SELECT g, 'new', g % 7 FROM generate_series(1, 400) AS s(g)",
    ])
    .await;
    let statements = [
        "DELETE FROM jobs WHERE id = (SELECT id FROM jobs WHERE state = 'new' ORDER BY id LIMIT 1 \
         FOR UPDATE SKIP LOCKED) RETURNING id",
        "UPDATE jobs j SET state = 'taken' WHERE j.id IN (SELECT id FROM jobs WHERE state = 'new' \
         ORDER BY due DESC LIMIT 3 FOR UPDATE SKIP LOCKED) RETURNING j.id",
        "UPDATE jobs SET state = 'taken' WHERE id = (SELECT id FROM jobs WHERE state = 'new' \
         ORDER BY due, id LIMIT 1 FOR NO KEY UPDATE) RETURNING id",
    ];
    let workers = (0..12).map(|worker| {
        let session = database.session();
        tokio::spawn(async move {
            let take = session.prepare(statements[worker % 3]).await.expect("prepared");
            let mut taken = Vec::new();
            loop {
                let is_block = taken.len() % 4 == 1;
                if is_block {
                    session.execute("BEGIN").await.expect("begun");
                }
                let jobs = take.execute(&[]).await.expect("it skips or waits");
                let jobs = first_column(jobs).await.expect("rows");
                if is_block {
                    session.execute("COMMIT").await.expect("committed");
                }
                if jobs.is_empty() {
                    let left = numbers(&session, "SELECT count(*) FROM jobs WHERE state = 'new'");
                    if left.await.expect("read") == [0] {
                        return taken;
                    }
                }
                taken.extend(jobs);
            }
        })
    });
    let mut taken = Vec::new();
    for worker in join_all(workers).await {
        taken.extend(worker.expect("no worker fails"));
    }
    taken.sort_unstable();
    assert_eq!(taken, (1..=JOBS).collect::<Vec<_>>(), "each job is taken once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_with_many_workers_hands_each_job_out_once() {
    let jobs = "CREATE TABLE jobs (id int PRIMARY KEY, state text)";
    let database = prepared(&[jobs]).await;
    hand_out_jobs(&[&database], "id", || {}).await;
}

/// Rows of a table without a primary key were refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_queue_without_a_key_hands_each_job_out_once() {
    let database = prepared(&["CREATE TABLE jobs (id int, state text)"]).await;
    hand_out_jobs(&[&database], "state", || {}).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_on_several_servers_hands_each_job_out_once() {
    for jobs in [
        "CREATE TABLE jobs (id bigint PRIMARY KEY, state text)",
        "CREATE TABLE jobs (id bigint, state text)",
    ] {
        let servers = Servers::start(3, &Options { threads: Some(2), ..Options::default() });
        servers.database(0).session().execute(jobs).await.expect("created");
        let all: Vec<&Database> = (0..3).map(|group| servers.database(group)).collect();
        hand_out_jobs(&all, "id", || servers.spread()).await;
    }
}

/// Many workers, at all servers, take the jobs of a table in an order.
async fn hand_out_jobs(databases: &[&Database], order: &str, filled: impl FnOnce()) {
    let fill = "INSERT INTO jobs SELECT n, 'new' FROM generate_series(1, 200) n";
    databases[0].session().execute(fill).await.expect("filled");
    filled();
    let next = format!(
        "SELECT id FROM jobs WHERE state = 'new' ORDER BY {order} LIMIT 1 FOR UPDATE SKIP LOCKED"
    );
    let workers = (0..32).map(|worker: usize| {
        let session = databases[worker % databases.len()].session();
        let (worker, next) = (worker as i64, next.clone());
        tokio::spawn(async move {
            let mut taken = Vec::new();
            loop {
                session.execute("BEGIN").await.expect("begun");
                let found = numbers(&session, &next).await.expect("nobody waits");
                let Some(job) = found.first() else {
                    session.execute("ROLLBACK").await.expect("over");
                    return taken;
                };
                let done = format!("UPDATE jobs SET state = 'done' WHERE id = {job}");
                session.execute(&done).await.expect("the row is locked");
                // Some workers give up, and the job is taken again.
                if (worker + job) % 7 == 0 && taken.len() < 3 {
                    session.execute("ROLLBACK").await.expect("rolled back");
                    taken.push(-job);
                } else {
                    session.execute("COMMIT").await.expect("committed");
                    taken.push(*job);
                }
            }
        })
    });
    let mut all = Vec::new();
    for worker in join_all(workers).await {
        all.extend(worker.expect("no worker fails").into_iter().filter(|job| *job > 0));
    }
    assert_eq!(all.len(), 200, "each job is done");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>().len(), 200, "none twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_transactions_that_wait_in_a_circle_one_gives_up() {
    let database = prepared(&[
        "CREATE TABLE t (id int PRIMARY KEY, v int)",
        "INSERT INTO t SELECT n, 0 FROM generate_series(0, 4) n",
    ])
    .await;
    let barrier = std::sync::Arc::new(tokio::sync::Barrier::new(5));
    let sessions = (0..5).map(|number| {
        let (session, barrier) = (database.session(), std::sync::Arc::clone(&barrier));
        tokio::spawn(async move {
            session.execute("BEGIN").await.expect("begun");
            let own = format!("UPDATE t SET v = v + 1 WHERE id = {number}");
            session.execute(&own).await.expect("its own");
            barrier.wait().await;
            let next = format!("UPDATE t SET v = v + 1 WHERE id = {}", (number + 1) % 5);
            match session.execute(&next).await {
                Ok(_) => {
                    session.execute("COMMIT").await.expect("committed");
                    0
                }
                Err(error) => {
                    assert_eq!(error.state().code(), "40P01", "{error}");
                    session.execute("ROLLBACK").await.expect("rolled back");
                    1
                }
            }
        })
    });
    let failed: i32 = join_all(sessions).await.into_iter().map(|done| done.expect("ended")).sum();
    assert_eq!(failed, 1, "one is enough");
    let sum = numbers(&database.session(), "SELECT sum(v) FROM t").await.expect("read");
    assert_eq!(sum, [8]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_with_its_statement_or_its_session() {
    let database =
        prepared(&["CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t VALUES (1, 0)"])
            .await;
    let holder = database.session();
    holder.execute("BEGIN").await.expect("begun");
    holder.execute("UPDATE t SET v = 1 WHERE id = 1").await.expect("locked");
    let update = "UPDATE t SET v = v + 10 WHERE id = 1";

    let waiter = database.session();
    let cancel = waiter.cancel_handle();
    let waiting = tokio::spawn({
        let waiter = waiter.clone();
        async move { waiter.execute(update).await.map(drop) }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    cancel.cancel();
    let error = waiting.await.expect("ended").expect_err("cancelled");
    assert_eq!(error.state().code(), "57014");

    let gone = tokio::time::timeout(Duration::from_millis(100), waiter.execute(update)).await;
    assert!(gone.is_err(), "it still waits when its client goes");
    waiter.execute("SET lock_timeout = '50ms'").await.expect("set");
    let error = waiter.execute(update).await.map(drop).expect_err("it waits for too long");
    assert_eq!(error.state().code(), "55P03");

    holder.execute("COMMIT").await.expect("committed");
    waiter.execute(update).await.expect("nobody is in the way");
    assert_eq!(numbers(&waiter, "SELECT v FROM t").await.expect("read"), [11]);
}

/// The same, of a statement on the short path, outside of a transaction and in one.
#[tokio::test(flavor = "multi_thread")]
async fn a_wait_on_the_short_path_ends_with_its_statement() {
    let database =
        prepared(&["CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t VALUES (1, 0)"])
            .await;
    let holder = database.session();
    let update = "UPDATE t SET v = v + 10 WHERE id = 1";
    for in_block in [false, true] {
        holder.execute("BEGIN").await.expect("begun");
        holder.execute("UPDATE t SET v = 1 WHERE id = 1").await.expect("locked");
        let waiter = database.session();
        let begin = if in_block { "BEGIN" } else { "SELECT 1" };
        waiter.execute(begin).await.expect("begun");
        let cancel = waiter.cancel_handle();
        let waiting = tokio::spawn({
            let waiter = waiter.clone();
            async move {
                let statement = waiter.prepare(update).await.expect("prepared");
                statement.execute(&[]).await.map(drop)
            }
        });
        let running = "SELECT count(*) FROM pando.queries WHERE text LIKE 'UPDATE t SET v = v%'";
        while numbers(&database.session(), running).await.expect("read") != [1] {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancel.cancel();
        let error = waiting.await.expect("ended").expect_err("cancelled");
        assert_eq!(error.state().code(), "57014");
        waiter.execute("ROLLBACK").await.expect("rolled back");

        let statement = waiter.prepare(update).await.expect("prepared");
        for (setting, state) in [("lock_timeout", "55P03"), ("statement_timeout", "57014")] {
            waiter.execute(begin).await.expect("begun");
            waiter.execute(&format!("SET {setting} = '50ms'")).await.expect("set");
            let error = statement.execute(&[]).await.map(drop).expect_err("it waits for too long");
            assert_eq!(error.state().code(), state);
            waiter.execute("ROLLBACK").await.expect("rolled back");
            waiter.execute(&format!("RESET {setting}")).await.expect("reset");
        }
        waiter.execute(begin).await.expect("begun");
        let waiting = tokio::spawn(async move { statement.execute(&[]).await.map(drop) });
        tokio::time::sleep(Duration::from_millis(50)).await;
        holder.execute("COMMIT").await.expect("committed");
        waiting.await.expect("ended").expect("it has waited");
        waiter.execute("COMMIT").await.expect("committed");
        assert_eq!(numbers(&holder, "SELECT v FROM t").await.expect("read"), [11]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_goes_gives_its_locks_back() {
    let database =
        prepared(&["CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t VALUES (1, 0)"])
            .await;
    let holder = database.session();
    holder.execute("BEGIN").await.expect("begun");
    holder.execute("SELECT * FROM t FOR UPDATE").await.expect("locked");
    numbers(&holder, "SELECT 1 FROM (SELECT pg_advisory_lock(1)) a").await.expect("locked");
    drop(holder);
    let other = database.session();
    other.execute("SET lock_timeout = '5s'").await.expect("set");
    other.execute("UPDATE t SET v = 1").await.expect("nobody has it");
    assert!(!database.store().has_locks());
}

#[tokio::test(flavor = "multi_thread")]
async fn advisory_locks_of_a_transaction_last_as_long_as_the_call_or_block_that_takes_them() {
    let held = "(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')";
    let body = format!(
        "DECLARE n int; BEGIN
             PERFORM pg_advisory_xact_lock(1);
             n := {held};
             IF n <> 1 THEN RAISE EXCEPTION '% locks', n; END IF;
         END"
    );
    let taken_twice = format!("CREATE PROCEDURE twice() LANGUAGE plpgsql AS $$ {body} $$");
    let ended = format!(
        "CREATE PROCEDURE ended() LANGUAGE plpgsql AS $$
         DECLARE n int; BEGIN
             PERFORM pg_advisory_xact_lock(1);
             COMMIT;
             PERFORM pg_advisory_xact_lock(2), pg_advisory_xact_lock(3);
             n := {held};
             IF n <> 2 THEN RAISE EXCEPTION '% locks', n; END IF;
         END $$"
    );
    let database = prepared(&[&taken_twice, &ended]).await;
    let session = database.session();
    for statement in ["CALL twice()", "CALL ended()", &format!("DO $$ {body} $$")] {
        session.execute(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
        assert!(!database.store().has_locks(), "{statement}");
    }
}

/// Sessions that dropped a table while others added to it left an index, a sequence or a foreign key without a table,
/// whose names were taken for ever.
#[tokio::test(flavor = "multi_thread")]
async fn definitions_at_the_same_time_leave_nothing_without_its_table() {
    use query::SqlState;
    const DEFINITIONS: [&str; 5] = [
        "DROP TABLE IF EXISTS t CASCADE",
        "CREATE TABLE t (a int PRIMARY KEY, b serial)",
        "CREATE INDEX t_i ON t (b)",
        "ALTER TABLE other ADD CONSTRAINT other_t FOREIGN KEY (a) REFERENCES t",
        "CREATE SEQUENCE s OWNED BY t.b",
    ];
    let database = prepared(&["CREATE TABLE other (a int PRIMARY KEY)"]).await;
    let clients = (0..4).map(|_| {
        let session = database.session();
        tokio::spawn(async move {
            for sql in DEFINITIONS.iter().cycle().take(60 * DEFINITIONS.len()) {
                let Err(error) = session.execute(sql).await else { continue };
                let late =
                    [SqlState::DuplicateTable, SqlState::DuplicateObject, SqlState::UndefinedTable];
                let is_late = !sql.starts_with("DROP") && late.contains(&error.state());
                assert!(is_late && !error.message().contains("with id"), "{sql}: {error}");
            }
        })
    });
    for client in join_all(clients).await {
        client.expect("another one was first, or it succeeds");
    }
    let session = database.session();
    for sql in DEFINITIONS {
        session.execute(sql).await.expect(sql);
    }
    session.execute("DROP TABLE t CASCADE").await.expect("dropped");
    let catalog = database.store().catalog();
    let left: Vec<&str> = catalog.relations().map(|relation| relation.name()).collect();
    assert_eq!(left, ["other"]);
    let other = catalog.relations().find_map(|relation| relation.file());
    assert!(other.is_some_and(|table| table.foreign_keys.is_empty()), "{other:?}");
}

/// A CREATE ... IF NOT EXISTS that lost against another session said that the name was taken.
#[tokio::test(flavor = "multi_thread")]
async fn definitions_if_not_exists_at_the_same_time_all_succeed() {
    const DEFINITIONS: [&str; 5] = [
        "CREATE TABLE IF NOT EXISTS t (a int PRIMARY KEY, b int UNIQUE)",
        "CREATE INDEX IF NOT EXISTS t_i ON t (b)",
        "CREATE SEQUENCE IF NOT EXISTS s",
        "CREATE SCHEMA IF NOT EXISTS x",
        "CREATE MATERIALIZED VIEW IF NOT EXISTS m AS SELECT 1 AS a",
    ];
    let database = prepared(&[]).await;
    for _ in 0..20 {
        let clients = (0..4).map(|_| {
            let session = database.session();
            tokio::spawn(async move {
                for sql in DEFINITIONS {
                    session.execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
                }
            })
        });
        for client in join_all(clients).await {
            client.expect("it exists, or is made");
        }
        let session = database.session();
        for sql in ["DROP TABLE t", "DROP SEQUENCE s", "DROP SCHEMA x", "DROP MATERIALIZED VIEW m"]
        {
            session.execute(sql).await.expect(sql);
        }
    }
}

/// Sessions that dropped a table or a type while others made a view or a table of it left these without it.
#[tokio::test(flavor = "multi_thread")]
async fn definitions_at_the_same_time_leave_views_their_tables_and_columns_their_types() {
    const DEFINITIONS: [&str; 7] = [
        "DROP TABLE IF EXISTS t CASCADE",
        "CREATE TABLE t (a int)",
        "CREATE VIEW v AS SELECT a FROM t",
        "DROP TYPE IF EXISTS mood CASCADE",
        "CREATE TYPE mood AS ENUM ('x')",
        "CREATE TABLE u (id int PRIMARY KEY, a mood)",
        "DROP TABLE IF EXISTS u",
    ];
    let database = prepared(&[]).await;
    let clients = (0..4).map(|_| {
        let session = database.session();
        tokio::spawn(async move {
            for sql in DEFINITIONS.iter().cycle().take(40 * DEFINITIONS.len()) {
                // What another one was first with is not there, or is there already.
                let _ = session.execute(sql).await;
            }
        })
    });
    for client in join_all(clients).await {
        client.expect("no panic");
    }
    let catalog = database.store().catalog();
    let has = |name: &str| catalog.relations().any(|relation| relation.name() == name);
    assert!(has("t") || !has("v"), "the view has lost its table");
    let tables = catalog.relations().filter_map(|relation| relation.file());
    for column in tables.flat_map(|table| &table.columns) {
        let user = column.sql_type.user_type();
        assert!(user.is_none_or(|user| catalog.user_type_by_id(user.id).is_some()), "{column:?}");
    }
}
