//! The columns of a primary key in CREATE TABLE, and primary keys that are deferrable in ALTER TABLE.

use super::index;
use super::not_null::refuse_nulls;
use crate::context::Frame;
use catalog_views::pg_catalog::class::Class;
use integrity::names;
use parser::commands::{PrimaryKey, RelationName, Unique};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Relation, Table, TableId};
use values::error::{Error, Result, SqlState};

/// Makes the columns of a name list the key of a table.
pub(super) fn set_key(table: &mut Table, names: &[String]) -> Result<()> {
    let unknown = |name: &str| format!("column \"{name}\" named in key does not exist");
    table.key = integrity::key_of(table, names, unknown)?;
    Ok(())
}

/// The error for a second primary key.
pub(super) fn second(table: &Table) -> Error {
    let message = format!("multiple primary keys for table \"{}\" are not allowed", table.name);
    Error::new(SqlState::InvalidTableDefinition, message)
}

/// Adds a primary key to a table.
///
/// # Errors
/// As of [`integrity::add_key`]; 42P07 and 42710 for its name.
pub(super) async fn add(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    id: TableId,
    key: &PrimaryKey,
) -> Result<()> {
    let Some(table) = transaction.catalog().table_by_id(id).cloned() else { return Ok(()) };
    if !table.has_hidden_key() {
        return Err(second(&table));
    }
    let name = names::of_key(transaction.catalog(), &table, key.name.as_deref())?;
    integrity::add_key(frame, transaction, id, (name, &key.columns)).await
}

/// Finds the table whose primary key's index a statement names.
pub(super) fn named(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    name: &RelationName,
) -> Option<Arc<Table>> {
    let catalog = transaction.catalog();
    match Class::by_name(catalog, frame.path(), name.schema.as_deref(), &name.name)? {
        Class::KeyIndex(table) => Some(Arc::clone(table)),
        Class::Relation(_) | Class::System(_) | Class::Composite(_) => None,
    }
}

/// Renames the primary key of a table, and its index.
///
/// # Errors
/// 42P07 and 42710 if the name is taken.
pub(super) fn rename(
    transaction: &mut DistributedTransaction,
    table: &Table,
    to: &str,
) -> Result<()> {
    names::refuse_taken(transaction.catalog(), table, to, true)?;
    let mut next = Table::clone(table);
    next.set_key_name(to.to_owned());
    next.move_constraint_comment(&table.key_name(), to);
    next.version += 1;
    transaction.change_catalog(CatalogChange::Replace(Relation::Table(Arc::new(next))))?;
    Ok(())
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
