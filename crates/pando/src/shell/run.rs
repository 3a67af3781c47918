//! Running a piece of a script: its statements at the place, or a backslash command here.

use super::command::{self, Command, CommandError};
use super::place::Answer;
use super::report::{Origin, render};
use super::script::Script;
use super::splitter::{Piece, PieceKind};
use super::{Flow, Shell, copy};
use crate::output::{Done, ShowError, View};
use crate::trouble::SqlError;
use crate::waiting::Waiting;
use std::io::{self, Write};
use std::time::Instant;

/// Commands after which there are other names.
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
        match interrupts.interrupted() && flow == Flow::Continue {
            true => Ok(Flow::Failed),
            false => Ok(flow),
        }
    }

    /// A piece holds one statement, unless others see it otherwise than the splitter.
    async fn run_statements(
        &mut self,
        piece: &Piece,
        script: &mut Script<'_>,
    ) -> anyhow::Result<Flow> {
        match self.show_answers(piece, script).await {
            Ok(()) => Ok(Flow::Continue),
            Err(ShowError::Output(error)) => Err(error.into()),
            Err(ShowError::Statement(trouble)) => {
                let trouble = self.place.recover(trouble).await;
                let origin = Origin { script: script.name(), text: &piece.text, line: piece.line };
                self.report(&trouble, origin)
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
                    tell(&notice, &self.view, &mut self.out)?;
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

    /// Something begins that a person may have to wait for.
    fn wait(&self) -> (Instant, Option<Waiting>) {
        (Instant::now(), Waiting::begin(self.place.session(), &self.interrupts))
    }

    async fn run_command(&mut self, piece: &Piece, script: Option<&str>) -> anyhow::Result<Flow> {
        let result = match Command::parse(&piece.text) {
            Ok(command) => command::run(self, command).await,
            Err(error) => Err(error),
        };
        for notice in self.place.take_notices() {
            tell(&notice, &self.view, &mut self.out)?;
        }
        match result {
            Ok(flow) => Ok(flow),
            Err(CommandError::Statement(trouble)) => {
                let trouble = self.place.recover(trouble).await;
                self.report(&trouble, Origin { script, text: "", line: piece.line })
            }
            Err(CommandError::Misused(message)) => Ok(self.complain(&message, script, piece.line)),
            Err(CommandError::Output(error)) => Err(error),
        }
    }

    /// Says what was wrong with a command.
    pub(super) fn complain(&self, message: &str, script: Option<&str>, line: usize) -> Flow {
        let place = script.map(|script| format!("{script}:{line}: "));
        eprintln!("{}{message}", place.unwrap_or_default());
        Flow::Failed
    }

    fn report(&mut self, trouble: &SqlError, origin: Origin<'_>) -> anyhow::Result<Flow> {
        self.out.flush()?;
        eprint!("{}", render(trouble, origin, self.view.terminal.width()));
        Ok(Flow::Failed)
    }
}

/// Tells a notice. It has no place in a script: the statement went on.
fn tell(notice: &SqlError, view: &View, out: &mut impl Write) -> io::Result<()> {
    out.flush()?;
    let origin = Origin { script: None, text: "", line: 0 };
    eprint!("{}", render(notice, origin, view.terminal.width()));
    Ok(())
}

/// Whether other names can be completed now.
fn renames(done: &Done) -> bool {
    RENAMING.iter().any(|command| done.command.starts_with(command))
}
