//! The syntax of the expressions and statements in a source.

use super::{Checker, Lookup};
use crate::tree::{Count, Direction, Kind, Opened, Rows, Sql, Step};
use values::error::{Error, Result};

impl<L: Lookup> Checker<'_, L> {
    /// Checks an expression.
    pub(super) fn expression(&self, sql: &Sql) -> Result<()> {
        let before = "SELECT ";
        let checked = self.lookup.syntax(&format!("{before}{}", sql.text));
        checked.map_err(|error| placed(error, sql.position, before.len()))
    }

    /// Checks a statement.
    pub(super) fn statement_text(&self, sql: &Sql) -> Result<()> {
        self.lookup.syntax(&sql.text).map_err(|error| placed(error, sql.position, 0))
    }

    fn expressions<'s>(&self, all: impl IntoIterator<Item = &'s Sql>) -> Result<()> {
        all.into_iter().try_for_each(|sql| self.expression(sql))
    }

    fn rows(&self, rows: &Rows) -> Result<()> {
        match rows {
            Rows::Query(sql) => self.statement_text(sql),
            Rows::Dynamic(text, values) => self.expressions([text].into_iter().chain(values)),
        }
    }

    /// Checks the texts of a statement, without those of the statements in it.
    pub(super) fn texts(&self, kind: &Kind) -> Result<()> {
        match kind {
            Kind::Assign(_, value) => self.expression(value),
            Kind::AssignItem(_, steps, value) => {
                for step in steps {
                    match step {
                        Step::Item(at) => self.expression(at)?,
                        Step::Slice(from, to) => self.expressions(from.iter().chain(to))?,
                        Step::Field(_) => {}
                    }
                }
                self.expression(value)
            }
            Kind::If(branches, _) => self.expressions(branches.iter().map(|(sql, _)| sql)),
            // A comparison with an operand is no text of the source.
            Kind::Case(operand, branches, _) => {
                self.expressions(operand.iter().map(|operand| &operand.value))?;
                branches.iter().try_for_each(|(condition, _)| {
                    self.expression(condition).map_err(Error::without_position)
                })
            }
            Kind::Loop(_, condition, _) => self.expressions(condition),
            Kind::ForRange(range) => {
                self.expressions([&range.from, &range.to].into_iter().chain(&range.by))
            }
            Kind::ForRows(_, _, rows, _) | Kind::ReturnQuery(rows) | Kind::Execute(rows, _) => {
                self.rows(rows)
            }
            Kind::ForCursor(looped) => {
                self.expressions(looped.arguments.iter().map(|argument| &argument.value))
            }
            Kind::Open(open) => match &open.of {
                Opened::Bound(arguments) => {
                    self.expressions(arguments.iter().map(|argument| &argument.value))
                }
                Opened::Rows(rows) => self.rows(rows),
            },
            Kind::Fetch(fetch) => match &fetch.direction {
                Direction::Forward(Count::Of(sql))
                | Direction::Backward(Count::Of(sql))
                | Direction::Absolute(sql)
                | Direction::Relative(sql) => self.expression(sql),
                _ => Ok(()),
            },
            Kind::Foreach(looped) => self.expression(&looped.array),
            Kind::Leave { when, .. } => self.expressions(when),
            Kind::Return(value) | Kind::ReturnNext(value) => self.expressions(value),
            Kind::Raise(raise) => {
                self.expressions(raise.values.iter().chain(raise.options.iter().map(|(_, of)| of)))
            }
            Kind::Assert(condition, message) => {
                self.expressions([condition].into_iter().chain(message))
            }
            // Its text begins with SELECT in the place of PERFORM.
            Kind::Perform(sql) => {
                let checked = self.lookup.syntax(&sql.text);
                checked.map_err(|error| placed(error, sql.position, "SELECT ".len()))
            }
            Kind::Call(sql, _) => self.statement_text(sql),
            Kind::Block(_)
            | Kind::Close(_)
            | Kind::EndTransaction { .. }
            | Kind::Diagnostics { .. }
            | Kind::Null => Ok(()),
        }
    }
}

/// An error in a text of the source, before which some characters have been added.
fn placed(error: Error, position: usize, added: usize) -> Error {
    match error.position() {
        Some(at) => error.at((position + at).saturating_sub(1 + added)),
        None => error,
    }
}
