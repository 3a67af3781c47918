//! Names of columns in a query of one table.

use datafusion::sql::sqlparser::ast::{Expr, Ident};
use parser::names::fold;
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
    pub(crate) fn column(&self, expression: &Expr) -> Option<usize> {
        let name = match expression {
            Expr::Identifier(name) => name,
            Expr::CompoundIdentifier(parts) => match &parts[..] {
                [qualifier, name] if self.is(qualifier) => name,
                _ => return None,
            },
            _ => return None,
        };
        let (index, column) = self.table.column(&fold(name))?;
        (!column.hidden).then_some(index)
    }

    /// Whether a qualifier stands for the table.
    pub(crate) fn is(&self, qualifier: &Ident) -> bool {
        fold(qualifier) == self.called
    }
}
