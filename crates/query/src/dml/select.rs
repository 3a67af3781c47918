//! Queries made from the parts of UPDATE and DELETE.

use crate::parser::names::fold;
use crate::values::error::{Error, Result};
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, ObjectNamePart, Query, SelectItem, SetExpr, Statement, TableAlias,
    TableFactor, TableWithJoins,
};
use store::catalog::Table;

/// What the statement's target is called inside the query: no table has such a name.
pub(crate) const TARGET: &str = "?target";

/// The statement's target: its name, and what the statement calls it.
pub(crate) fn target_of(relation: &TableWithJoins) -> Result<(ObjectName, String)> {
    if !relation.joins.is_empty() {
        return Err(Error::unsupported(
            "a join as the target of UPDATE or DELETE is not supported",
        ));
    }
    match &relation.relation {
        TableFactor::Table { name, alias, .. } => {
            let called = match alias {
                Some(alias) => fold(&alias.name),
                None => {
                    name.0.last().and_then(|part| part.as_ident()).map(fold).unwrap_or_default()
                }
            };
            Ok((name.clone(), called))
        }
        other => Err(Error::unsupported(format!("{other} cannot be changed"))),
    }
}

/// `SELECT items FROM target AS called, others WHERE selection`.
pub(crate) fn query(
    items: Vec<SelectItem>,
    called: &str,
    others: &[TableWithJoins],
    selection: Option<Expr>,
) -> Result<Query> {
    let Statement::Query(mut query) = crate::parser::parse_sql("SELECT 1 FROM t")? else {
        unreachable!("a SELECT is a query");
    };
    let SetExpr::Select(select) = &mut *query.body else {
        unreachable!("its body is a SELECT");
    };
    select.projection = items;
    select.selection = selection;
    if let TableFactor::Table { name, alias, .. } = &mut select.from[0].relation {
        *name = ObjectName(vec![ObjectNamePart::Identifier(quoted(TARGET))]);
        *alias = Some(TableAlias {
            explicit: true,
            name: quoted(called),
            columns: Vec::new(),
            at: None,
        });
    }
    select.from.extend(others.iter().cloned());
    Ok(*query)
}

/// Every column of the table, hidden ones too, as items of the query.
pub(crate) fn all_columns(table: &Table, called: &str) -> Vec<SelectItem> {
    let item = |name: &str| {
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(vec![quoted(called), quoted(name)]))
    };
    table.columns.iter().map(|column| item(&column.name)).collect()
}

/// A name as it is.
pub(crate) fn quoted(name: &str) -> Ident {
    Ident::with_quote('"', name)
}
