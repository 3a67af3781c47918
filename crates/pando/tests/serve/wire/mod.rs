//! Golden conversations between a client and the server, message by message.
//!
//! The scripts, `golden/*.txt`, have the format of the crate `goldenscript`, with the commands of [`Step`]. The messages of a
//! block are sent together. Its output is the server's answers: up to the message that `until` names, otherwise up to the
//! expected number of ReadyForQuery messages, or until the server closes the connection. `UPDATE_GOLDENFILES=1` rewrites the
//! output.
//!
//! `GOLDEN_SERVER=127.0.0.1:5432` runs the scripts on another server, which shows differences to PostgreSQL.

mod backend;
mod frontend;
mod seeds;
mod words;

use crate::harness;
use goldenscript::{Block, Command, Context, Runner};
use std::error::Error;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::time::Duration;

/// Time limit for an answer, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command of a script.
#[derive(goldenscript::Command)]
enum Step {
    /// Opens a connection. Nothing is sent.
    Connect,
    /// Opens a connection and logs in.
    Login,
    /// The answers end with the message of this name. `end` names none: they end with the connection.
    Until(String),
    /// `> Message ...` is sent. `> Cancel` sends a cancel request for the connection's statement.
    #[command(other)]
    Send(Command),
}

struct Player {
    address: String,
    stream: TcpStream,
    /// The key for cancel requests.
    key: Vec<u8>,
    /// The messages of the block so far.
    messages: Vec<String>,
    /// The name that the block gives to `until`.
    until: Option<String>,
}

fn open(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a listener");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

impl Player {
    fn login(&mut self) {
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

    /// Sends messages together and returns the answers, one a line.
    fn round(&mut self, messages: &[String], until: Option<&str>) -> String {
        let mut ready = 0;
        let mut bytes = Vec::new();
        for message in messages {
            match message.as_str() {
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
        match messages.last().map(String::as_str) {
            Some("SSLRequest" | "GSSENCRequest") => {
                let mut answer = [0];
                self.stream.read_exact(&mut answer).expect("an answer");
                return char::from(answer[0]).to_string();
            }
            Some("Terminate") => ready = usize::MAX,
            _ => {}
        }
        let mut output = String::new();
        while until.is_some() || ready > 0 {
            let answer = match backend::read(&mut self.stream) {
                Ok(Some(answer)) => answer,
                Ok(None) => return output + "(the connection ends)",
                Err(error) => return output + &format!("({error})"),
            };
            let line = answer.line();
            writeln!(output, "{line}").expect("text");
            if until.is_some_and(|name| line.starts_with(name)) {
                return output;
            }
            if until.is_none() && answer.kind == b'Z' {
                ready -= 1;
            }
        }
        output
    }
}

impl Runner for Player {
    type Command = Step;

    fn run(&mut self, step: &Step, _: &Context) -> Result<String, Box<dyn Error>> {
        match step {
            Step::Connect | Step::Login if !self.messages.is_empty() => {
                return Err("a connection is opened at the beginning of a block".into());
            }
            Step::Connect => self.stream = open(&self.address),
            Step::Login => {
                self.stream = open(&self.address);
                self.login();
            }
            Step::Until(name) => self.until = Some(name.clone()),
            Step::Send(message) => self.messages.push(line(message)?),
        }
        Ok(String::new())
    }

    fn end_block(&mut self, _: &Block) -> Result<String, Box<dyn Error>> {
        let (messages, until) = (std::mem::take(&mut self.messages), self.until.take());
        Ok(self.round(&messages, until.as_deref()))
    }

    fn end_script(&mut self) -> Result<(), Box<dyn Error>> {
        let _ = self.stream.shutdown(Shutdown::Both);
        Ok(())
    }
}

/// The text of `> Message ...`.
fn line(command: &Command) -> Result<String, Box<dyn Error>> {
    command.consume_args().reject_next()?;
    Ok(command.name.clone())
}

/// Runs a script and compares the conversation with it.
fn golden(name: &str) {
    let served = std::env::var("GOLDEN_SERVER").map_err(|_| harness::serve(&[]));
    let address = match &served {
        Ok(address) => address.clone(),
        Err(served) => served.pg.clone(),
    };
    let stream = open(&address);
    let (key, messages) = (Vec::new(), Vec::new());
    let mut player = Player { address, stream, key, messages, until: None };
    let script = Path::new("tests/serve/wire/golden").join(name);
    goldenscript::run(&mut player, script).unwrap_or_else(|error| panic!("{name}: {error}"));
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
