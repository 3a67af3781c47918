//! The SQL shell: runs statements and backslash commands, from scripts or interactively.
//!
//! Statements run at a [`Place`]: a database in this process, or a server. A script is split into pieces ([`text`]) while it
//! is read. Each piece runs ([`run`]) before the next is read, and the first error ends the script. In an interactive
//! session ([`editing`]) an error ends only the current input.

mod commands;
mod copy;
mod editing;
mod place;
mod report;
mod run;
mod script;
mod text;

pub use place::{Local, Place, Remote};
pub use script::Source;

use crate::interrupt::Interrupts;
use crate::output::{Grid, View};
use editing::{Editor, Names, Typed};
use futures::future::BoxFuture;
use std::io::{self, Stdout};
use std::path::PathBuf;

/// Starts servers for `\\add`.
pub trait StartServer: Send {
    /// Starts one more server of the shell's cluster, and returns its name.
    fn start(&mut self) -> BoxFuture<'_, anyhow::Result<String>>;
}

/// A shell: the place of its statements, and the view of their answers.
pub struct Shell {
    place: Place,
    view: View,
    interrupts: Interrupts,
    out: Stdout,
    /// The line editor of an interactive session.
    editor: Option<Editor>,
    /// The names for completion.
    names: Names,
    /// What `\add` starts servers with; `None` if the shell cannot start any.
    servers: Option<Box<dyn StartServer>>,
}

/// How to continue after a script or a piece of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// Run the next piece.
    Continue,
    /// `\i`: run another script first.
    Include(PathBuf),
    /// `\q`: quit.
    Quit,
    /// Stop: an error has been reported.
    Failed,
}

impl Shell {
    /// Creates a shell. It listens for Ctrl-C.
    pub fn new(place: Place, view: View) -> Self {
        let interrupts = Interrupts::listen(place.canceller());
        let (out, editor, names) = (io::stdout(), None, Names::unknown());
        Self { place, view, interrupts, out, editor, names, servers: None }
    }

    /// Makes `\add` start servers.
    pub fn set_servers(&mut self, servers: Box<dyn StartServer>) {
        self.servers = Some(servers);
    }

    /// Sets the maximum number of shown rows of an answer; `None` for all.
    pub fn set_rows_shown_max(&mut self, rows: Option<usize>) {
        self.view.rows_shown_max = rows;
    }

    /// Sets whether durations are shown.
    pub fn set_timing(&mut self, is_shown: bool) {
        self.view.timing = is_shown;
    }

    /// Shows a grid.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn show_grid(&mut self, grid: &Grid) -> anyhow::Result<()> {
        Ok(self.view.write_columns(grid, &mut self.out)?)
    }

    /// Runs an interactive session until the user quits.
    ///
    /// # Errors
    /// If the terminal fails. Errors of statements are shown to the user.
    pub async fn converse(&mut self) -> anyhow::Result<()> {
        self.interrupts.converse();
        self.place.converse();
        self.view.timing = true;
        self.editor = Some(Editor::new()?);
        while let Some(text) = self.read().await? {
            if self.run_script(Source::typed(&text)).await? == Flow::Quit {
                break;
            }
        }
        Ok(())
    }

    /// Closes the connection of the place.
    pub async fn leave(mut self) {
        self.place.close().await;
    }

    /// The next input; `None` at the end.
    async fn read(&mut self) -> anyhow::Result<Option<String>> {
        self.refresh_names().await;
        let prompt = self.place.prompt().await;
        let Some(editor) = &mut self.editor else { return Ok(None) };
        loop {
            match editor.read(&prompt)? {
                Typed::Text(text) => return Ok(Some(text)),
                Typed::Nothing => {}
                Typed::End => return Ok(None),
            }
        }
    }
}
