//! Where in a function an error has come up, as its context says it.

use super::Machine;
use super::host::Host;
use super::scope::{no_field, unassigned};
use crate::parse::fields_of;
use crate::tree::{Sql, Statement};
use values::error::{Error, Result, SqlState};

/// A function that is called, as labels and errors name it.
#[derive(Debug, Clone, Copy)]
pub struct Called<'a> {
    /// The name.
    pub name: &'a str,
    /// The name with the types of the parameters: `f(integer,text)`.
    pub signature: &'a str,
    /// The id; 0 of a DO block.
    pub id: i64,
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

    /// An error of an expression. PostgreSQL shows the text if it executes the expression as a query, or computes it when it plans
    /// it; not for an error in the text itself.
    pub(super) fn of_expression(&self, sql: &Sql, error: Error) -> Error {
        let is_query = sql.names.iter().any(|name| name == "select");
        let is_planned = || {
            error.context().is_none()
                && self.scopes.variables(sql).is_empty()
                && self.host.is_folded(sql)
        };
        if error.position().is_some() || !is_query && !is_planned() {
            return error.without_position();
        }
        in_text(sql, error)
    }

    /// As [`Self::of_expression`]. A name that is that of a record, and of no table, means a field that the record does not
    /// have.
    pub(super) fn of_fields(&self, sql: &Sql, error: Error) -> Error {
        let is_missing = |name: &&String| {
            error.message() == format!("missing FROM-clause entry for table \"{name}\"")
        };
        let record = match error.state() {
            SqlState::UndefinedTable => sql.names.iter().find(is_missing),
            _ => None,
        };
        let Some(name) = record else { return self.of_expression(sql, error) };
        let refused = match self.scopes.row_named(name) {
            None => return self.of_expression(sql, error),
            Some(None) => Some(unassigned(name)),
            Some(Some(fields)) => {
                let is_unknown = |field: &String| fields.iter().all(|(known, _)| known != field);
                let unknown = fields_of(&sql.text, name).into_iter().find(is_unknown);
                unknown.map(|field| no_field(name, &field))
            }
        };
        match refused {
            Some(refused) => in_text(sql, refused),
            None => self.of_expression(sql, error),
        }
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

/// An error of an expression that PostgreSQL shows.
pub(super) fn in_text(sql: &Sql, error: Error) -> Error {
    match &sql.assignment {
        Some(text) => error.within(format_args!("PL/pgSQL assignment \"{text}\"")),
        None => error.within(format_args!("SQL expression \"{}\"", sql.text)),
    }
}

/// An error of a statement of SQL.
pub(super) fn of_sql(text: &str) -> impl FnOnce(Error) -> Error {
    move |error| error.within(format_args!("SQL statement \"{text}\""))
}
