//! The SQL shell: runs statements and backslash commands, from scripts or a conversation.
//!
//! Statements go to a [`Place`]: a database in this process, or a server. A script is cut into pieces ([`splitter`]) as
//! it comes in and each is run ([`run`]) before the next is looked at, so that what follows an error is never run. In a
//! conversation ([`editor`]) an error ends only what was typed.

mod command;
mod completion;
mod copy;
mod describe;
mod editor;
mod help;
mod keywords;
mod lexer;
mod local;
mod names;
mod place;
mod remote;
mod report;
mod run;
mod script;
mod servers;
mod splitter;
mod table_report;

pub(crate) use local::Local;
pub(crate) use place::Place;
pub(crate) use remote::Remote;
pub(crate) use script::Source;

use crate::interrupt::Interrupts;
use crate::output::{Grid, View};
use bench::InProcess;
use editor::{Editor, Typed};
use names::Names;
use std::io::{self, Stdout};
use std::path::PathBuf;

/// Where statements go and how their answers are shown.
pub(crate) struct Shell {
    place: Place,
    view: View,
    interrupts: Interrupts,
    out: Stdout,
    /// Where COPY's data is typed, in a conversation.
    editor: Option<Editor>,
    /// What can be completed.
    names: Names,
    /// The servers of the cluster that the shell is in, where they are in this process.
    servers: Option<InProcess>,
}

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Well: go on.
    Continue,
    /// `\i`: go on with another script, and then here.
    Include(PathBuf),
    /// `\q`: leave.
    Quit,
    /// Badly: the error has been reported.
    Failed,
}

impl Shell {
    /// A shell on a place.
    pub(crate) fn new(place: Place, view: View) -> Self {
        let interrupts = Interrupts::listen(place.canceller());
        let (out, editor, names) = (io::stdout(), None, Names::unknown());
        Self { place, view, interrupts, out, editor, names, servers: None }
    }

    /// From now on `\\add` starts servers.
    pub(crate) fn show_servers(&mut self, servers: InProcess) {
        self.servers = Some(servers);
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

    /// Says goodbye to the place.
    pub(crate) async fn leave(mut self) {
        self.place.leave().await;
    }

    /// What is typed next; `None` at the end.
    async fn read(&mut self) -> anyhow::Result<Option<String>> {
        self.learn_names().await;
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
