//! Golden scripts of tables on several servers: `tests/spread/*.txt`.
//!
//! `@1` in front of a statement says which server it is sent to; without it, it is the first. Under `----` stands what
//! it is answered with: a plan, or rows. `give` moves keys from one server to another; `servers` in front of all says how
//! many there are. `UPDATE_GOLDEN=1 cargo test --profile quick --test spread` writes what is said now.

mod servers;

use bytes::Bytes;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::{StreamExt, TryStreamExt};
use query::{Options, Outcome, Session};
use servers::Servers;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use store::PushdownStep;

/// Servers, where a script does not say how many.
const SERVERS: u64 = 3;

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
    let statement = session.parse(sql)?.remove(0);
    match session.run(&statement, &[]).await? {
        Outcome::Done(tag) => Ok(format!("{tag}\n")),
        Outcome::Rows(rows) => lines(&rows.stream.try_collect::<Vec<_>>().await?),
    }
}

/// `give TABLE FROM TO LOW HIGH`: keys change hands; `-` is no bound.
fn give(servers: &Servers, words: &str) {
    let words: Vec<&str> = words.split_whitespace().collect();
    let [table, from, to, low, high] = words[..] else { panic!("{words:?}") };
    let group = |word: &str| word.parse().expect("a server's number");
    servers.give(table, group(from), group(to), low.parse().ok(), high.parse().ok());
}

/// Plans without how many buckets and chunks there are: in the background they are merged and folded.
fn without_upkeep(text: &str) -> String {
    let line = |line: &str| match (line.find("buckets="), line.find("partitions=")) {
        (Some(from), Some(to)) if from < to => format!("{}{}\n", &line[..from], &line[to..]),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

async fn replay(script: &str) -> String {
    let options = Options { threads: Some(2), bucket_size: Some(4 << 10), ..Options::default() };
    let first = script.split_once("\n\n").and_then(|(first, _)| first.strip_prefix("servers "));
    let count = first.map_or(SERVERS, |count| count.parse().expect("a number of servers"));
    let servers = Servers::start(count, &options);
    let sessions: Vec<_> = (0..count).map(|group| servers.database(group).session()).collect();
    let mut out = String::new();
    for block in script.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let statement = block.split("\n----").next().unwrap_or(block).trim();
        if statement.lines().all(|line| line.starts_with('#') || line.starts_with("servers ")) {
            let _ = writeln!(out, "{statement}\n");
            continue;
        }
        if let Some(given) = statement.strip_prefix("give ") {
            give(&servers, given);
            let _ = writeln!(out, "{statement}\n");
            continue;
        }
        let (server, sql) = match statement.strip_prefix('@').and_then(|rest| rest.split_once(' '))
        {
            Some((server, sql)) => (server.parse().expect("a server's number"), sql),
            None => (0, statement),
        };
        let session: &Session = &sessions[server];
        let _ = match answer(session, sql).await {
            Ok(text) => writeln!(out, "{statement}\n----\n{}", without_upkeep(&text)),
            Err(error) => writeln!(out, "{statement}\n----\nERROR {error}\n"),
        };
    }
    out.trim_end().to_owned() + "\n"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_and_plans_are_what_the_scripts_say() {
    let folder = std::fs::read_dir("tests/spread").expect("the folder of scripts");
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "there are scripts");
    for path in paths {
        let script = std::fs::read_to_string(&path).expect("readable");
        let now = replay(&script).await;
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &now).expect("writable");
        }
        let script = std::fs::read_to_string(&path).expect("readable");
        assert_eq!(script, now, "{}: see the file's head for how to update it", path.display());
    }
}

/// Three servers with a table of 300 rows, 100 on each.
async fn three_parts() -> Arc<Servers> {
    let servers = Servers::start(SERVERS, &Options { threads: Some(2), ..Options::default() });
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
