//! A cluster of `pando serve` processes on free ports of this machine.

use crate::endpoint::{self, Endpoint};
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use tempfile::TempDir;
use workloads::server_name;

/// Prefix of the line of a server's output with the address for clients.
const CLIENTS: &str = "PostgreSQL";
/// Prefix of the line with the address for other servers.
const SERVERS: &str = "Cluster";

/// Server processes. Dropping this ends them and deletes their logs.
#[derive(Debug)]
pub(crate) struct Processes {
    servers: Vec<Process>,
    /// The servers' logs. Dropped after the servers, as fields are dropped in their order.
    _logs: TempDir,
}

/// One server process.
#[derive(Debug)]
struct Process {
    child: Running,
    /// Address for clients.
    clients: SocketAddr,
    /// Address for other servers.
    servers: String,
    /// Kept open: a server ends if its output is closed.
    _output: BufReader<ChildStdout>,
}

/// A process that is killed when this is dropped.
#[derive(Debug)]
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The addresses that a server prints when it is ready.
struct Ready {
    clients: SocketAddr,
    servers: String,
    output: BufReader<ChildStdout>,
}

impl Processes {
    /// Starts `servers` servers and waits until each is a member of the cluster.
    ///
    /// # Errors
    /// If there is no program `pando` next to this one, or a server does not start; the error has its output.
    pub(crate) async fn start(servers: usize) -> Result<Self> {
        let program = pando()?;
        let logs = tempfile::tempdir()?;
        let mut started = Vec::<Process>::new();
        for number in 0..servers {
            let first = started.first().map(|first| first.servers.as_str());
            started.push(Process::start(&program, &server_name(number), first, logs.path()).await?);
        }
        Ok(Self { servers: started, _logs: logs })
    }

    /// The number of servers.
    pub(crate) fn len(&self) -> usize {
        self.servers.len()
    }

    /// A client of a server.
    pub(crate) async fn endpoint(&self, server: usize) -> Result<Endpoint> {
        Endpoint::connect(self.servers[server].clients).await
    }

    /// A client with an image, which connects to this server first.
    pub(crate) async fn client_with_image(&self, server: usize) -> Result<client::Client> {
        endpoint::client_with_image(self.servers[server].clients).await
    }

    /// The process id of a server.
    pub(crate) fn id(&self, server: usize) -> u32 {
        self.servers[server].child.0.id()
    }
}

impl Process {
    /// Starts a server: the first of a cluster, or one that joins through `first`.
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
        let output = child.0.stdout.take().context("the server has no output")?;
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
    /// Waits until a server has printed its addresses; `None` if it ends before.
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

/// The program `pando` in the folder of this program.
fn pando() -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find the path of this program")?;
    let pando = own.with_file_name("pando");
    ensure!(
        pando.is_file(),
        "servers are started with {}, which does not exist (cargo build --release --bin pando)",
        pando.display()
    );
    Ok(pando)
}

/// The address for clients: `PostgreSQL   psql 'postgres://127.0.0.1:5433/pando'`.
fn clients_at(line: &str) -> Option<SocketAddr> {
    let (_, url) = line.split_once("postgres://")?;
    url.split(['/', '\'']).next()?.parse().ok()
}

/// The address for other servers: `Cluster      server a of 1 server, called at 127.0.0.1:7000`.
fn servers_at(line: &str) -> Option<&str> {
    let (_, at) = line.strip_prefix(SERVERS)?.split_once("called at ")?;
    Some(at.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_from_a_servers_output() {
        let line = "PostgreSQL   psql 'postgres://127.0.0.1:5433/pando'\n";
        assert_eq!(clients_at(line), "127.0.0.1:5433".parse().ok());
        assert_eq!(clients_at("PostgreSQL   psql 'somewhere'\n"), None);
        let line = "Cluster      server a of 2 servers, called at 127.0.0.1:7000\n";
        assert_eq!(servers_at(line), Some("127.0.0.1:7000"));
        assert_eq!(servers_at("Another      pando serve --join 127.0.0.1:7000\n"), None);
    }

    #[tokio::test]
    async fn a_program_that_is_not_a_server_is_reported_with_its_output() {
        let logs = tempfile::tempdir().expect("a folder");
        let started = Process::start(Path::new("ls"), "a", None, logs.path()).await;
        let error = format!("{:#}", started.expect_err("ls serves nobody"));
        assert!(error.contains("server a did not start") && error.contains("ls:"), "{error}");
        let started = Process::start(Path::new("no-such-program"), "a", None, logs.path()).await;
        let error = format!("{:#}", started.expect_err("there is none"));
        assert!(error.contains("no-such-program"), "{error}");
    }
}
