//! Runs golden scripts in the format of the crate `goldenscript`.
//!
//! `> STATEMENT` is an SQL statement, `!> STATEMENT` one that fails. What they are answered with follows `---`;
//! `ok` stands for no output. `UPDATE_GOLDENFILES=1 cargo test` rewrites the output; review the difference.

#![allow(dead_code, reason = "each test uses what it needs")]

use goldenscript::{Command, Context, Runner};
use query::Session;
use std::error::Error;
use std::path::PathBuf;
use tokio::runtime::{Builder, Runtime};

/// Runs every `.txt` file of a folder, each with a runner of its own.
pub(crate) fn run_all<R: Runner>(folder: &str, runner: impl Fn() -> R) {
    let entries = std::fs::read_dir(folder).expect("the folder of scripts");
    let paths = entries.map(|entry| entry.expect("a file").path());
    let mut scripts: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "txt")).collect();
    scripts.sort();
    assert!(!scripts.is_empty(), "there are no scripts in {folder}");
    for script in scripts {
        goldenscript::run(&mut runner(), &script)
            .unwrap_or_else(|error| panic!("{}: {error}", script.display()));
    }
}

/// The SQL of `> STATEMENT`.
pub(crate) fn sql(command: &Command) -> Result<&str, Box<dyn Error>> {
    command.consume_args().reject_next()?;
    Ok(&command.name)
}

/// Runs statements in one session; `answer` makes the output of a statement.
pub(crate) struct InSession<A> {
    session: Session,
    answer: A,
    runtime: Runtime,
}

impl<A> InSession<A> {
    pub(crate) fn new(open: impl AsyncFn() -> Session, answer: A) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { session: runtime.block_on(open()), answer, runtime }
    }
}

impl<A, E> Runner for InSession<A>
where
    A: AsyncFn(&Session, &str, &Context) -> Result<String, E>,
    E: Into<Box<dyn Error>>,
{
    type Command = Command;

    fn run(&mut self, command: &Command, context: &Context) -> Result<String, Box<dyn Error>> {
        let answer = (self.answer)(&self.session, sql(command)?, context);
        self.runtime.block_on(answer).map_err(Into::into)
    }
}
