//! Golden scripts of errors: `tests/errors/*.txt` hold wrong statements and, under `----`, what each is answered with:
//! SQLSTATE and message, which are PostgreSQL's, then everything else that a client is told.
//!
//! `UPDATE_GOLDEN=1 cargo test --profile quick --test errors` writes what is said now; compare it with what PostgreSQL says
//! before you commit it.

use futures::TryStreamExt;
use query::{Database, Error, Options, Outcome, Session};
use std::fmt::Write;
use std::path::PathBuf;

/// What the statements are about.
const TABLES: &str = include_str!("errors/tables.sql");

async fn run(session: &Session, sql: &str) -> Result<(), Error> {
    for statement in session.parse(sql)? {
        if let Outcome::Rows(rows) = session.run(&statement, &[]).await? {
            rows.stream.try_collect::<Vec<_>>().await?;
        }
    }
    Ok(())
}

/// An error with all of its fields, one a line.
fn told(error: &Error) -> String {
    let mut text = format!("{}: {}\n", error.state().code(), error.message());
    let mut line = |label: &str, value: Option<&str>| {
        if let Some(value) = value {
            let _ = writeln!(text, "{label}: {value}");
        }
    };
    line("DETAIL", error.detail());
    line("HINT", error.hint());
    line("CONTEXT", error.context());
    line("POSITION", error.position().map(|position| position.to_string()).as_deref());
    let subject = error.subject();
    line("SCHEMA", subject.schema.as_deref());
    line("TABLE", subject.table.as_deref());
    line("COLUMN", subject.column.as_deref());
    line("CONSTRAINT", subject.constraint.as_deref());
    text
}

async fn replay(script: &str) -> String {
    let session = Database::open(Options::default()).expect("opened").session();
    session.execute(TABLES).await.expect("the tables are made");
    let mut out = String::new();
    for block in script.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let statement = block.split("\n----").next().unwrap_or(block).trim();
        let _ = match statement.lines().all(|line| line.starts_with("# ")) {
            true => writeln!(out, "{statement}\n"),
            false => match run(&session, statement).await {
                Ok(()) => writeln!(out, "{statement}\n----\nnothing is wrong\n"),
                Err(error) => writeln!(out, "{statement}\n----\n{}", told(&error)),
            },
        };
    }
    out.trim_end().to_owned() + "\n"
}

#[tokio::test]
async fn errors_are_what_the_scripts_say() {
    let folder = std::fs::read_dir("tests/errors").expect("the folder of scripts");
    let paths = folder.map(|entry| entry.expect("a file").path());
    let is_script = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "txt");
    let mut paths: Vec<PathBuf> = paths.filter(is_script).collect();
    paths.sort();
    assert!(paths.len() >= 9, "there are scripts");
    for path in paths {
        let script = std::fs::read_to_string(&path).expect("readable");
        let now = replay(&script).await;
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &now).expect("writable");
        }
        let script = std::fs::read_to_string(&path).expect("readable");
        let other = script.lines().zip(now.lines()).find(|(kept, said)| kept != said);
        assert!(script == now, "{}: kept and said now: {other:#?}", path.display());
    }
}
