//! Whether a function only computes: it neither reads tables nor changes anything but itself.

use crate::script::statements;
use grammar::tree::{NodeEnum, NodeRef};
use plpgsql::tree::{Block, Declared, Kind, Raise, Rows, Sql, Statement, Subscript};
use std::collections::HashSet;
use store::catalog::{Catalog, Function, RelationId};

/// Whether a function and all that it calls only compute.
pub(crate) fn only_computes(catalog: &Catalog, function: &Function) -> bool {
    Search { catalog, seen: HashSet::new() }.function(function)
}

/// Whether a statement, or a function that it calls, reads a table or changes anything.
pub fn reads_tables(catalog: &Catalog, statement: &parser::Statement) -> bool {
    let mut search = Search { catalog, seen: HashSet::new() };
    statement.query().is_some_and(|query| !search.query(query))
}

struct Search<'a> {
    catalog: &'a Catalog,
    /// The functions that are known or being looked at.
    seen: HashSet<RelationId>,
}

impl Search<'_> {
    fn function(&mut self, function: &Function) -> bool {
        if !self.seen.insert(function.id) {
            return true;
        }
        match function.language.as_str() {
            "sql" => statements(&function.body)
                .is_ok_and(|all| all.iter().all(|statement| self.statement(&statement.text))),
            _ => plpgsql::parse(&function.body).is_ok_and(|block| self.block(&block)),
        }
    }

    fn block(&mut self, block: &Block) -> bool {
        let declared = block.declarations.iter().all(|declaration| match &declaration.kind {
            Declared::Variable { default, .. } => self.optional(default.as_ref()),
            Declared::Alias(_) => true,
            Declared::Cursor(_) => false,
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
            Kind::AssignItem(_, subscripts, value) => {
                let all = subscripts.iter().all(|subscript| match subscript {
                    Subscript::Item(at) => self.expression(at),
                    Subscript::Slice(from, to) => {
                        self.optional(from.as_ref()) && self.optional(to.as_ref())
                    }
                });
                all && self.expression(value)
            }
            Kind::If(branches, otherwise) => self.branches(branches, Some(otherwise)),
            Kind::Case(branches, otherwise) => self.branches(branches, otherwise.as_deref()),
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
            Kind::Perform(query) => self.statement(&query.text),
            // Cursors are the session's.
            Kind::Open(_) | Kind::Fetch(_) | Kind::Close(_) | Kind::ForCursor(_) => false,
            Kind::Call(..) | Kind::EndTransaction { .. } => false,
            Kind::Diagnostics { .. } | Kind::Null => true,
        }
    }

    fn raise(&mut self, raise: &Raise) -> bool {
        let options = raise.options.iter().map(|(_, value)| value);
        raise.values.iter().chain(options).all(|value| self.expression(value))
    }

    fn rows(&mut self, rows: &Rows) -> bool {
        match rows {
            Rows::Query(query) => self.statement(&query.text),
            Rows::Dynamic(..) => false,
        }
    }

    fn optional(&mut self, expression: Option<&Sql>) -> bool {
        expression.is_none_or(|expression| self.expression(expression))
    }

    fn expression(&mut self, expression: &Sql) -> bool {
        self.statement(&format!("SELECT {}", expression.text))
    }

    fn statement(&mut self, text: &str) -> bool {
        let Ok(script) = grammar::parse(text) else { return false };
        script.statements().iter().all(|raw| {
            let node = raw.stmt.as_ref().and_then(|node| node.node.as_ref());
            match node {
                Some(query @ NodeEnum::SelectStmt(_)) => self.query(query),
                _ => false,
            }
        })
    }

    fn query(&mut self, query: &NodeEnum) -> bool {
        query.nodes().into_iter().all(|(node, ..)| match node {
            NodeRef::RangeVar(_) | NodeRef::InsertStmt(_) | NodeRef::UpdateStmt(_) => false,
            NodeRef::DeleteStmt(_) | NodeRef::MergeStmt(_) => false,
            NodeRef::FuncCall(call) => {
                let name = call.funcname.last().and_then(|part| part.node.as_ref());
                match name {
                    Some(NodeEnum::String(name)) => self.named(&name.sval),
                    _ => false,
                }
            }
            _ => true,
        })
    }

    /// Whether all functions of a name only compute.
    fn named(&mut self, name: &str) -> bool {
        let catalog = self.catalog;
        let mut named = catalog.functions().filter(|function| function.name == name);
        named.all(|function| self.function(function))
    }
}
