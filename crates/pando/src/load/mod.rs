//! `pando load`: loads files into a table of a running server.
//!
//! A CSV file is sent as it is, after its header has been checked. Parquet and JSON lines are read by a database in this
//! process, which writes them in COPY's binary format. If the types of table and file differ, it writes text and the server
//! converts.
//!
//! Invariant: one transaction loads all files and creates the table for `--create`.

mod progress;
mod source;
mod table;

use crate::arguments::LoadArguments;
use anyhow::Context;
use pando::{Database, Options, Session};
use progress::FileProgress;
use query::Executors;
use shell::SqlError;
use shell::protocol::{Address, Connection, connect};
use shell::quantity::{counted, duration, rate};
use source::File;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Exit code of a program that Ctrl-C ended, by convention.
const EXIT_INTERRUPTED: u8 = 130;
/// Longest wait for the server's rollback.
const ROLLBACK_MAX: Duration = Duration::from_secs(10);

/// Loads the files.
pub(crate) async fn run(
    arguments: LoadArguments,
    executors: Executors,
) -> anyhow::Result<ExitCode> {
    let mut address = Address::of(arguments.url.as_deref(), |name| std::env::var(name).ok())?;
    let database = Database::open(Options { executors: Some(executors), ..Options::default() })?;
    let files = source::open(&database.session(), &arguments).await?;
    let (mut connection, key) = connect(&mut address).await?;
    let started = Instant::now();
    let (session, to) = (database.session(), &mut connection);
    let mut load = Load { connection: to, session, arguments: &arguments };
    let outcome = tokio::select! {
        outcome = load.all(&files) => Some(outcome),
        _ = tokio::signal::ctrl_c() => None,
    };
    match outcome {
        Some(Ok(rows)) => {
            announce(&arguments.table, rows, started.elapsed())?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Err(error)) => Err(error.context("nothing was loaded")),
        None => {
            let rollback = async {
                if let Some(key) = key {
                    // The statement may have ended already.
                    let _ = key.cancel(&address).await;
                }
                connection.abort().await
            };
            let done = tokio::time::timeout(ROLLBACK_MAX, rollback).await;
            let how = if matches!(done, Ok(Ok(()))) { "rolled back" } else { "disconnected" };
            eprintln!("pando: interrupted and {how}: nothing was loaded");
            Ok(ExitCode::from(EXIT_INTERRUPTED))
        }
    }
}

fn announce(table: &str, rows: u64, time: Duration) -> io::Result<()> {
    let rate = rate(rows, time).map(|rate| format!(" ({rate})")).unwrap_or_default();
    let rows = counted(rows, "row");
    writeln!(io::stdout(), "{table}: {rows} in {}{rate}", duration(time))
}

/// A running load.
struct Load<'a> {
    connection: &'a mut Connection,
    session: Session,
    arguments: &'a LoadArguments,
}

impl Load<'_> {
    /// Loads all files in one transaction, and returns the number of rows.
    async fn all(&mut self, files: &[File]) -> anyhow::Result<u64> {
        self.connection.execute("BEGIN").await?;
        let table = &self.arguments.table;
        if self.arguments.create {
            let first = files.first().context("there is no file")?;
            self.connection.execute(&table::definition(table, first, &self.arguments.key)?).await?;
        }
        let target = table::columns(self.connection, table).await?;
        let mut rows = 0;
        for file in files {
            rows += self.one(file, &target).await?;
        }
        self.connection.execute("COMMIT").await?;
        Ok(rows)
    }

    async fn one(&mut self, file: &File, target: &[table::Column]) -> anyhow::Result<u64> {
        let plan = table::copy_plan(file, target, &self.arguments.table, self.arguments)?;
        let started = self.connection.copy_in(&plan.statement).await;
        started.map_err(|error| explained(file, &error))?;
        self.send(file, &plan).await
    }

    async fn send(&mut self, file: &File, plan: &table::CopyPlan) -> anyhow::Result<u64> {
        let mut progress = FileProgress::begin(file);
        let mut pieces = source::read(file, plan.form, self.session.clone());
        while let Some(piece) = pieces.recv().await {
            let piece = piece.with_context(|| file.path.clone())?;
            progress.advance(piece.rows, piece.bytes.len() as u64);
            let sent = self.connection.send_data(&piece.bytes).await;
            sent.map_err(|error| explained(file, &error))?;
            let checked = self.connection.check_copy().await;
            checked.map_err(|error| explained(file, &error))?;
        }
        self.connection.finish_copy().await.map_err(|error| explained(file, &error))
    }
}

/// Adds the file's name to an error, and the line if the server reports one.
fn explained(file: &File, error: &SqlError) -> anyhow::Error {
    match error.context.as_deref().and_then(line) {
        Some(line) if file.is_csv() => anyhow::anyhow!("{}:{line}: {error}", file.path),
        Some(row) => anyhow::anyhow!("{}, row {row}: {error}", file.path),
        None => anyhow::anyhow!("{}: {error}", file.path),
    }
}

/// The line in `COPY t, line 3, column a: "x"`.
fn line(context: &str) -> Option<u64> {
    let (_, rest) = context.strip_prefix("COPY ")?.split_once(", line ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_read_from_the_context() {
        assert_eq!(line("COPY t, line 3, column a: \"x\""), Some(3));
        assert_eq!(line("COPY t, line 12"), Some(12));
        assert_eq!(line("PL/pgSQL function f() line 3 at RAISE"), None);
    }
}
