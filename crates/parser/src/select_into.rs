//! Rewrites `SELECT ... INTO t` to `CREATE TABLE t AS SELECT ...`.

use datafusion::sql::sqlparser::ast::helpers::stmt_create_table::CreateTableBuilder;
use datafusion::sql::sqlparser::ast::{SelectInto, SetExpr, Statement};

/// Turns a query with INTO into CREATE TABLE AS. Returns any other statement unchanged.
pub(super) fn rewrite(mut statement: Statement) -> Statement {
    let Statement::Query(query) = &mut statement else { return statement };
    let Some(SelectInto { temporary, name, .. }) = first_select(&mut query.body) else {
        return statement;
    };
    let Statement::Query(query) = statement else { unreachable!("it is a query") };
    CreateTableBuilder::new(name).temporary(temporary).query(Some(query)).build().into()
}

/// Removes INTO from the first SELECT, the only one that may have it.
fn first_select(body: &mut SetExpr) -> Option<SelectInto> {
    match body {
        SetExpr::Select(select) => select.into.take(),
        SetExpr::SetOperation { left, .. } => first_select(left),
        _ => None,
    }
}
