//! Golden conversations between a client and the server, message by message.
//!
//! A script's lines (`golden/*.txt`):
//!
//! - `= connection` is a new client after authentication, `= raw connection` one that has sent nothing.
//! - `> Message ...` is sent; consecutive lines are sent together. `> Cancel` sends a cancel request for the connection's
//!   statement.
//! - `until Name`: the answers end with that message. Otherwise they end after the expected number of ReadyForQuery
//!   messages, or when the server closes the connection.
//! - `< ...` is an answer. `UPDATE_GOLDEN=1` rewrites these lines.
//!
//! `GOLDEN_SERVER=127.0.0.1:5432` runs the scripts on another server, which shows differences to PostgreSQL.

mod backend;
mod frontend;
mod seeds;
mod words;

use crate::harness;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::time::Duration;

/// Time limit for an answer, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct Player {
    address: String,
    stream: TcpStream,
    output: String,
    /// The key for cancel requests.
    key: Vec<u8>,
}

fn open(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a listener");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

impl Player {
    fn connect(&mut self, raw: bool) {
        self.stream = open(&self.address);
        if raw {
            return;
        }
        let (startup, _) = frontend::message("Startup 3.0 user=ada database=postgres");
        self.stream.write_all(&startup).expect("sent");
        while let Some(answer) = backend::read(&mut self.stream).expect("an answer") {
            match answer.kind {
                b'K' => self.key = answer.body.clone(),
                b'Z' => return,
                b'E' => panic!("{}", answer.line()),
                _ => {}
            }
        }
    }

    fn cancel(&self) {
        let code = 80_877_102u32.to_be_bytes();
        let length = u32::try_from(self.key.len() + 8).expect("short").to_be_bytes();
        let mut stream = open(&self.address);
        stream.write_all(&[&length[..], &code, &self.key].concat()).expect("sent");
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).expect("closed without an answer");
        assert_eq!(rest, b"");
    }

    /// Sends lines together and records the answers.
    fn round(&mut self, lines: &[&str], until: Option<&str>) {
        let mut ready = 0;
        let mut bytes = Vec::new();
        for line in lines {
            match *line {
                "Cancel" => self.cancel(),
                line => {
                    let (message, times) = frontend::message(line);
                    bytes.extend(message);
                    ready += times;
                }
            }
        }
        // The server may have closed the connection, which the answers show.
        let _ = self.stream.write_all(&bytes);
        match lines.last() {
            Some(&("SSLRequest" | "GSSENCRequest")) => {
                let mut answer = [0];
                self.stream.read_exact(&mut answer).expect("an answer");
                return writeln!(self.output, "< {}", char::from(answer[0])).expect("text");
            }
            Some(&"Terminate") => ready = usize::MAX,
            _ => {}
        }
        while until.is_some() || ready > 0 {
            let answer = match backend::read(&mut self.stream) {
                Ok(Some(answer)) => answer,
                Ok(None) => return self.output.push_str("< (the connection ends)\n"),
                Err(error) => return writeln!(self.output, "< ({error})").expect("text"),
            };
            let line = answer.line();
            writeln!(self.output, "< {line}").expect("text");
            if until.is_some_and(|name| line.starts_with(name)) {
                return;
            }
            if until.is_none() && answer.kind == b'Z' {
                ready -= 1;
            }
        }
    }

    fn play(&mut self, script: &str) {
        let mut lines = script.lines().filter(|line| !line.starts_with('<')).peekable();
        while let Some(line) = lines.next() {
            writeln!(self.output, "{line}").expect("text");
            match line {
                "= connection" => self.connect(false),
                "= raw connection" => self.connect(true),
                _ => {}
            }
            let Some(first) = line.strip_prefix("> ") else { continue };
            let mut group = vec![first];
            let alone = |line: &str| matches!(line, "SSLRequest" | "GSSENCRequest");
            while !alone(group[group.len() - 1])
                && let Some(more) = lines.peek().and_then(|line| line.strip_prefix("> "))
            {
                writeln!(self.output, "> {more}").expect("text");
                group.push(more);
                lines.next();
            }
            let until = lines.next_if(|line| line.starts_with("until "));
            until.inspect(|line| writeln!(self.output, "{line}").expect("text"));
            self.round(&group, until.and_then(|line| line.strip_prefix("until ")));
        }
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Runs a script and compares the conversation with it.
fn golden(name: &str) {
    let served = std::env::var("GOLDEN_SERVER").map_err(|_| harness::serve(&[]));
    let address = match &served {
        Ok(address) => address.clone(),
        Err(served) => served.pg.clone(),
    };
    let path = Path::new("tests/serve/wire/golden").join(name);
    let script = std::fs::read_to_string(&path).expect("a script");
    let stream = open(&address);
    let mut player = Player { address, stream, output: String::new(), key: Vec::new() };
    player.play(&script);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        return std::fs::write(&path, player.output).expect("written");
    }
    let differences = difference(&script, &player.output);
    assert!(differences.is_empty(), "{name}:\n{differences}");
}

/// The lines where two conversations differ, with the message before.
fn difference(wanted: &str, found: &str) -> String {
    let groups = |text: &str| -> Vec<(String, String)> {
        let mut groups: Vec<(String, String)> = vec![Default::default()];
        for line in text.lines() {
            match (line.starts_with('<'), groups.last_mut()) {
                (true, Some((_, answers))) => *answers += &format!("{line}\n"),
                _ => groups.push((line.to_owned(), String::new())),
            }
        }
        groups
    };
    let pairs = groups(wanted).into_iter().zip(groups(found));
    pairs
        .filter(|(wanted, found)| wanted != found)
        .map(|((line, wanted), (_, found))| {
            format!("{line}\n--- wanted\n{wanted}--- found\n{found}")
        })
        .collect()
}

macro_rules! conversations {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                golden(concat!(stringify!($name), ".txt"));
            }
        )*
    };
}

conversations!(startup simple extended portals pipelines copy refused);
