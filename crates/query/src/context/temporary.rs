//! A session's temporary relations and functions, which are dropped when it ends.

use std::sync::Arc;
use store::Store;
use store::catalog::{Catalog, CatalogChange};

/// The changes that drop all relations and functions of a session's schema.
pub(crate) fn drops(catalog: &Catalog, schema: &str) -> Vec<CatalogChange> {
    let relations = catalog.relations_in(schema).map(|of| CatalogChange::Drop(of.id()));
    let functions = catalog.functions_in(schema).map(|of| CatalogChange::DropFunction(of.id));
    relations.chain(functions).collect()
}

/// Drops the schema of an ended session with what is in it. Retries after conflicts with other transactions, such as GRANT.
pub(crate) fn end(store: &Arc<Store>, schema: &str) {
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
