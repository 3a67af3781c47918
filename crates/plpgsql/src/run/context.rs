//! Where in a function an error has come up, as its context says it.

use super::Machine;
use super::host::Host;
use crate::tree::Statement;
use values::error::{Error, Result};

/// A function that is called, as labels and errors name it.
#[derive(Debug, Clone, Copy)]
pub struct Called<'a> {
    /// The name.
    pub name: &'a str,
    /// The name with the types of the parameters: `f(integer,text)`.
    pub signature: &'a str,
}

/// The statement that has failed, the innermost of all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    line: usize,
    what: &'static str,
}

impl<H: Host> Machine<'_, H> {
    /// Notes where a statement fails, unless one within it did.
    pub(super) fn noted<T>(&mut self, done: Result<T>, statement: &Statement) -> Result<T> {
        let (line, kind) = (statement.line, &statement.kind);
        done.inspect_err(|_| {
            self.failed.get_or_insert_with(|| Place { line, what: kind.name() });
        })
    }

    /// As [`Self::noted`], for the first value of a variable.
    pub(super) fn noted_at<T>(&mut self, done: Result<T>, line: usize) -> Result<T> {
        done.inspect_err(|_| {
            let what = "statement block local variable initialization";
            self.failed.get_or_insert(Place { line, what });
        })
    }

    /// An error with its place in the function. One that is raised again has it already.
    pub(super) fn located(&mut self, error: Error) -> Error {
        let failed = self.failed.take();
        if std::mem::take(&mut self.raises_again) {
            return error;
        }
        let place = match failed {
            Some(Place { line, what }) if what.starts_with("statement block local") => {
                format!(" line {line} during {what}")
            }
            Some(Place { line, what }) => format!(" line {line} at {what}"),
            None => String::new(),
        };
        error.within(format_args!("PL/pgSQL function {}{place}", self.signature))
    }
}

/// An error of a statement of SQL.
pub(super) fn of_sql(text: &str) -> impl FnOnce(Error) -> Error {
    move |error| error.within(format_args!("SQL statement \"{text}\""))
}
