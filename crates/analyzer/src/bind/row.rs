//! Expressions of a table's definition: CHECK conditions, generated columns and new values of a column over one of its
//! rows, and defaults.

use super::scope::{Clause, Scope};
use super::{Binder, Catalog, Table, from};
use crate::error::{Error, Result};
use crate::system::SqlType;
use crate::system::casts::CastContext;
use crate::tree::{Expr, RelationId};
use grammar::tree::{Node, NodeEnum};

/// An expression of a table's definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowExpression<'a> {
    /// The condition of a CHECK.
    Check(&'a str),
    /// The value of a generated column, with the position of the column.
    Generated(&'a str, usize),
    /// The default of a column, with the position of the column. It refers to no column.
    Default(&'a str, usize),
    /// The value of a column whose type becomes another, with the position of the column.
    Altered(&'a str, usize, SqlType),
    /// A part of an index's key.
    IndexKey(&'a str),
    /// The condition of a partial index.
    IndexPredicate(&'a str),
    /// The condition of COPY FROM, for the rows that are copied.
    Copied(&'a str),
}

/// Binds expressions of a table's definition. They refer to the table's columns as to those of a relation, whose number
/// is returned. Errors have no positions: the expressions are not the statement's text.
///
/// # Errors
/// What PostgreSQL refuses, and what [`Error::missing`] names.
pub fn bind_row(
    catalog: &dyn Catalog,
    table: &Table,
    expressions: &[RowExpression<'_>],
) -> Result<(RelationId, Vec<Expr>)> {
    let mut binder = Binder::new(catalog, &[]);
    let relation = binder.row_of(table)?;
    let bound = expressions.iter().map(|expression| binder.row_expression(table, *expression));
    let bound = bound.collect::<Result<Vec<_>>>();
    Ok((relation, bound.map_err(|error| Error { position: None, ..error })?))
}

/// Binds new values of columns, as those of a SET, over one row of a table. Returns, too, the number of the relation.
///
/// # Errors
/// As of [`bind_row`].
pub fn bind_assigned(
    catalog: &dyn Catalog,
    table: &Table,
    assigned: &[(usize, &NodeEnum)],
) -> Result<(RelationId, Vec<Expr>)> {
    let mut binder = Binder::new(catalog, &[]);
    let relation = binder.row_of(table)?;
    let bound = assigned.iter().map(|(column, value)| {
        let value = binder.in_clause(Clause::Update, |binder| binder.expression(value))?;
        let to = SqlType::plain(table.columns[*column].sql_type.oid);
        let value = binder.coerce(value, to, CastContext::Assignment)?;
        value.ok_or_else(|| Error::missing("this conversion"))
    });
    Ok((relation, bound.collect::<Result<_>>()?))
}

/// Binds the keys and the condition of an ON CONFLICT target as those of an index, so that both can be compared.
pub(super) fn bind_inferred(
    catalog: &dyn Catalog,
    table: &Table,
    keys: &[&Node],
    condition: Option<&Node>,
) -> Result<(Vec<Expr>, Option<Expr>)> {
    let mut binder = Binder::new(catalog, &[]);
    binder.row_of(table)?;
    let mut bound = |clause, node: &Node| {
        binder.in_clause(clause, |binder: &mut Binder<'_>| binder.required(Some(node)))
    };
    let keys = keys.iter().map(|key| bound(Clause::IndexExpression, key)).collect::<Result<_>>()?;
    let condition = condition.map(|condition| bound(Clause::IndexPredicate, condition));
    Ok((keys, condition.transpose()?))
}

impl Binder<'_> {
    /// Opens a level whose only relation is a table.
    fn row_of(&mut self, table: &Table) -> Result<RelationId> {
        let select = self.next_select();
        self.scopes.push(Scope::new(select));
        let relation = self.next_relation();
        self.note_rows_of(relation, table);
        let part = from::part_of(relation, &table.name, table.schema.as_deref(), table);
        self.add_items(part.items, true)?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.items.iter_mut().for_each(|item| item.is_lateral_only = false);
        }
        Ok(relation)
    }

    fn row_expression(&mut self, table: &Table, expression: RowExpression<'_>) -> Result<Expr> {
        match expression {
            RowExpression::Check(text) => self.in_clause(Clause::Check, |binder| {
                let condition = binder.default_argument(text)?;
                binder.coerce_to_bool(condition, "CHECK")
            }),
            RowExpression::Generated(text, at) => {
                let to = table.columns[at].sql_type;
                self.in_clause(Clause::Generated, |binder| binder.value_of(table, text, at, to))
            }
            RowExpression::Default(text, at) => {
                let to = table.columns[at].sql_type;
                self.in_clause(Clause::Default, |binder| binder.value_of(table, text, at, to))
            }
            RowExpression::Altered(text, at, to) => {
                self.in_clause(Clause::Transform, |binder| binder.value_of(table, text, at, to))
            }
            RowExpression::IndexKey(text) => {
                self.in_clause(Clause::IndexExpression, |binder| binder.default_argument(text))
            }
            RowExpression::IndexPredicate(text) => self.where_of(Clause::IndexPredicate, text),
            RowExpression::Copied(text) => self.where_of(Clause::CopyWhere, text),
        }
    }

    /// A condition of WHERE.
    fn where_of(&mut self, clause: Clause, text: &str) -> Result<Expr> {
        let condition = self.in_clause(clause, |binder| binder.default_argument(text))?;
        self.coerce_to_bool(condition, "WHERE")
    }

    /// A value as it is assigned to a column of a type.
    fn value_of(&mut self, table: &Table, text: &str, at: usize, to: SqlType) -> Result<Expr> {
        let value = self.default_argument(text)?;
        let is_altered = self.scopes.last().is_some_and(|scope| scope.clause == Clause::Transform);
        let name = table.columns.get(at).map_or("?", |column| column.name.as_str());
        let from = value.sql_type.oid;
        let to = SqlType::plain(to.oid);
        self.coerce(value, to, CastContext::Assignment)?.ok_or_else(|| {
            let to = to.oid;
            if is_altered {
                let message = format!(
                    "result of USING clause for column \"{name}\" cannot be cast automatically to type {to}"
                );
                return Error::new("42804", message).hint("You might need to add an explicit cast.");
            }
            let message = format!(
                "column \"{name}\" is of type {to} but default expression is of type {from}"
            );
            Error::new("42804", message).hint("You will need to rewrite or cast the expression.")
        })
    }
}
