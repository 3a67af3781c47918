//! A server process, for tests of its client programs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use tempfile::TempDir;

/// A server, which ends with the test, and a folder for files.
pub(crate) struct World {
    pub(crate) process: Child,
    /// Kept open: a server ends if its output is closed.
    _stdout: BufReader<ChildStdout>,
    pub(crate) url: String,
    pub(crate) folder: TempDir,
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The program, without the variables that configure clients.
pub(crate) fn pando() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pando"));
    command.stdin(Stdio::null()).env("NO_COLOR", "1").env("HOME", "/nonexistent");
    for variable in ["PGPASSWORD", "PGSSLMODE", "PGPASSFILE", "PGHOST", "PGPORT", "PGUSER"] {
        command.env_remove(variable);
    }
    command
}

/// A server with some settings.
pub(crate) fn world(settings: &[&str]) -> World {
    world_of(pando(), settings)
}

/// A server with some settings, of a command that may have variables.
pub(crate) fn world_of(mut command: Command, settings: &[&str]) -> World {
    let folder = TempDir::new().expect("a folder");
    command.args(["serve", "--pg", "127.0.0.1:0", "--http", "127.0.0.1:0"]).args(settings);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = command.spawn().expect("pando starts");
    let mut line = String::new();
    let mut stdout = BufReader::new(process.stdout.take().expect("piped"));
    stdout.read_line(&mut line).expect("a line");
    let address = line.split_once("postgres://").expect("an address").1;
    let address = address.split('/').next().expect("a host");
    World { process, _stdout: stdout, url: format!("postgres://ada@{address}/pando"), folder }
}

/// A server with TLS that requires the password "right" of `ada`.
pub(crate) fn guarded_world() -> World {
    let secrets = TempDir::new().expect("a folder");
    let secret = secrets.path().join("secret");
    fs::write(&secret, "right").expect("is written");
    let secret = secret.to_str().expect("text");
    let user = ["--superuser", "ada", "--superuser-password-file", secret];
    world(&[&user[..], &["--tls-self-signed", "true"]].concat())
}

impl World {
    /// A file with some text.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("is written");
        path.to_str().expect("text").to_owned()
    }
}

/// The text of standard error.
pub(crate) fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
