//! TRUNCATE.

use crate::context::Frame;
use crate::dml::target;
use catalog_views::relation_names::find;
use datafusion::sql::sqlparser::ast::Truncate;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Privileges};
use values::error::Result;

/// Runs a TRUNCATE.
pub(crate) fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    truncate: &Truncate,
) -> Result<&'static str> {
    for named in &truncate.table_names {
        let path = frame.path();
        if truncate.if_exists && find(transaction.catalog(), path, &named.name)?.is_none() {
            continue;
        }
        let table = target(frame, transaction, &named.name, Privileges::TRUNCATE)?;
        transaction.change_catalog(CatalogChange::Truncate(table.id))?;
    }
    Ok("TRUNCATE TABLE")
}
