//! A peer: another database that does the same work, driven by the Python program `python/peer.py`.
//!
//! The program reads one request a line and writes one answer a line. Data goes to it as Parquet files. Pando is idle
//! while the peer works, and the other way round.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use workloads::Answer;

const PROGRAM: &str = include_str!("../python/peer.py");

/// The database that Pando is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PeerName {
    /// DuckDB, in Python's process.
    Duckdb,
    /// DataFusion over its own tables in memory, in Python's process.
    Datafusion,
    /// No peer.
    None,
}

/// The peer, and the interpreter that runs it.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PeerArgs {
    /// Database to compare with, in the same run on the same data
    #[arg(long, value_enum, default_value = "duckdb")]
    pub(crate) peer: PeerName,
    /// Python interpreter that has the peer's package
    #[arg(long, default_value = "python3", env = "PANDO_BENCH_PYTHON")]
    pub(crate) python: String,
}

impl PeerArgs {
    /// Starts the peer; `None` if there is none.
    pub(crate) fn start(&self) -> Result<Option<Peer>> {
        match self.peer {
            PeerName::None => Ok(None),
            PeerName::Duckdb => Peer::start(&self.python, "duckdb").map(Some),
            PeerName::Datafusion => Peer::start(&self.python, "datafusion").map(Some),
        }
    }
}

/// A running peer. Dropping it ends the process.
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

    /// Loads a Parquet file into a table, which `create` creates, or else the peer in its own way.
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

    /// Runs a query and fetches its rows. Returns the duration and the number of rows.
    pub(crate) fn query(&mut self, sql: &str) -> Result<(Duration, u64)> {
        let took: Took = self.ask(&json!({"do": "query", "sql": sql}))?;
        Ok((duration(took.ms), took.rows))
    }

    /// The whole answer to a query.
    pub(crate) fn answer(&mut self, sql: &str) -> Result<Answer> {
        self.ask(&json!({"do": "answer", "sql": sql}))
    }

    /// Bytes of its tables, if it reports them.
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
        // The program ends when its input is closed. An error here has no receiver.
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
    fn a_missing_interpreter_is_named() {
        let error = Peer::start("no-such-python", "duckdb").unwrap_err().to_string();
        assert!(error.contains("no-such-python") && error.contains("--python"), "{error}");
    }

    #[test]
    fn a_missing_package_is_reported_with_the_command_that_installs_it() {
        // Isolated and without site-packages: no package can be found.
        let mut process = Command::new("python3");
        let output = process.args(["-I", "-S", "-c", PROGRAM, "duckdb"]).output().unwrap();
        let line: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(line["error"].as_str().unwrap().contains("-m pip install duckdb"), "{line}");
    }
}
