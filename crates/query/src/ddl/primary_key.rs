//! The columns of a primary key in CREATE TABLE, and primary keys that are deferrable in ALTER TABLE.

use super::index;
use super::not_null::refuse_nulls;
use crate::context::Frame;
use parser::commands::Unique;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Relation, Table, TableId};
use values::error::{Error, Result, SqlState};

/// Makes the columns of a name list the key of a table.
pub(super) fn set_key(table: &mut Table, names: &[String]) -> Result<()> {
    let mut key = Vec::new();
    for name in names {
        let Some(column) = table.columns.iter_mut().find(|c| c.name == *name && !c.hidden) else {
            let message = format!("column \"{name}\" named in key does not exist");
            return Err(Error::new(SqlState::UndefinedColumn, message));
        };
        if key.contains(&column.id) {
            let message = format!("column \"{name}\" appears twice in primary key constraint");
            return Err(Error::new(SqlState::DuplicateColumn, message));
        }
        if !store::key::is_key_type(&column.sql_type.arrow()) {
            let message = format!("type {} cannot be part of a primary key", column.sql_type);
            return Err(Error::new(SqlState::InvalidTableDefinition, message));
        }
        column.nullable = false;
        key.push(column.id);
    }
    table.key = key;
    Ok(())
}

/// The error for a second primary key.
pub(super) fn second(table: &Table) -> Error {
    let message = format!("multiple primary keys for table \"{}\" are not allowed", table.name);
    Error::new(SqlState::InvalidTableDefinition, message)
}

/// Adds a primary key that is deferrable to a table: an index, whose columns are not NULL from now on.
///
/// # Errors
/// 42P16 if the table has a primary key; 23502 if a column has NULL; as of UNIQUE.
pub(super) async fn add_deferrable(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    id: TableId,
    key: &Unique,
) -> Result<()> {
    let Some(table) = transaction.catalog().table_by_id(id).cloned() else { return Ok(()) };
    if !table.has_hidden_key() || transaction.catalog().deferrable_key(id).is_some() {
        return Err(second(&table));
    }
    index::add_unique(frame, transaction, id, key).await?;
    let Some(table) = transaction.catalog().table_by_id(id).cloned() else { return Ok(()) };
    let mut next = Table::clone(&table);
    for (at, column) in table.columns.iter().enumerate() {
        if column.nullable && key.columns.contains(&column.name) {
            refuse_nulls(frame, transaction, &table, at).await?;
            next.columns[at].nullable = false;
        }
    }
    next.version += 1;
    transaction.change_catalog(CatalogChange::Replace(Relation::Table(Arc::new(next))))?;
    Ok(())
}
