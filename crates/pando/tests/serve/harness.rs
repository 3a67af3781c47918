//! A server for one test, and helpers for its clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use tokio_postgres::{Client, Config, NoTls};

/// A server, which ends with the test.
pub(crate) struct Served {
    pub(crate) process: Child,
    pub(crate) stdout: BufReader<ChildStdout>,
    /// The server's log.
    pub(crate) stderr: ChildStderr,
    pub(crate) pg: String,
    pub(crate) http: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pando"));
    command.arg("serve").args(arguments).stdin(Stdio::null());
    command
}

pub(crate) fn serve(arguments: &[&str]) -> Served {
    let own = ["--pg", "127.0.0.1:0", "--http", "127.0.0.1:0"];
    let mut command = command(&[&own, arguments].concat());
    let mut process =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("pando starts");
    let mut stdout = BufReader::new(process.stdout.take().expect("piped"));
    let stderr = process.stderr.take().expect("piped");
    let mut address = |before: &str| {
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        let rest = line.split_once(before).expect("an address").1;
        rest.split('/').next().expect("a host").to_owned()
    };
    let (pg, http, _shell) = (address("postgres://"), address("http://"), address("postgres://"));
    Served { process, stdout, stderr, pg, http }
}

pub(crate) async fn connect(
    served: &Served,
    user: &str,
    password: Option<&str>,
) -> Result<Client, tokio_postgres::Error> {
    let (host, port) = served.pg.split_once(':').expect("host and port");
    let mut config = Config::new();
    config.host(host).port(port.parse().expect("a port")).user(user).dbname("pando");
    if let Some(password) = password {
        config.password(password);
    }
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

pub(crate) fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a listener");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    answer
}

pub(crate) fn signal(served: &Served, name: &str) {
    let id = served.process.id().to_string();
    assert!(Command::new("kill").args([name, &id]).status().expect("kill runs").success());
}
