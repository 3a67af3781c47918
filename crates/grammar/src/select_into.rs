//! `SELECT ... INTO t` as `CREATE TABLE t AS SELECT ...`, which PostgreSQL's analysis makes of it.

use crate::tree::{CreateTableAsStmt, IntoClause, Node, NodeEnum, ObjectType, SelectStmt};

/// Turns a query with INTO into CREATE TABLE AS. Other statements stay as they are.
pub(crate) fn rewrite(statement: &mut NodeEnum) {
    let NodeEnum::SelectStmt(select) = statement else { return };
    let Some(into) = take_into(select) else { return };
    let query = NodeEnum::SelectStmt(std::mem::take(select));
    let create = CreateTableAsStmt {
        query: Some(Box::new(Node { node: Some(query) })),
        into: Some(into),
        objtype: ObjectType::ObjectTable.into(),
        is_select_into: true,
        if_not_exists: false,
    };
    *statement = NodeEnum::CreateTableAsStmt(Box::new(create));
}

/// INTO of the first SELECT, the only one that may have it.
fn take_into(mut select: &mut SelectStmt) -> Option<Box<IntoClause>> {
    while let Some(first) = select.larg.as_deref_mut() {
        select = first;
    }
    select.into_clause.take()
}
