//! The server under test, a child process on free ports.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The memory that the server is told to stay below.
pub(crate) const MEMORY: &str = "1GB";
/// Lines of the log that are kept.
const LOG_LINES: usize = 200;

/// A running server; it ends on drop.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<VecDeque<String>>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    /// Starts the program.
    ///
    /// # Errors
    /// It does not start, or does not say where it listens.
    pub(crate) fn start(program: &Path) -> Result<Self, String> {
        let mut process = Command::new(program)
            .args(["serve", "--pg", "127.0.0.1:0", "--http", "127.0.0.1:0", "--memory", MEMORY])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} does not start: {error}", program.display()))?;
        let stdout = process.stdout.take().ok_or("the server has no output")?;
        let stderr = process.stderr.take().ok_or("the server has no log")?;
        let log: Arc<Mutex<VecDeque<String>>> = Arc::default();
        let kept = Arc::clone(&log);
        thread::spawn(move || keep(BufReader::new(stderr), &kept));
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        let _ = stdout.read_line(&mut line);
        // The server ends when nobody reads its output.
        thread::spawn(move || stdout.lines().for_each(drop));
        let address = line.split_once("postgres://").and_then(|(_, rest)| rest.split('/').next());
        let address = address.and_then(|address| address.parse().ok());
        let Some(address) = address else {
            let _ = process.kill();
            let _ = process.wait();
            return Err(format!("{} says {line:?} and not where it listens", program.display()));
        };
        Ok(Self { process, address, log })
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// How it has ended, if it ends within this time.
    pub(crate) fn ended(&mut self, within: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + within;
        loop {
            if let Ok(Some(status)) = self.process.try_wait() {
                return Some(status);
            }
            if Instant::now() > deadline {
                return None;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The line of the log that says why it ended.
    pub(crate) fn last_words(&self) -> String {
        // The log may be behind the process.
        thread::sleep(Duration::from_millis(50));
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let telling = |line: &&String| {
            ["overflowed", "panicked", "memory allocation", "abort"]
                .iter()
                .any(|word| line.contains(word))
        };
        log.iter().rev().find(telling).or(log.back()).cloned().unwrap_or_default()
    }
}

/// Keeps the last lines of the log.
fn keep(log: impl BufRead, kept: &Mutex<VecDeque<String>>) {
    for line in log.lines().map_while(Result::ok) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == LOG_LINES {
            kept.pop_front();
        }
        kept.push_back(line);
    }
}

/// The resident memory of a process in bytes; 0 if it has ended.
pub(crate) fn resident(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}
