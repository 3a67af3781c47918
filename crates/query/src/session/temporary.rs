//! A session's temporary relations, which end with it.

use super::Frame;
use crate::catalog_views::relation_names::find;
use datafusion::sql::sqlparser::ast::{
    FromTable, ObjectName, Statement, TableFactor, TableObject, TableWithJoins,
};
use std::sync::Arc;
use store::Store;
use store::catalog::{Catalog, CatalogChange, Relation};

/// What drops all that there is in a session's schema.
pub(crate) fn drops(catalog: &Catalog, schema: &str) -> Vec<CatalogChange> {
    catalog.relations_in(schema).map(|relation| CatalogChange::Drop(relation.id())).collect()
}

/// Drops the schema of a session that is over, and what is in it. Others are in the way at most for a moment:
/// by a privilege that they grant, or because they drop the same.
pub(super) fn end(store: &Arc<Store>, schema: &str) {
    while store.catalog().schema(schema).is_some() {
        match drop_schema(store, schema) {
            Err(error) if error.is_retryable() => {}
            _ => break,
        }
    }
}

fn drop_schema(store: &Arc<Store>, schema: &str) -> Result<(), store::Error> {
    let mut transaction = store.begin();
    for change in drops(transaction.catalog(), schema) {
        transaction.change_catalog(change)?;
    }
    transaction.change_catalog(CatalogChange::DropSchema(schema.to_owned()))?;
    transaction.commit().map(drop)
}

/// Whether all that a statement changes are rows of a temporary table: transactions that read only may do so.
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
