//! `SELECT ... INTO t`: another way to write `CREATE TABLE t AS SELECT ...`.

use datafusion::sql::sqlparser::ast::helpers::stmt_create_table::CreateTableBuilder;
use datafusion::sql::sqlparser::ast::{SelectInto, SetExpr, Statement};

/// The CREATE TABLE that a query with INTO means; anything else as it is.
pub(crate) fn rewrite(mut statement: Statement) -> Statement {
    let Statement::Query(query) = &mut statement else { return statement };
    let Some(SelectInto { temporary, name, .. }) = first_select(&mut query.body) else {
        return statement;
    };
    let Statement::Query(query) = statement else { unreachable!("it is a query") };
    CreateTableBuilder::new(name).temporary(temporary).query(Some(query)).build().into()
}

/// Takes INTO out of the first SELECT, where alone it may stand.
fn first_select(body: &mut SetExpr) -> Option<SelectInto> {
    match body {
        SetExpr::Select(select) => select.into.take(),
        SetExpr::SetOperation { left, .. } => first_select(left),
        _ => None,
    }
}
