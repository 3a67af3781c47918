//! Golden scripts of tables on several servers, in `tests/spread/*.txt`, and tests of damaged fragments.
//!
//! `[s1] > STATEMENT` sends a statement to the second server; without the tag it goes to the first, `s0`. [`Step`] has
//! the other commands. `UPDATE_GOLDENFILES=1 cargo test --profile quick --test spread` rewrites the output.

mod scripts;
mod servers;

use bytes::Bytes;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::{StreamExt, TryStreamExt};
use goldenscript::{Command, Context, Runner};
use query::{Options, Outcome, Session};
use servers::Servers;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use store::PushdownStep;
use tokio::runtime::{Builder, Runtime};

fn lines(batches: &[RecordBatch]) -> Result<String, query::Error> {
    let options = FormatOptions::new().with_null("NULL");
    let mut text = String::new();
    for batch in batches {
        let columns = batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let values: Vec<String> = columns.iter().map(|c| c.value(row).to_string()).collect();
            let _ = writeln!(text, "{}", values.join(" | ").trim_end());
        }
    }
    Ok(text)
}

async fn answer(session: &Session, sql: &str) -> Result<String, query::Error> {
    let statement = session.parse(sql).await?.remove(0);
    match session.run(&statement, &[]).await? {
        Outcome::Done(tag) => Ok(format!("{tag}\n")),
        Outcome::Rows(rows) => lines(&rows.stream.try_collect::<Vec<_>>().await?),
    }
}

/// A command of a script.
#[derive(goldenscript::Command)]
enum Step {
    /// Starts so many servers: `servers 3`.
    Servers(u64),
    /// Moves the keys `[low, high)` to another server: `give TABLE SOURCE DESTINATION low=1 high=9`.
    Give {
        table: String,
        source: u64,
        destination: u64,
        #[arg(key)]
        low: Option<i64>,
        #[arg(key)]
        high: Option<i64>,
    },
    /// `> STATEMENT`.
    #[command(other)]
    Sql(Command),
}

/// Plans without how many buckets and chunks there are: in the background they are merged and folded.
fn without_upkeep(text: &str) -> String {
    let line = |line: &str| match (line.find("buckets="), line.find("partitions=")) {
        (Some(from), Some(to)) if from < to => format!("{}{}\n", &line[..from], &line[to..]),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

struct Script {
    servers: Option<Arc<Servers>>,
    sessions: Vec<Session>,
    runtime: Runtime,
}

impl Script {
    fn new() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        Self { servers: None, sessions: Vec::new(), runtime: runtime.expect("a runtime") }
    }
}

impl Runner for Script {
    type Command = Step;

    fn run(
        &mut self,
        step: &Step,
        context: &Context,
    ) -> Result<String, Box<dyn std::error::Error>> {
        let _entered = self.runtime.enter();
        match step {
            Step::Servers(count) => {
                let (threads, bucket_size) = (Some(2), Some(4 << 10));
                let options = Options { threads, bucket_size, ..Options::default() };
                let servers = Servers::start(*count, &options);
                let session = |group| servers.database(group).session();
                self.sessions = (0..*count).map(session).collect();
                self.servers = Some(servers);
                Ok(String::new())
            }
            Step::Give { table, source, destination, low, high } => {
                let servers = self.servers.as_ref().ok_or("a script begins with `servers`")?;
                servers.give(table, *source, *destination, *low, *high);
                Ok(String::new())
            }
            Step::Sql(command) => {
                let sent_to = context.tags.first().map_or("s0", String::as_str);
                let number = sent_to.strip_prefix('s').and_then(|number| number.parse().ok());
                let session = number.and_then(|number: usize| self.sessions.get(number));
                let session = session.ok_or_else(|| format!("there is no server {sent_to}"))?;
                let text = self.runtime.block_on(answer(session, scripts::sql(command)?))?;
                Ok(without_upkeep(&text))
            }
        }
    }
}

#[test]
fn answers_and_plans_are_what_the_scripts_say() {
    scripts::run_all("tests/spread", Script::new);
}

/// Three servers with a table of 300 rows, 100 on each.
async fn three_parts() -> Arc<Servers> {
    let servers = Servers::start(3, &Options { threads: Some(2), ..Options::default() });
    let session = servers.database(0).session();
    let rows = "INSERT INTO t SELECT i, i % 7 FROM generate_series(0, 299) t(i)";
    for sql in ["CREATE TABLE t (id bigint PRIMARY KEY, n bigint)", rows] {
        session.execute(sql).await.expect("done");
    }
    servers.give("t", 0, 1, Some(100), Some(200));
    servers.give("t", 0, 2, Some(200), None);
    servers
}

/// What a server answers to a fragment: how many rows, or an error.
async fn ran(servers: &Servers, group: u64, fragment: Bytes) -> Result<usize, store::Error> {
    let database = servers.database(group);
    let reading = database.store().reading().await?;
    let count = |sum, batch: RecordBatch| async move { Ok(sum + batch.num_rows()) };
    database.fragments().run(reading, fragment).try_fold(0, count).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_fragment_are_an_error() {
    let servers = three_parts().await;
    let session = servers.database(0).session();
    let sql = "SELECT n, count(*) FROM t WHERE id > 3 GROUP BY n";
    answer(&session, sql).await.expect("answered");
    let fragment = servers.take_sent().remove(0);
    assert_eq!(ran(&servers, 1, fragment.clone()).await.expect("a fragment") % 7, 0, "the groups");
    for length in 0..fragment.len() {
        assert!(ran(&servers, 1, fragment.slice(..length)).await.is_err(), "{length} bytes of it");
    }
    for at in 0..fragment.len() {
        let mut changed = fragment.to_vec();
        changed[at] ^= 1 << (at % 8);
        // Some changes make another fragment; what counts is that there is an answer.
        let _ = ran(&servers, 1, changed.into()).await;
    }
    assert!(ran(&servers, 1, fragment).await.is_ok(), "the server goes on");
}

/// A part of what a server answers to a fragment.
type Answer = Result<RecordBatch, store::Error>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_store_no_fragment_are_an_error() {
    let servers = three_parts().await;
    let session = servers.database(0).session();
    answer(&session, "SET pando.bundling = none").await.expect("set");
    answer(&session, "SELECT n, count(*) FROM t WHERE id > 3 GROUP BY n").await.expect("answered");
    // What a server stores it has for as long as somebody listens: only its first answer is read.
    let first = async |fragment: Bytes| {
        let reading = servers.database(1).store().reading().await.expect("a reading");
        servers.database(1).fragments().run(reading, fragment).next().await.expect("an answer")
    };
    // It learns a little later that nobody listens any more, and then gives up what it has.
    let soon = async |fragment: &Bytes, expected: fn(&Answer) -> bool| {
        for _ in 0..5_000 {
            if expected(&first(fragment.clone()).await) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        false
    };
    let sent = servers.take_sent();
    let counts = |answer: &Answer| answer.as_ref().is_ok_and(|rows| rows.num_columns() == 3);
    assert!(soon(&sent[0], counts).await, "stored");
    let [.., reads] = &sent[..] else { panic!("fragments") };
    assert!(soon(reads, Answer::is_err).await, "the rows that it reads are gone");
    for fragment in [&sent[0], reads] {
        for length in 0..fragment.len() {
            assert!(first(fragment.slice(..length)).await.is_err(), "{length} bytes of it");
        }
        for at in 0..fragment.len() {
            let mut changed = fragment.to_vec();
            changed[at] ^= 1 << (at % 8);
            // Some changes make another fragment; what counts is that there is an answer.
            let _ = first(changed.into()).await;
        }
    }
    assert!(soon(&sent[0], Answer::is_ok).await, "the server goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fragment_for_rows_that_have_left_finds_them() {
    let servers = three_parts().await;
    let session = servers.database(0).session();
    answer(&session, "SELECT id FROM t").await.expect("answered");
    let fragments = servers.take_sent();
    servers.give("t", 1, 2, Some(150), Some(200));
    let mut rows = 0;
    for fragment in fragments {
        // One is for rows of which half have left, the other for rows that never were there.
        rows += ran(&servers, 1, fragment).await.expect("found");
    }
    assert_eq!(rows, 200);
}

/// How many rows a server would change, and whether there are keys that are not its own; or an error.
async fn changes(
    servers: &Servers,
    group: u64,
    pushdown: Bytes,
) -> Result<(usize, bool), store::Error> {
    let database = servers.database(group);
    let reading = database.store().reading().await?;
    let steps: Vec<_> = database.fragments().pushdown(reading, pushdown).try_collect().await?;
    let (mut rows, mut others) = (0, false);
    for step in steps {
        match step {
            PushdownStep::Write(write) => rows += write.len(),
            PushdownStep::NotHere(ranges) => others |= !ranges.is_empty(),
        }
    }
    Ok((rows, others))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_pushdown_are_an_error() {
    let servers = three_parts().await;
    let session = servers.database(0).session();
    for sql in ["UPDATE t SET n = n * 2 WHERE id > 3 AND n < 6", "DELETE FROM t WHERE n = 6"] {
        session.execute("BEGIN").await.expect("begun");
        answer(&session, sql).await.expect("answered");
        session.execute("ROLLBACK").await.expect("undone");
        let pushdown = servers.take_sent().remove(0);
        assert!(changes(&servers, 1, pushdown.clone()).await.expect("an pushdown").0 > 10);
        assert!(ran(&servers, 1, pushdown.clone()).await.is_err(), "it is no fragment");
        for length in 0..pushdown.len() {
            let some = pushdown.slice(..length);
            assert!(changes(&servers, 1, some).await.is_err(), "{length} bytes of it");
        }
        for at in 0..pushdown.len() {
            let mut changed = pushdown.to_vec();
            changed[at] ^= 1 << (at % 8);
            // Some changes make another pushdown; what counts is that there is an answer.
            let _ = changes(&servers, 1, changed.into()).await;
        }
        assert!(changes(&servers, 1, pushdown).await.is_ok(), "the server goes on");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pushdown_for_rows_that_have_left_says_so() {
    let servers = three_parts().await;
    let session = servers.database(0).session();
    session.execute("BEGIN; UPDATE t SET n = 7; ROLLBACK").await.expect("undone");
    let sent = servers.take_sent();
    servers.give("t", 1, 2, Some(150), Some(200));
    let mut found = Vec::new();
    for pushdown in sent {
        for group in [0, 1, 2] {
            found.push(changes(&servers, group, pushdown.clone()).await.expect("an pushdown"));
        }
    }
    // One is for rows of which the last server has got half, the other for those that it always had.
    let expected =
        [[(0, true), (50, true), (50, true)], [(0, true), (0, true), (100, false)]].concat();
    assert_eq!(found, expected);
}
