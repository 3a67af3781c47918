//! REINDEX: the entries of indexes are made anew.

use super::index;
use super::primary_key;
use crate::context::Frame;
use catalog_views::relation_names::{find_named, missing_relation};
use parser::commands::Reindex;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Privileges, Relation};
use values::error::{Error, Result, SqlState};

/// Runs a REINDEX.
pub(super) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    reindex: &Reindex,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let relation = find_named(&catalog, frame.path(), &reindex.name)?;
    let Some(relation) = relation else {
        let key = primary_key::named(frame, transaction, &reindex.name);
        let Some(table) = key.filter(|_| !reindex.is_table) else {
            if reindex.name.name.starts_with("pg_") {
                let message = format!("REINDEX of \"{}\" is not supported", reindex.name);
                return Err(Error::unsupported(message));
            }
            return Err(missing_relation(&catalog, frame.path(), &reindex.name));
        };
        // A table is ordered by its primary key: there are no entries to be made.
        return frame.access(&catalog).require(&Relation::Table(table), Privileges::OWNER);
    };
    let indexes = match (relation, reindex.is_table) {
        (Relation::Table(table), true) => {
            frame.access(&catalog).require(relation, Privileges::OWNER)?;
            catalog.indexes_of(table.id).to_vec()
        }
        (Relation::Index(index), false) => {
            frame.access(&catalog).require(relation, Privileges::OWNER)?;
            vec![Arc::clone(index)]
        }
        (relation, is_table) => {
            let kind = if is_table { "a table or materialized view" } else { "an index" };
            let message = format!("\"{}\" is not {kind}", relation.name());
            return Err(Error::new(SqlState::WrongObjectType, message));
        }
    };
    for index in indexes {
        transaction.change_catalog(CatalogChange::Truncate(index.file.id))?;
        index::fill(frame, transaction, &index).await?;
    }
    Ok(())
}
