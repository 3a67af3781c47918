//! The SQL shell: runs statements and backslash commands, from scripts or a conversation.
//!
//! A script is cut into pieces ([`splitter`]) as it comes in and each is run before the next is looked
//! at, so that what follows an error is never run. In a conversation ([`editor`]) an error ends only what
//! was typed.

mod command;
mod completion;
mod describe;
mod editor;
mod help;
mod keywords;
mod lexer;
mod report;
mod splitter;
mod table_report;

use crate::interrupt::Interrupts;
use crate::output::{Grid, ShowError, View};
use crate::waiting::Waiting;
use command::{Command, CommandError};
use editor::{Editor, Typed};
use pando::{Database, Error, Outcome, Session, TransactionStatus};
use report::Origin;
use splitter::{Piece, PieceKind, Splitter};
use std::fs::File;
use std::io::{self, Read, Stdout, Write};
use std::path::Path;
use std::time::Instant;

/// Scripts include scripts up to this depth.
const INCLUDE_DEPTH_MAX: usize = 32;
/// Bytes of a script that are read at once.
const READ_BYTES: usize = 64 << 10;

/// A session and how its answers are shown.
pub(crate) struct Shell {
    database: Database,
    session: Session,
    view: View,
    interrupts: Interrupts,
    out: Stdout,
    include_depth: usize,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Well: go on.
    Continue,
    /// `\q`: leave.
    Quit,
    /// Badly: the error has been reported.
    Failed,
}

/// A script: where its text comes from.
pub(crate) struct Source<'a> {
    /// What reports call it; `None` for what the user has just typed.
    pub(crate) name: Option<&'a str>,
    /// The text.
    pub(crate) text: &'a mut dyn Read,
}

impl Shell {
    /// A shell on a new session.
    pub(crate) fn new(database: &Database, view: View) -> Self {
        let session = database.session();
        let interrupts = Interrupts::listen(session.cancel_handle());
        let out = io::stdout();
        Self { database: database.clone(), session, view, interrupts, out, include_depth: 0 }
    }

    /// The session that statements run in.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// From now on answers show so many rows; `None` for all.
    pub(crate) fn show_at_most(&mut self, rows: Option<usize>) {
        self.view.rows_shown_max = rows;
    }

    /// From now on answers tell how long they took, or not.
    pub(crate) fn tell_time(&mut self, told: bool) {
        self.view.timing = told;
    }

    /// Shows a table of our own.
    pub(crate) fn show_grid(&mut self, grid: &Grid) -> anyhow::Result<()> {
        Ok(self.view.write_columns(grid, &mut self.out)?)
    }

    /// Reads what a user types until the end.
    pub(crate) async fn converse(&mut self) -> anyhow::Result<()> {
        self.interrupts.converse();
        self.view.timing = true;
        let mut editor = Editor::new(&self.session).await?;
        loop {
            let status = self.session.transaction_status().await;
            let text = match editor.read(prompt(status))? {
                Typed::Text(text) => text,
                Typed::Nothing => continue,
                Typed::End => return Ok(()),
            };
            let source = Source { name: None, text: &mut text.as_bytes() };
            if self.run_script(source).await? == Flow::Quit {
                return Ok(());
            }
        }
    }

    /// Runs a script up to its first error.
    pub(crate) async fn run_script(&mut self, source: Source<'_>) -> anyhow::Result<Flow> {
        let mut splitter = Splitter::new();
        let mut incoming = Incoming::default();
        while let Some(text) = incoming.read(source.text)? {
            splitter.push(&text);
            while let Some(piece) = splitter.next_complete() {
                let flow = self.run_piece(&piece, source.name).await?;
                if flow != Flow::Continue {
                    return Ok(flow);
                }
            }
        }
        match splitter.finish() {
            Some(piece) => self.run_piece(&piece, source.name).await,
            None => Ok(Flow::Continue),
        }
    }

    /// Runs the script in a file.
    pub(crate) async fn run_file(&mut self, path: &Path) -> anyhow::Result<Flow> {
        let explain = |error| anyhow::anyhow!("cannot read {}: {error}", path.display());
        let mut file = File::open(path).map_err(explain)?;
        let name = path.display().to_string();
        // A script that includes another runs inside itself, and a future cannot hold itself.
        Box::pin(self.run_script(Source { name: Some(&name), text: &mut file })).await
    }

    async fn run_piece(&mut self, piece: &Piece, script: Option<&str>) -> anyhow::Result<Flow> {
        match piece.kind {
            PieceKind::Statement => self.run_statements(piece, script).await,
            PieceKind::Command => self.run_command(piece, script).await,
        }
    }

    /// A piece holds one statement, unless the parser sees it otherwise than the splitter.
    async fn run_statements(
        &mut self,
        piece: &Piece,
        script: Option<&str>,
    ) -> anyhow::Result<Flow> {
        let origin = Origin { script, text: &piece.text, line: piece.line };
        let statements = match self.session.parse(&piece.text) {
            Ok(statements) => statements,
            Err(error) => return self.report(&error, origin),
        };
        for statement in statements {
            let interrupts = self.interrupts.clone();
            let _running = interrupts.running();
            let started = Instant::now();
            let waiting = Waiting::begin(&self.session);
            let shown = match self.session.run(&statement, &[]).await {
                Ok(Outcome::Rows(rows)) => {
                    self.view.show_rows(rows, started, waiting, &mut self.out).await
                }
                Ok(Outcome::Done(tag)) => {
                    drop(waiting);
                    let time = started.elapsed();
                    self.view.show_done(&tag, time, &mut self.out).map_err(ShowError::from)
                }
                Err(error) => {
                    drop(waiting);
                    Err(ShowError::Statement(error))
                }
            };
            match shown {
                Ok(()) => (),
                Err(ShowError::Statement(error)) => {
                    return self.report(&shifted(error, statement.offset), origin);
                }
                Err(ShowError::Output(error)) => return Err(error.into()),
            }
            if interrupts.interrupted() {
                return Ok(Flow::Failed);
            }
        }
        Ok(Flow::Continue)
    }

    async fn run_command(&mut self, piece: &Piece, script: Option<&str>) -> anyhow::Result<Flow> {
        let result = match Command::parse(&piece.text) {
            Ok(command) => command::run(self, command).await,
            Err(error) => Err(error),
        };
        match result {
            Ok(flow) => Ok(flow),
            Err(CommandError::Statement(error)) => {
                let origin = Origin { script, text: "", line: piece.line };
                self.report(&error, origin)
            }
            Err(CommandError::Misused(message)) => {
                let place = script.map(|script| format!("{script}:{}: ", piece.line));
                eprintln!("{}{message}", place.unwrap_or_default());
                Ok(Flow::Failed)
            }
            Err(CommandError::Output(error)) => Err(error),
        }
    }

    fn report(&mut self, error: &Error, origin: Origin<'_>) -> anyhow::Result<Flow> {
        self.out.flush()?;
        eprint!("{}", report::render(error, origin, self.view.terminal.width()));
        Ok(Flow::Failed)
    }
}

/// The error with its position counted in the text that the statement is part of.
fn shifted(error: Error, offset: usize) -> Error {
    match error.position() {
        Some(position) => error.at(position + offset),
        None => error,
    }
}

fn prompt(status: TransactionStatus) -> &'static str {
    match status {
        TransactionStatus::Idle => "pando> ",
        TransactionStatus::Open => "pando*> ",
        TransactionStatus::Failed => "pando!> ",
    }
}

/// Text that arrives in parts that need not end between characters.
#[derive(Debug, Default)]
struct Incoming {
    bytes: Vec<u8>,
}

impl Incoming {
    /// The next part; `None` at the end.
    fn read(&mut self, source: &mut dyn Read) -> anyhow::Result<Option<String>> {
        let kept = self.bytes.len();
        self.bytes.resize(kept + READ_BYTES, 0);
        let read = source.read(&mut self.bytes[kept..])?;
        self.bytes.truncate(kept + read);
        let whole = match std::str::from_utf8(&self.bytes) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() && read > 0 => error.valid_up_to(),
            Err(_) => anyhow::bail!("the script is not UTF-8 text"),
        };
        if read == 0 {
            return Ok(None);
        }
        let rest = self.bytes.split_off(whole);
        let text = String::from_utf8(std::mem::replace(&mut self.bytes, rest))?;
        Ok(Some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_may_arrive_in_parts() {
        struct Drip<'a>(&'a [u8]);
        impl Read for Drip<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let one = self.0.len().min(1);
                buffer[..one].copy_from_slice(&self.0[..one]);
                self.0 = &self.0[one..];
                Ok(one)
            }
        }
        let mut source = Drip("a日é".as_bytes());
        let mut incoming = Incoming::default();
        let mut text = String::new();
        while let Some(part) = incoming.read(&mut source).expect("is text") {
            text.push_str(&part);
        }
        assert_eq!(text, "a日é");
        let mut broken = Drip(b"a\xff");
        let mut incoming = Incoming::default();
        let outcome =
            std::iter::repeat_with(|| incoming.read(&mut broken)).take(3).find_map(Result::err);
        assert!(outcome.is_some());
    }
}
