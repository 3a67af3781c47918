//! `pando load`: files into a table of a running server.
//!
//! A CSV file goes to the server as it is, once its header has been compared with the table. Parquet and JSON lines
//! are read by a database of our own in this process, which writes them in COPY's binary format, or as text where the
//! table's types are others than the file's: then the server converts.
//!
//! Invariant: one transaction holds everything, also the table that `--create` makes. All of it is there at the end,
//! or nothing.

mod progress;
mod source;
mod table;

use crate::arguments::LoadArguments;
use crate::quantity::{counted, duration, rate};
use crate::remote::{Address, Connection, connect};
use crate::trouble::SqlError;
use anyhow::Context;
use pando::{Database, Options, Session};
use progress::Show;
use source::File;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// What shells answer for a program that was ended by Ctrl-C.
const EXIT_INTERRUPTED: u8 = 130;
/// How long a server may take to roll back.
const ROLLBACK_MAX: Duration = Duration::from_secs(10);

/// Loads what the command line says.
pub(crate) async fn run(arguments: LoadArguments, workers: Handle) -> anyhow::Result<ExitCode> {
    let mut address = Address::of(arguments.url.as_deref(), |name| std::env::var(name).ok())?;
    let database =
        Database::open(Options { workers: Some(workers.clone()), ..Options::default() })?;
    let files = source::open(&database.session(), &arguments).await?;
    let (mut connection, key) = connect(&mut address).await?;
    let started = Instant::now();
    let (session, to) = (database.session(), &mut connection);
    let mut load = Load { connection: to, session, workers, arguments: &arguments };
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
            let undoing = async {
                if let Some(key) = key {
                    // A statement that has ended already needs no cancelling.
                    let _ = key.cancel(&address).await;
                }
                connection.give_up().await
            };
            let undone = tokio::time::timeout(ROLLBACK_MAX, undoing).await;
            let how = if matches!(undone, Ok(Ok(()))) { "rolled back" } else { "disconnected" };
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

/// A load and what it works with.
struct Load<'a> {
    connection: &'a mut Connection,
    session: Session,
    workers: Handle,
    arguments: &'a LoadArguments,
}

impl Load<'_> {
    /// Loads all files in one transaction; how many rows there were.
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
        let way = table::way(file, target, &self.arguments.table, self.arguments)?;
        let begun = self.connection.copy_in(&way.statement).await;
        begun.map_err(|error| explained(file, &error))?;
        self.send(file, &way).await
    }

    async fn send(&mut self, file: &File, way: &table::Way) -> anyhow::Result<u64> {
        let mut show = Show::begin(file);
        let mut pieces = source::read(file, way.form, self.session.clone(), &self.workers);
        while let Some(piece) = pieces.recv().await {
            let piece = piece.with_context(|| file.path.clone())?;
            show.advance(piece.rows, piece.bytes.len() as u64);
            let sent = self.connection.send_data(&piece.bytes).await;
            sent.map_err(|error| explained(file, &error))?;
            let taken = self.connection.refused_early().await;
            taken.map_err(|error| explained(file, &error))?;
        }
        self.connection.copied().await.map_err(|error| explained(file, &error))
    }
}

/// A refusal with the file's name, and the line where the server gives one.
fn explained(file: &File, trouble: &SqlError) -> anyhow::Error {
    match trouble.context.as_deref().and_then(line) {
        Some(line) if file.is_csv() => anyhow::anyhow!("{}:{line}: {trouble}", file.path),
        Some(row) => anyhow::anyhow!("{}, row {row}: {trouble}", file.path),
        None => anyhow::anyhow!("{}: {trouble}", file.path),
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
    fn the_line_of_a_context() {
        assert_eq!(line("COPY t, line 3, column a: \"x\""), Some(3));
        assert_eq!(line("COPY t, line 12"), Some(12));
        assert_eq!(line("PL/pgSQL function f() line 3 at RAISE"), None);
    }
}
