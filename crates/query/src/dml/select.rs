//! Queries that return the rows of an UPDATE or DELETE.

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, ObjectNamePart, Query, SelectItem, SetExpr, Statement, TableAlias,
    TableFactor, TableWithJoins,
};
use parser::names::fold;
use store::catalog::Table;
use values::error::{Error, Result};

/// The name of the target table inside the query. It differs from the names of all tables.
pub(crate) const TARGET: &str = "?target";

/// The target table of a statement: its name and its alias.
pub(crate) fn target_of(relation: &TableWithJoins) -> Result<(ObjectName, String)> {
    if !relation.joins.is_empty() {
        return Err(Error::unsupported(
            "a join as the target of UPDATE or DELETE is not supported",
        ));
    }
    match &relation.relation {
        TableFactor::Table { name, alias, .. } => {
            let alias = match alias {
                Some(alias) => fold(&alias.name),
                None => {
                    name.0.last().and_then(|part| part.as_ident()).map(fold).unwrap_or_default()
                }
            };
            Ok((name.clone(), alias))
        }
        other => Err(Error::unsupported(format!("UPDATE and DELETE of {other} are not supported"))),
    }
}

/// `SELECT items FROM target AS alias, others WHERE selection`.
pub(crate) fn query(
    items: Vec<SelectItem>,
    alias: &str,
    others: &[TableWithJoins],
    selection: Option<Expr>,
) -> Result<Query> {
    let Statement::Query(mut query) = parser::parse_sql("SELECT 1 FROM t")? else {
        unreachable!("a SELECT is a query");
    };
    let SetExpr::Select(select) = &mut *query.body else {
        unreachable!("its body is a SELECT");
    };
    select.projection = items;
    select.selection = selection;
    if let TableFactor::Table { name, alias: table_alias, .. } = &mut select.from[0].relation {
        *name = ObjectName(vec![ObjectNamePart::Identifier(quoted(TARGET))]);
        *table_alias =
            Some(TableAlias { explicit: true, name: quoted(alias), columns: Vec::new(), at: None });
    }
    select.from.extend(others.iter().cloned());
    Ok(*query)
}

/// All columns of the table, including hidden ones, as items of the query.
pub(crate) fn all_columns(table: &Table, alias: &str) -> Vec<SelectItem> {
    let item = |name: &str| {
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(vec![quoted(alias), quoted(name)]))
    };
    table.columns.iter().map(|column| item(&column.name)).collect()
}

/// A quoted identifier, which is not folded.
pub(crate) fn quoted(name: &str) -> Ident {
    Ident::with_quote('"', name)
}
