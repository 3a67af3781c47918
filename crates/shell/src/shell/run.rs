//! Runs a piece of a script: statements at the place, or a backslash command.

use super::commands::{self, Command, CommandError};
use super::place::Answer;
use super::report::{Origin, render};
use super::script::Script;
use super::text::splitter::{Piece, PieceKind};
use super::{Flow, Shell, copy};
use crate::error::SqlError;
use crate::output::{Done, ShowError, View};
use crate::waiting::Waiting;
use std::io::{self, Write};
use std::time::Instant;

/// Commands that may change the names for completion.
const RENAMING: [&str; 6] = ["CREATE", "ALTER", "DROP", "COMMIT", "ROLLBACK", "IMPORT"];

impl Shell {
    /// Runs a piece of a script.
    pub(super) async fn run_piece(
        &mut self,
        piece: &Piece,
        script: &mut Script<'_>,
    ) -> anyhow::Result<Flow> {
        let interrupts = self.interrupts.clone();
        let _running = interrupts.running();
        let flow = match piece.kind {
            PieceKind::Statement => self.run_statements(piece, script).await?,
            PieceKind::Command => self.run_command(piece, script.name()).await?,
        };
        let is_interrupted = interrupts.interrupted() && flow == Flow::Continue;
        Ok(if is_interrupted { Flow::Failed } else { flow })
    }

    /// Runs the statements of a piece: one, unless the server's parser disagrees with the splitter.
    async fn run_statements(
        &mut self,
        piece: &Piece,
        script: &mut Script<'_>,
    ) -> anyhow::Result<Flow> {
        match self.show_answers(piece, script).await {
            Ok(()) => Ok(Flow::Continue),
            Err(ShowError::Output(error)) => Err(error.into()),
            Err(ShowError::Statement(error)) => {
                let error = self.place.recover(error).await;
                let origin = Origin { script: script.name(), text: &piece.text, line: piece.line };
                self.report(&error, origin)
            }
        }
    }

    async fn show_answers(
        &mut self,
        piece: &Piece,
        script: &mut Script<'_>,
    ) -> Result<(), ShowError> {
        let (mut started, mut waiting) = self.wait();
        self.place.start(&piece.text).await?;
        loop {
            let wants_data = match self.place.next().await? {
                None => return Ok(()),
                Some(Answer::Rows(rows)) => {
                    self.view.show_rows(rows, started, waiting, &mut self.out).await?;
                    false
                }
                Some(Answer::Done(done)) => {
                    drop(waiting);
                    self.names.changed |= renames(&done);
                    self.view.show_done(&done, started.elapsed(), &mut self.out)?;
                    false
                }
                Some(Answer::Notice(notice)) => {
                    drop(waiting);
                    print_notice(&notice, &self.view, &mut self.out)?;
                    false
                }
                Some(Answer::CopyOut(data)) => {
                    drop(waiting);
                    copy::write(data, &mut self.out).await?;
                    false
                }
                Some(Answer::CopyIn) => {
                    drop(waiting);
                    true
                }
            };
            if wants_data {
                copy::send(&mut self.place, script, self.editor.as_mut()).await?;
            }
            (started, waiting) = self.wait();
        }
    }

    /// Starts the progress of a statement.
    fn wait(&self) -> (Instant, Option<Waiting>) {
        (Instant::now(), Waiting::begin(self.place.session(), &self.interrupts))
    }

    async fn run_command(&mut self, piece: &Piece, script: Option<&str>) -> anyhow::Result<Flow> {
        let result = match Command::parse(&piece.text) {
            Ok(command) => commands::run(self, command).await,
            Err(error) => Err(error),
        };
        for notice in self.place.take_notices() {
            print_notice(&notice, &self.view, &mut self.out)?;
        }
        match result {
            Ok(flow) => Ok(flow),
            Err(CommandError::Statement(error)) => {
                let error = self.place.recover(error).await;
                self.report(&error, Origin { script, text: "", line: piece.line })
            }
            Err(CommandError::Misused(message)) => Ok(self.complain(&message, script, piece.line)),
            Err(CommandError::Output(error)) => Err(error),
        }
    }

    /// Reports the error of a command.
    pub(super) fn complain(&self, message: &str, script: Option<&str>, line: usize) -> Flow {
        let place = script.map(|script| format!("{script}:{line}: "));
        eprintln!("{}{message}", place.unwrap_or_default());
        Flow::Failed
    }

    fn report(&mut self, error: &SqlError, origin: Origin<'_>) -> anyhow::Result<Flow> {
        self.out.flush()?;
        eprint!("{}", render(error, origin, self.view.terminal.width()));
        Ok(Flow::Failed)
    }
}

/// Prints a notice. It has no position in the script.
fn print_notice(notice: &SqlError, view: &View, out: &mut impl Write) -> io::Result<()> {
    out.flush()?;
    let origin = Origin { script: None, text: "", line: 0 };
    eprint!("{}", render(notice, origin, view.terminal.width()));
    Ok(())
}

/// Whether the names for completion may have changed.
fn renames(done: &Done) -> bool {
    RENAMING.iter().any(|command| done.command.starts_with(command))
}
