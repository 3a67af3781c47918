//! A peer on the same work: another database, driven by a Python program that this crate carries.
//!
//! The program (`python/peer.py`) takes one request a line and answers with one line. Data goes over as
//! Parquet files. The peer runs while Pando does nothing and the other way round.

use crate::answer::Answer;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

const PROGRAM: &str = include_str!("../python/peer.py");

/// Whom Pando is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum PeerName {
    /// DuckDB, in Python's process.
    Duckdb,
    /// DataFusion over its own tables in memory, in Python's process.
    Datafusion,
    /// Nobody.
    None,
}

/// Which peer, and how it is started.
#[derive(Debug, Clone, clap::Args)]
pub struct PeerArgs {
    /// Whom to compare with, in the same run on the same data
    #[arg(long, value_enum, default_value = "duckdb")]
    pub peer: PeerName,
    /// The Python interpreter that has the peer's package
    #[arg(long, default_value = "python3", env = "PANDO_BENCH_PYTHON")]
    pub python: String,
}

impl PeerArgs {
    /// Starts the peer; `None` where nobody is compared with.
    pub(crate) fn start(&self) -> Result<Option<Peer>> {
        match self.peer {
            PeerName::None => Ok(None),
            PeerName::Duckdb => Peer::start(&self.python, "duckdb").map(Some),
            PeerName::Datafusion => Peer::start(&self.python, "datafusion").map(Some),
        }
    }
}

/// A running peer. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Its name and version.
    pub(crate) name: String,
    process: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
struct Introduction {
    name: String,
    version: String,
}

#[derive(Deserialize)]
struct Took {
    ms: f64,
    #[serde(default)]
    rows: u64,
}

#[derive(Deserialize)]
struct Held {
    bytes: Option<u64>,
}

impl Peer {
    fn start(python: &str, name: &str) -> Result<Self> {
        let mut process = Command::new(python)
            .args(["-c", PROGRAM, name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| {
                format!("cannot start \"{python}\"; name an interpreter with --python")
            })?;
        let requests = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().context("the peer has an output")?);
        let mut peer = Self { name: name.to_owned(), process, requests, answers };
        let introduction: Introduction = peer.receive()?;
        peer.name = format!("{} {}", introduction.name, introduction.version);
        Ok(peer)
    }

    /// Loads a Parquet file into a table that is created by the statement, or by the peer as it likes best.
    pub(crate) fn load(
        &mut self,
        table: &str,
        file: &Path,
        create: Option<&str>,
    ) -> Result<Duration> {
        let took: Took =
            self.ask(&json!({"do": "load", "table": table, "file": file, "create": create}))?;
        Ok(duration(took.ms))
    }

    /// Drops a table.
    pub(crate) fn drop_table(&mut self, table: &str) -> Result<()> {
        self.ask::<Took>(&json!({"do": "drop", "table": table})).map(drop)
    }

    /// Runs a query and fetches its rows; how long that took, and how many they are.
    pub(crate) fn query(&mut self, sql: &str) -> Result<(Duration, u64)> {
        let took: Took = self.ask(&json!({"do": "query", "sql": sql}))?;
        Ok((duration(took.ms), took.rows))
    }

    /// The whole answer to a query.
    pub(crate) fn answer(&mut self, sql: &str) -> Result<Answer> {
        self.ask(&json!({"do": "answer", "sql": sql}))
    }

    /// Bytes that its tables hold, where it says.
    pub(crate) fn memory(&mut self) -> Result<Option<u64>> {
        Ok(self.ask::<Held>(&json!({"do": "memory"}))?.bytes)
    }

    fn ask<T: DeserializeOwned>(&mut self, request: &Value) -> Result<T> {
        let requests = self.requests.as_mut().context("the peer has an input")?;
        writeln!(requests, "{request}").with_context(|| format!("{} has ended", self.name))?;
        self.receive()
    }

    fn receive<T: DeserializeOwned>(&mut self) -> Result<T> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        if line.is_empty() {
            bail!("{} has ended: {}", self.name, self.process.wait()?);
        }
        let answer: Value = serde_json::from_str(&line)?;
        if let Some(error) = answer["error"].as_str() {
            bail!("{error}");
        }
        Ok(serde_json::from_value(answer)?)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends by itself when nobody can ask any more; there is nobody to tell where it does not.
        self.requests = None;
        let _ = self.process.wait();
    }
}

fn duration(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_that_does_not_exist_is_named() {
        let error = Peer::start("no-such-python", "duckdb").unwrap_err().to_string();
        assert!(error.contains("no-such-python") && error.contains("--python"), "{error}");
    }

    #[test]
    fn a_missing_package_comes_with_the_command_that_installs_it() {
        // Isolated and without site-packages, so that no package can be there.
        let mut process = Command::new("python3");
        let output = process.args(["-I", "-S", "-c", PROGRAM, "duckdb"]).output().unwrap();
        let line: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(line["error"].as_str().unwrap().contains("-m pip install duckdb"), "{line}");
    }
}
