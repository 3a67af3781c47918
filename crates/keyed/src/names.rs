//! Names of columns in a query of one table.

use grammar::tree::{Node, NodeEnum};
use store::catalog::Table;

/// A table, as a query calls it.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    /// The table.
    pub(crate) table: &'a Table,
    /// The name before the points of its columns' names.
    pub(crate) called: &'a str,
}

impl<'a> Named<'a> {
    /// A table that is called by its own name.
    pub(crate) fn itself(table: &'a Table) -> Self {
        Self { table, called: &table.name }
    }

    /// The table's column that an expression names; `None` for other expressions, and for names of
    /// nothing.
    pub(crate) fn column(&self, expression: &NodeEnum) -> Option<usize> {
        let NodeEnum::ColumnRef(reference) = expression else { return None };
        let name = match &reference.fields[..] {
            [name] => text(name)?,
            [qualifier, name] if text(qualifier)? == self.called => text(name)?,
            _ => return None,
        };
        let (index, column) = self.table.column(name)?;
        (!column.hidden).then_some(index)
    }
}

/// Whether an expression is a column of a table, which is called by a name.
pub fn is_column(table: &Table, called: &str, expression: &NodeEnum, column: usize) -> bool {
    Named { table, called }.column(expression) == Some(column)
}

/// The part of a name; `None` for `*`.
pub(crate) fn text(node: &Node) -> Option<&str> {
    match &node.node {
        Some(NodeEnum::String(name)) => Some(&name.sval),
        _ => None,
    }
}

/// A name without a schema, such as that of an operator.
pub(crate) fn bare(name: &[Node]) -> Option<&str> {
    match name {
        [name] => text(name),
        _ => None,
    }
}

/// The expression of a definition, from its text.
pub(crate) fn expression_of(text: &str) -> Option<NodeEnum> {
    let parsed = grammar::parse(&format!("SELECT {text}")).ok()?;
    let statement = parsed.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    let Some(NodeEnum::SelectStmt(select)) = statement else { return None };
    let [Node { node: Some(NodeEnum::ResTarget(target)) }] = &select.target_list[..] else {
        return None;
    };
    target.val.as_deref()?.node.clone()
}
