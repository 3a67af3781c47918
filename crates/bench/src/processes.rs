//! A cluster whose servers are processes: `pando serve` of the program that runs, on free ports of this machine.

use crate::endpoint::{self, Endpoint};
use crate::in_process::name;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// What the line of a server begins with that says where clients connect.
const CLIENTS: &str = "PostgreSQL";
/// The same for other servers.
const SERVERS: &str = "Cluster";

/// Servers that are processes. They end when this is dropped, and what they have logged goes with them.
#[derive(Debug)]
pub(crate) struct Processes {
    servers: Vec<Process>,
    /// The servers' logs. It goes after the servers: fields are dropped in their order.
    _logs: TempDir,
}

/// One of them.
#[derive(Debug)]
struct Process {
    child: Running,
    /// Where clients connect.
    clients: SocketAddr,
    /// Where other servers call it.
    servers: String,
    /// Held open: a server whose output nobody can read ends.
    _output: BufReader<ChildStdout>,
}

/// A process that ends when this is dropped.
#[derive(Debug)]
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // There is nobody to tell where it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a server says of itself when it is ready.
struct Ready {
    clients: SocketAddr,
    servers: String,
    output: BufReader<ChildStdout>,
}

impl Processes {
    /// Starts so many servers. Each is ready when it says so, and a part of the cluster then.
    ///
    /// # Errors
    /// Where one does not start, with what it says.
    pub(crate) async fn start(servers: usize) -> Result<Self> {
        let program = std::env::current_exe().context("where this program is")?;
        let logs = tempfile::tempdir()?;
        let mut started = Vec::<Process>::new();
        for number in 0..servers {
            let first = started.first().map(|first| first.servers.as_str());
            started.push(Process::start(&program, &name(number), first, logs.path()).await?);
        }
        Ok(Self { servers: started, _logs: logs })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.servers.len()
    }

    /// A client of one of them.
    pub(crate) async fn endpoint(&self, server: usize) -> Result<Endpoint> {
        Endpoint::connect(self.servers[server].clients).await
    }

    /// A client that begins with one of them and learns where rows are.
    pub(crate) async fn client_with_image(&self, server: usize) -> Result<client::Client> {
        endpoint::client_with_image(self.servers[server].clients).await
    }

    /// The system's number of one of them.
    pub(crate) fn id(&self, server: usize) -> u32 {
        self.servers[server].child.0.id()
    }
}

impl Process {
    /// Starts a server, the first of a cluster or by way of the first.
    async fn start(program: &Path, name: &str, first: Option<&str>, logs: &Path) -> Result<Self> {
        let log = logs.join(name);
        let entry = match first {
            None => ["--cluster", "127.0.0.1:0"],
            Some(first) => ["--join", first],
        };
        let mut command = Command::new(program);
        command.args(["serve", "--pg", "127.0.0.1:0", "--http", "127.0.0.1:0", "--name", name]);
        command.args(entry).args(["--log-level", "warn"]);
        for (variable, _) in std::env::vars_os() {
            if variable.to_str().is_some_and(|variable| variable.starts_with("PANDO_")) {
                command.env_remove(variable);
            }
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(File::create(&log)?);
        let child = command.spawn().with_context(|| format!("starting {}", program.display()))?;
        let mut child = Running(child);
        let output = child.0.stdout.take().context("the output of a server is a pipe")?;
        let ready = tokio::task::spawn_blocking(move || Ready::read(output)).await?;
        match ready.with_context(|| format!("starting server {name}"))? {
            Some(Ready { clients, servers, output }) => {
                Ok(Self { child, clients, servers, _output: output })
            }
            None => {
                let output = fs::read_to_string(&log).unwrap_or_default();
                bail!("server {name} did not start: {}", output.trim_end())
            }
        }
    }
}

impl Ready {
    /// Waits until a server has said where it is; `None` where it ends before.
    fn read(output: ChildStdout) -> io::Result<Option<Self>> {
        let mut output = BufReader::new(output);
        let (mut clients, mut line) = (None, String::new());
        while output.read_line(&mut line)? > 0 {
            if line.starts_with(CLIENTS) {
                clients = clients_at(&line);
            }
            if let (Some(clients), Some(servers)) = (clients, servers_at(&line)) {
                let servers = servers.to_owned();
                return Ok(Some(Self { clients, servers, output }));
            }
            line.clear();
        }
        Ok(None)
    }
}

/// Where clients connect: `PostgreSQL   psql 'postgres://127.0.0.1:5433/pando'`.
fn clients_at(line: &str) -> Option<SocketAddr> {
    let (_, url) = line.split_once("postgres://")?;
    url.split(['/', '\'']).next()?.parse().ok()
}

/// Where other servers call it: `Cluster      server a of 1 server, called at 127.0.0.1:7000`.
fn servers_at(line: &str) -> Option<&str> {
    let (_, at) = line.strip_prefix(SERVERS)?.split_once("called at ")?;
    Some(at.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_lines_say_where_it_is() {
        let line = "PostgreSQL   psql 'postgres://127.0.0.1:5433/pando'\n";
        assert_eq!(clients_at(line), "127.0.0.1:5433".parse().ok());
        assert_eq!(clients_at("PostgreSQL   psql 'somewhere'\n"), None);
        let line = "Cluster      server a of 2 servers, called at 127.0.0.1:7000\n";
        assert_eq!(servers_at(line), Some("127.0.0.1:7000"));
        assert_eq!(servers_at("Another      pando serve --join 127.0.0.1:7000\n"), None);
    }

    #[tokio::test]
    async fn a_program_that_is_no_server_is_named_with_what_it_says() {
        let logs = tempfile::tempdir().expect("a folder");
        let started = Process::start(Path::new("ls"), "a", None, logs.path()).await;
        let error = format!("{:#}", started.expect_err("ls serves nobody"));
        assert!(error.contains("server a did not start") && error.contains("ls:"), "{error}");
        let started = Process::start(Path::new("no-such-program"), "a", None, logs.path()).await;
        let error = format!("{:#}", started.expect_err("there is none"));
        assert!(error.contains("no-such-program"), "{error}");
    }
}
