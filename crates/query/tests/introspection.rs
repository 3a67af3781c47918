//! What clients ask the catalog: whole queries of psql, drivers and tools, kept as they send them.
//!
//! Each file under `tests/introspection` belongs to one client. Every statement in it must be answered without an
//! error; `${name}` stands for the id of a relation. Where a query begins with a comment `-- rows:`, the rows are
//! written below it as comments, columns divided by `|`, and the answer must be these. `-- error: 42883` stands
//! before a query that is known not to be answered yet.

use futures::TryStreamExt;
use query::text::TextColumn;
use query::{Database, Options, Session, parse};
use std::path::{Path, PathBuf};

/// What there is to ask about.
const TABLES: &str = include_str!("introspection/tables.ddl");

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(Path::new("tests/introspection")).expect("the folder");
    let paths = entries.map(|entry| entry.expect("a file").path());
    let mut files: Vec<_> = paths.filter(|p| p.extension().is_some_and(|e| e == "sql")).collect();
    files.sort();
    let only = std::env::var("INTROSPECTION").unwrap_or_default();
    files.retain(|file| file.to_string_lossy().contains(&only));
    files
}

async fn rows(session: &Session, sql: &str) -> query::Result<Vec<String>> {
    let rows = session.query(sql).await?;
    let batches: Vec<_> = rows.stream.try_collect().await?;
    let mut lines = Vec::new();
    for batch in &batches {
        let columns: Vec<TextColumn<'_>> =
            batch.columns().iter().map(|c| TextColumn::new(c)).collect::<query::Result<_>>()?;
        for row in 0..batch.num_rows() {
            let mut line = String::new();
            for (index, column) in columns.iter().enumerate() {
                if index > 0 {
                    line.push('|');
                }
                column.write(row, &mut line);
            }
            lines.push(line);
        }
    }
    Ok(lines)
}

/// The relations that queries ask about, with their ids.
async fn ids(session: &Session) -> Vec<(String, String)> {
    let all = "SELECT relname, oid FROM pg_class WHERE relnamespace NOT IN (11, 13000)";
    let lines = rows(session, all).await.expect("the catalog answers");
    let pair = |line: &String| {
        let (name, oid) = line.split_once('|').expect("two columns");
        (format!("${{{name}}}"), oid.to_owned())
    };
    lines.iter().map(pair).collect()
}

/// The rows that a file expects of the statement that begins at a place.
fn expected(before: &str) -> Option<Vec<String>> {
    let comment: Vec<&str> =
        before.lines().rev().take_while(|line| line.starts_with("--")).collect();
    let mut lines = comment.into_iter().rev().skip_while(|line| *line != "-- rows:");
    lines.next()?;
    Some(lines.map(|line| line[2..].strip_prefix(' ').unwrap_or_default().to_owned()).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_query_of_every_client_is_answered() {
    let database = Database::open(Options::default()).expect("opened");
    let session = database.session();
    session.execute(TABLES).await.expect("the tables are made");
    let ids = ids(&session).await;
    let mut failures = String::new();
    let mut count = 0;
    for file in files() {
        let mut script = std::fs::read_to_string(&file).expect("readable");
        for (name, oid) in &ids {
            script = script.replace(name, oid);
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let statements = match parse(&script) {
            Ok(statements) => statements,
            Err(error) => {
                let before: String = script.chars().take(error.position().unwrap_or(0)).collect();
                let line = before.lines().count();
                failures += &format!("{name}:{line}: {error}\n");
                continue;
            }
        };
        for statement in statements {
            count += 1;
            let before: String = script.chars().take(statement.offset).collect();
            let line = before.lines().count() + 1;
            let known = before.trim_end().lines().last().and_then(|l| l.strip_prefix("-- error: "));
            match rows(&session, &statement.text).await {
                Err(error) if known == Some(error.state().code()) => {}
                _ if known.is_some() => failures += &format!("{name}:{line}: has another end\n"),
                Err(error) => failures += &format!("{name}:{line}: {error}\n"),
                Ok(rows) => match expected(before.trim_end()) {
                    Some(expected) if expected != rows => {
                        failures += &format!("{name}:{line}: other rows:\n{}\n", rows.join("\n"));
                    }
                    _ => {}
                },
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} failed:\n{failures}", failures.lines().count());
}
