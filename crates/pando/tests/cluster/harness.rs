//! Server processes of a cluster for one test, and helpers for their clients.

use std::fs::{self, File};
use std::future::Future;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio_postgres::{Client, Config, NoTls};

/// Longer than any deadline between servers, even on a busy machine. What takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// Rows of the table `t` that [`filled`] makes.
pub(crate) const ROWS: i64 = 6_000;

/// A server, which ends with the test.
pub(crate) struct Server {
    process: Child,
    /// Kept open: a server ends if its output is closed.
    _stdout: BufReader<ChildStdout>,
    folder: TempDir,
    pub(crate) name: String,
    /// Address for clients.
    pub(crate) pg: String,
    /// Address for other servers.
    pub(crate) address: String,
    /// The token that others need to join, if connections are encrypted.
    pub(crate) token: Option<String>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if std::thread::panicking() {
            eprintln!("--- log of {}:\n{}", self.name, self.log());
        }
    }
}

/// The program, without the variables that configure clients.
pub(crate) fn pando(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pando"));
    command.args(arguments).stdin(Stdio::null()).env("NO_COLOR", "1").env("HOME", "/nonexistent");
    for variable in ["PGPASSWORD", "PGSSLMODE", "PGPASSFILE", "PGHOST", "PGPORT", "PGUSER"] {
        command.env_remove(variable);
    }
    command
}

/// `pando serve` on free ports.
pub(crate) fn serve(arguments: &[&str]) -> Command {
    let ports = ["serve", "--pg", "127.0.0.1:0", "--http", "127.0.0.1:0"];
    pando(&[&ports, arguments].concat())
}

/// Starts a server of a cluster and waits until it prints its addresses.
pub(crate) fn start(name: &str, arguments: &[&str]) -> Server {
    let folder = TempDir::new().expect("a folder");
    let log = File::create(folder.path().join("log")).expect("a file");
    let mut command = serve(&[&["--name", name], arguments].concat());
    let mut process = command.stdout(Stdio::piped()).stderr(log).spawn().expect("pando starts");
    let mut stdout = BufReader::new(process.stdout.take().expect("piped"));
    let mut line = || {
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    };
    let (pg, _http, _shell, cluster) = (line(), line(), line(), line());
    let stderr = || fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    let pg = pg.split_once("postgres://").unwrap_or_else(|| panic!("{name}: {}", stderr())).1;
    let address = cluster.split_once("called at ").expect("where others call it").1.to_owned();
    let is_first = !arguments.contains(&"--join");
    let another = if is_first { line() } else { String::new() };
    let token = another.split_once("--token ").map(|(_, token)| token.to_owned());
    let pg = pg.split('/').next().expect("a host").to_owned();
    Server { process, _stdout: stdout, folder, name: name.to_owned(), pg, address, token }
}

/// Starts the first server of a cluster on this machine.
pub(crate) fn first() -> Server {
    start("one", &["--cluster", "127.0.0.1:0"])
}

/// Starts a server that joins.
pub(crate) fn join(name: &str, first: &Server) -> Server {
    start(name, &["--join", &first.address])
}

/// Starts a cluster of three servers.
pub(crate) fn three() -> [Server; 3] {
    let first = first();
    let others = [join("two", &first), join("three", &first)];
    let [second, third] = others;
    [first, second, third]
}

impl Server {
    /// Connects a client.
    pub(crate) async fn connect(&self) -> Client {
        let (host, port) = self.pg.split_once(':').expect("host and port");
        let mut config = Config::new();
        config.host(host).port(port.parse().expect("a port")).user("ada").dbname("pando");
        let (client, connection) = soon(config.connect(NoTls)).await.expect("connected");
        tokio::spawn(connection);
        client
    }

    /// The URL for clients.
    pub(crate) fn url(&self) -> String {
        format!("postgres://ada@{}/pando", self.pg)
    }

    /// The server's log.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// The id of the process.
    pub(crate) fn id(&self) -> String {
        self.process.id().to_string()
    }

    /// Sends a signal, like `-STOP`.
    pub(crate) fn signal(&self, name: &str) {
        assert!(
            Command::new("kill").args([name, &self.id()]).status().expect("kill runs").success()
        );
    }

    /// Waits until the process ends.
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.process.wait().expect("ended")
    }
}

/// The output of a future that must not hang.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, work).await.expect("it hangs")
}

/// The number that a query returns.
pub(crate) async fn number(client: &Client, sql: &str) -> i64 {
    match soon(client.query_one(sql, &[])).await {
        Ok(row) => row.get(0),
        Err(error) => panic!("{sql}: {error:?}"),
    }
}

/// Runs a statement that must succeed, and returns its number of rows.
pub(crate) async fn run(client: &Client, sql: &str) -> u64 {
    soon(client.execute(sql, &[])).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"))
}

/// Repeats a query until it returns `true`, and returns how long that took.
pub(crate) async fn until(client: &Client, sql: &str) -> Duration {
    let begun = Instant::now();
    loop {
        let row = soon(client.query_one(sql, &[])).await;
        if row.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0) {
            return begun.elapsed();
        }
        assert!(begun.elapsed() < LIMIT, "it never is: {sql}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Fills `t (id, n)` with the ids 1 to [`ROWS`] in many small buckets, and waits until each server has some of them.
pub(crate) async fn filled(client: &Client, servers: i64) {
    run(client, "CREATE TABLE t (id bigint PRIMARY KEY, n bigint) WITH (bucket_size = '16KiB')")
        .await;
    let fill = format!("INSERT INTO t SELECT n, 0 FROM generate_series(1, {ROWS}) n");
    assert_eq!(run(client, &fill).await, ROWS as u64);
    let spread = "FROM pando.shares WHERE \"table\" = 't' AND percent > 15";
    until(client, &format!("SELECT count(*) = {servers} {spread}")).await;
}

/// An id of a row on the client's server.
pub(crate) async fn id_at(client: &Client) -> i64 {
    let here = "server = (SELECT name FROM pando.servers WHERE is_here)";
    let sql = &format!("SELECT low FROM pando.buckets WHERE \"table\" = 't' AND {here}");
    let rows = soon(client.query(sql, &[])).await.expect("rows");
    let mut ids = rows.iter().filter_map(|row| row.get::<_, Option<String>>(0)?.parse().ok());
    ids.next().expect("a bucket that begins with an id")
}

/// Whether a program succeeded, and the text of standard output and standard error.
pub(crate) fn told(output: &Output) -> (bool, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}
