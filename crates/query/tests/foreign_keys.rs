//! Foreign keys hold whatever 16 writers do at the same time, on one server and on three between which
//! keys move.
//!
//! A row that refers is inserted while the row that it refers to is deleted: one of the two must
//! fail. Each writer does random changes, some of them in transactions that take a while.

use futures::TryStreamExt;
use query::{Database, Options, Outcome, Session, SqlState};
use servers::Servers;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

mod servers;

const WRITERS: u64 = 16;
const CHANGES: u64 = 60;

/// Rows that are referred to: few, so that writers meet.
const PARENTS: u64 = 12;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

async fn run(session: &Session, sql: &str) -> Result<Vec<Vec<String>>, query::Error> {
    let statement = session.parse(sql).await?.remove(0);
    let rows = match session.run(&statement, &[]).await? {
        Outcome::Done(_) => return Ok(Vec::new()),
        Outcome::Rows(rows) => rows,
    };
    let batches: Vec<_> = rows.stream.try_collect().await?;
    let mut texts = Vec::new();
    for batch in &batches {
        for row in 0..batch.num_rows() {
            let text = |column: &datafusion::arrow::array::ArrayRef| {
                let value = datafusion::common::ScalarValue::try_from_array(column, row);
                value.expect("a value").to_string()
            };
            texts.push(batch.columns().iter().map(text).collect());
        }
    }
    Ok(texts)
}

const DEFINITIONS: [&str; 4] = [
    "CREATE TABLE p (id int PRIMARY KEY, u int UNIQUE, n int) WITH (bucket_size = '4KiB')",
    "CREATE TABLE kept (id int PRIMARY KEY, x int REFERENCES p, y int REFERENCES p (u)
         DEFERRABLE INITIALLY DEFERRED) WITH (bucket_size = '4KiB')",
    "CREATE TABLE followed (id int PRIMARY KEY, x int REFERENCES p ON DELETE CASCADE
         ON UPDATE CASCADE, y int REFERENCES p (u) ON DELETE SET NULL ON UPDATE CASCADE)
         WITH (bucket_size = '4KiB')",
    "CREATE INDEX ON followed (x)",
];

/// A random change.
fn change(random: &mut Random, number: u64) -> String {
    let (parent, other) = (random.below(PARENTS), random.below(PARENTS));
    match random.below(9) {
        0 | 1 => format!("INSERT INTO p VALUES ({parent}, {other}, 0)"),
        2 | 3 => format!("DELETE FROM p WHERE id = {parent}"),
        4 => format!("INSERT INTO kept VALUES ({number}, {parent}, NULL)"),
        5 => format!("INSERT INTO followed VALUES ({number}, {parent}, {other})"),
        6 => format!("INSERT INTO kept VALUES ({number}, NULL, {other})"),
        7 => format!("UPDATE p SET n = n + 1 WHERE id = {parent}"),
        _ => format!("DELETE FROM kept WHERE x = {parent} OR y = {other}"),
    }
}

/// Does random changes, and counts those that succeed.
async fn write(session: &Session, writer: u64, done: &AtomicU64) {
    let mut random = Random(writer * 7919 + 17);
    for step in 0..CHANGES {
        let number = writer * CHANGES * 4 + step * 4;
        let is_long = random.below(3) == 0;
        let mut sql: Vec<String> = (0..if is_long { 2 } else { 1 })
            .map(|part| change(&mut random, number + part))
            .collect();
        if is_long {
            sql.insert(0, "BEGIN".to_owned());
            sql.push("COMMIT".to_owned());
        }
        let mut failed = None;
        for sql in &sql {
            if is_long {
                tokio::time::sleep(std::time::Duration::from_micros(random.below(500))).await;
            }
            if let Err(error) = run(session, sql).await {
                failed = Some(error);
                break;
            }
        }
        match failed {
            None => drop(done.fetch_add(1, Ordering::Relaxed)),
            Some(error) => {
                let expected = [
                    SqlState::ForeignKeyViolation,
                    SqlState::UniqueViolation,
                    SqlState::SerializationFailure,
                    SqlState::DeadlockDetected,
                ];
                assert!(expected.contains(&error.state()), "{sql:?}: {error:?}");
                if is_long {
                    run(session, "ROLLBACK").await.expect("rolled back");
                }
            }
        }
    }
}

/// Has all writers write, each on a thread of its own, and checks what is left.
fn hold(databases: &[Database], meanwhile: impl FnOnce(&AtomicBool) + Send) {
    let done = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let session = databases[writer as usize % databases.len()].session();
                let done = &done;
                scope.spawn(move || block_on(write(&session, writer, done)))
            })
            .collect();
        let is_over = &is_over;
        scope.spawn(move || meanwhile(is_over));
        let ended: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        is_over.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(|ended| ended.expect("a writer"));
    });
    let done = done.load(Ordering::Relaxed);
    assert!(done > WRITERS * CHANGES / 10, "only {done} changes have succeeded");
    let session = databases[0].session();
    for (table, column, key) in
        [("kept", "x", "id"), ("kept", "y", "u"), ("followed", "x", "id"), ("followed", "y", "u")]
    {
        let sql = format!(
            "SELECT c.id, c.{column} FROM {table} c LEFT JOIN p ON p.{key} = c.{column}
             WHERE p.id IS NULL AND c.{column} IS NOT NULL"
        );
        let orphans = block_on(run(&session, &sql)).expect("a query");
        assert!(orphans.is_empty(), "{table}.{column} refers to nothing: {orphans:?}");
    }
    let rows = block_on(run(&session, "SELECT count(*) FROM kept")).expect("a query");
    assert_ne!(rows[0][0], "0", "some rows refer to others");
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}

fn options() -> Options {
    Options { memory_limit: None, ..Options::default() }
}

#[test]
fn foreign_keys_hold_under_concurrent_writers() {
    let database = Database::open(options()).expect("opened");
    let session = database.session();
    for definition in DEFINITIONS {
        block_on(run(&session, definition)).expect("defined");
    }
    hold(&[database], |_| {});
}

#[test]
fn foreign_keys_hold_on_three_servers_between_which_keys_move() {
    let servers = Servers::start(3, &options());
    let databases: Vec<Database> = (0..3).map(|group| servers.database(group).clone()).collect();
    let session = databases[0].session();
    for definition in DEFINITIONS {
        block_on(run(&session, definition)).expect("defined");
    }
    servers.spread();
    let moved = AtomicU64::new(0);
    let mover = Arc::clone(&servers);
    hold(&databases, |is_over| {
        let mut random = Random(99);
        let files = ["p", "p_u_key", "kept", "followed", "followed_x_idx"];
        while !is_over.load(Ordering::Relaxed) {
            let file = files[random.below(files.len() as u64) as usize];
            if mover.shuffle(file, random.below(1 << 20)) {
                moved.fetch_add(1, Ordering::Relaxed);
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    });
    assert!(moved.load(Ordering::Relaxed) > 0, "keys have moved");
}
