//! The texts of SQL in a source.

use plpgsql::tree::{Block, Declared, Kind, Level, Raise, Rows, Sql, Statement, Step};

/// A text of SQL, or what has none that is known before it is executed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Text<'a> {
    /// An expression.
    Expression(&'a str),
    /// A statement.
    Statement(&'a str),
    /// None: a message for the client.
    Said,
    /// EXECUTE, a cursor, CALL, COMMIT or ROLLBACK.
    Other,
}

/// Whether all texts of a block, in their order, are as wanted.
pub(crate) fn all_texts(block: &Block, is_wanted: &mut dyn FnMut(Text<'_>) -> bool) -> bool {
    Walk { is_wanted }.block(block)
}

struct Walk<'a> {
    is_wanted: &'a mut dyn FnMut(Text<'_>) -> bool,
}

impl Walk<'_> {
    fn block(&mut self, block: &Block) -> bool {
        let declared = block.declarations.iter().all(|declaration| match &declaration.kind {
            Declared::Variable { default, .. } => self.optional(default.as_ref()),
            Declared::Alias(_) => true,
            Declared::Cursor(_) => self.other(),
        });
        declared
            && self.all(&block.body)
            && block.handlers.iter().all(|handler| self.all(&handler.body))
    }

    fn all(&mut self, statements: &[Statement]) -> bool {
        statements.iter().all(|statement| self.kind(&statement.kind))
    }

    fn branches(
        &mut self,
        branches: &[(Sql, Vec<Statement>)],
        otherwise: Option<&[Statement]>,
    ) -> bool {
        branches.iter().all(|(condition, body)| self.expression(condition) && self.all(body))
            && otherwise.is_none_or(|body| self.all(body))
    }

    fn kind(&mut self, kind: &Kind) -> bool {
        match kind {
            Kind::Block(block) => self.block(block),
            Kind::Assign(_, value) => self.expression(value),
            Kind::AssignItem(_, steps, value) => {
                let all = steps.iter().all(|step| match step {
                    Step::Item(at) => self.expression(at),
                    Step::Slice(from, to) => {
                        self.optional(from.as_ref()) && self.optional(to.as_ref())
                    }
                    Step::Field(_) => true,
                });
                all && self.expression(value)
            }
            Kind::If(branches, otherwise) => self.branches(branches, Some(otherwise)),
            Kind::Case(operand, branches, otherwise) => {
                self.optional(operand.as_ref().map(|operand| &operand.value))
                    && self.branches(branches, otherwise.as_deref())
            }
            Kind::Loop(_, condition, body) => self.optional(condition.as_ref()) && self.all(body),
            Kind::ForRange(range) => {
                self.expression(&range.from)
                    && self.expression(&range.to)
                    && self.optional(range.by.as_ref())
                    && self.all(&range.body)
            }
            Kind::ForRows(_, _, rows, body) => self.rows(rows) && self.all(body),
            Kind::Foreach(looped) => self.expression(&looped.array) && self.all(&looped.body),
            Kind::Leave { when, .. } => self.optional(when.as_ref()),
            Kind::Return(value) | Kind::ReturnNext(value) => self.optional(value.as_ref()),
            Kind::ReturnQuery(rows) | Kind::Execute(rows, _) => self.rows(rows),
            Kind::Raise(raise) => self.raise(raise),
            Kind::Assert(condition, message) => {
                self.expression(condition) && self.optional(message.as_ref())
            }
            Kind::Perform(query) => self.statement(query),
            Kind::Open(_) | Kind::Fetch(_) | Kind::Close(_) | Kind::ForCursor(_) => self.other(),
            Kind::Call(..) | Kind::EndTransaction { .. } => self.other(),
            Kind::Diagnostics { .. } | Kind::Null => true,
        }
    }

    fn raise(&mut self, raise: &Raise) -> bool {
        let options = raise.options.iter().map(|(_, value)| value);
        let says = raise.level.is_some_and(|level| level != Level::Exception);
        raise.values.iter().chain(options).all(|value| self.expression(value))
            && (!says || (self.is_wanted)(Text::Said))
    }

    fn rows(&mut self, rows: &Rows) -> bool {
        match rows {
            Rows::Query(query) => self.statement(query),
            Rows::Dynamic(..) => self.other(),
        }
    }

    fn optional(&mut self, expression: Option<&Sql>) -> bool {
        expression.is_none_or(|expression| self.expression(expression))
    }

    fn expression(&mut self, expression: &Sql) -> bool {
        (self.is_wanted)(Text::Expression(&expression.text))
    }

    fn statement(&mut self, statement: &Sql) -> bool {
        (self.is_wanted)(Text::Statement(&statement.text))
    }

    fn other(&mut self) -> bool {
        (self.is_wanted)(Text::Other)
    }
}
