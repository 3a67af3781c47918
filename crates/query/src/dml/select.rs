//! Queries of all rows of a table, for the engine's own SQL planner.

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, ObjectNamePart, Query, SelectItem, SetExpr, Statement, TableAlias,
    TableFactor,
};
use store::catalog::Table;
use values::error::Result;

/// The name of the target table inside the query. It differs from the names of all tables.
pub(crate) const TARGET: &str = "?target";

/// `SELECT items FROM target AS alias`.
pub(crate) fn query(items: Vec<SelectItem>, alias: &str) -> Result<Query> {
    let Statement::Query(mut query) = parser::parse_sql("SELECT 1 FROM t")? else {
        unreachable!("a SELECT is a query");
    };
    let SetExpr::Select(select) = &mut *query.body else {
        unreachable!("its body is a SELECT");
    };
    select.projection = items;
    if let TableFactor::Table { name, alias: table_alias, .. } = &mut select.from[0].relation {
        *name = ObjectName(vec![ObjectNamePart::Identifier(quoted(TARGET))]);
        *table_alias =
            Some(TableAlias { explicit: true, name: quoted(alias), columns: Vec::new(), at: None });
    }
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
