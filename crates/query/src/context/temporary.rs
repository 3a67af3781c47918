//! A session's temporary relations, which end with it.

use std::sync::Arc;
use store::Store;
use store::catalog::{Catalog, CatalogChange};

/// What drops all that there is in a session's schema.
pub(crate) fn drops(catalog: &Catalog, schema: &str) -> Vec<CatalogChange> {
    catalog.relations_in(schema).map(|relation| CatalogChange::Drop(relation.id())).collect()
}

/// Drops the schema of a session that is over, and what is in it. Others are in the way at most for a moment:
/// by a privilege that they grant, or because they drop the same.
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
