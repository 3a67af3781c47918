//! Whether a statement writes to a temporary table only.

use crate::context::Frame;
use catalog_views::relation_names::find;
use datafusion::sql::sqlparser::ast::{
    FromTable, ObjectName, Statement, TableFactor, TableObject, TableWithJoins,
};
use store::catalog::{Catalog, Relation};

/// Whether a statement changes rows of a temporary table only. Read-only transactions allow that.
pub(super) fn is_target(frame: &Frame<'_>, catalog: &Catalog, statement: &Statement) -> bool {
    let found = target(statement).and_then(|name| find(catalog, frame.path(), name).ok().flatten());
    found.is_some_and(Relation::is_temporary)
}

/// The table that an INSERT, UPDATE or DELETE writes to.
fn target(statement: &Statement) -> Option<&ObjectName> {
    match statement {
        Statement::Insert(insert) => match &insert.table {
            TableObject::TableName(name) => Some(name),
            _ => None,
        },
        Statement::Update(update) => of_from(&update.table),
        Statement::Delete(delete) => match &delete.from {
            FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from) => {
                from.first().and_then(of_from)
            }
        },
        _ => None,
    }
}

fn of_from(from: &TableWithJoins) -> Option<&ObjectName> {
    match &from.relation {
        TableFactor::Table { name, .. } => Some(name),
        _ => None,
    }
}
