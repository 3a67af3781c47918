//! A server with a connection on which scripts run, and the judgement of each statement.

use crate::child::Server;
use crate::client::{Client, Failure};
use crate::outcome::{Defect, Outcome};
use crate::script::{Mode, Step};
use crate::watch::Watch;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// What is a finding.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The time-out that statements have.
    pub(crate) timeout: Duration,
    /// The longest time of a statement, past its time-out.
    pub(crate) statement: Duration,
    /// The longest time in which others get no answer.
    pub(crate) silence: Duration,
    /// The largest resident memory in bytes.
    pub(crate) resident: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(2),
            statement: Duration::from_secs(10),
            silence: Duration::from_secs(1),
            resident: 3 << 29,
        }
    }
}

impl Limits {
    /// Limits of which a hang exceeds each in little time, for many tries.
    pub(crate) fn quick() -> Self {
        let timeout = Duration::from_millis(500);
        Self { timeout, statement: Duration::from_millis(2500), ..Self::default() }
    }
}

/// How long a server may take to log a client in.
const LOGIN: Duration = Duration::from_secs(10);
/// How long a process takes to end after its connections.
const DEATH: Duration = Duration::from_millis(1500);

/// A server and its client.
pub(crate) struct Session {
    server: Server,
    client: Client,
    watch: Watch,
    limits: Limits,
}

impl Session {
    /// A new server with a connection whose statements have a time-out.
    ///
    /// # Errors
    /// The server does not start.
    pub(crate) fn start(program: &Path, limits: Limits) -> Result<Self, String> {
        let server = Server::start(program)?;
        let login = |failure| format!("the server does not log in: {failure:?}");
        let deadline = Instant::now() + LOGIN;
        let mut client = Client::connect(server.address, deadline).map_err(login)?;
        let timeout = format!("SET statement_timeout = {}", limits.timeout.as_millis());
        client.run(&timeout, Mode::Simple, deadline).map_err(login)?;
        let watch = Watch::start(server.id(), server.address);
        Ok(Self { server, client, watch, limits })
    }

    /// Runs a statement. After a defect that does not leave the server, the session is of no use.
    pub(crate) fn run(&mut self, step: &Step) -> Outcome {
        let text = step.node.to_string();
        if let Some(pause) = step.cancel {
            let cancel = self.client.canceller();
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(pause));
                cancel();
            });
        }
        self.watch.begin();
        let begun = Instant::now();
        let answer = self.client.run(&text, step.mode, begun + self.limits.statement);
        let seen = self.watch.seen();
        let megabytes = seen.resident >> 20;
        match answer {
            Err(Failure::Late) => {
                let taken = begun.elapsed().as_millis();
                let timeout = self.limits.timeout.as_millis();
                let mut text = format!("no answer within {taken} ms at a time-out of {timeout} ms");
                if seen.silence > self.limits.silence {
                    text += ", and nobody else gets an answer";
                }
                if seen.resident > self.limits.resident {
                    text += &format!(", {megabytes} MB resident");
                }
                Outcome::Found(Defect::Hang, text)
            }
            Err(failure) => self.lost(failure, seen.resident),
            Ok(_) if seen.resident > self.limits.resident => {
                Outcome::Found(Defect::Memory, format!("{megabytes} MB resident"))
            }
            Ok(_) if seen.silence > self.limits.silence => {
                let silence = seen.silence.as_millis();
                Outcome::Found(
                    Defect::Deaf,
                    format!("SELECT 1 of another client took {silence} ms"),
                )
            }
            Ok(None) => Outcome::Done,
            Ok(Some(error)) if error.code == "XX000" => {
                Outcome::Found(Defect::Internal, error.message)
            }
            Ok(Some(error)) if !is_sqlstate(&error.code) => {
                Outcome::Found(Defect::Codeless, error.message)
            }
            Ok(Some(error)) => Outcome::Refused(error.code, error.message),
        }
    }

    fn lost(&mut self, failure: Failure, resident: u64) -> Outcome {
        if resident > crate::watch::RESIDENT_STOP {
            let megabytes = resident >> 20;
            return Outcome::Found(Defect::Memory, format!("stopped at {megabytes} MB resident"));
        }
        if let Some(status) = self.server.ended(DEATH) {
            let text = format!("{status}: {}", self.server.last_words());
            return Outcome::Found(Defect::Dead, text);
        }
        let text = match failure {
            Failure::Lost(text) => format!("the connection is lost: {text}"),
            Failure::Malformed(text) => format!("malformed: {text}"),
            Failure::Late => "late".to_owned(),
        };
        Outcome::Found(Defect::Protocol, text)
    }
}

fn is_sqlstate(code: &str) -> bool {
    code.len() == 5 && code.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}
