//! ALTER TABLE ... ADD PRIMARY KEY and DROP CONSTRAINT of a primary key. Rows are ordered by the key, so all are
//! written again.

use super::alter_type::{Rewritten, of_rows, rows};
use crate::context::Frame;
use crate::dml::constraints::Constraints;
use datafusion::arrow::array::{Int64Array, RecordBatch};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Column, ColumnId, Table};
use values::error::{Error, Result, SqlState};

/// Adds a primary key to a definition, and computes the rows.
///
/// # Errors
/// 42P16 for a second key; 42703, 42701 and 42P16 for its columns; 23502 if rows have NULL in them.
pub(super) async fn add(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &mut Table,
    names: &[String],
) -> Result<Rewritten> {
    let before = Table::clone(table);
    let Some(hidden) = before.columns.iter().position(|column| column.hidden) else {
        let message = format!("multiple primary keys for table \"{}\" are not allowed", table.name);
        return Err(Error::new(SqlState::InvalidTableDefinition, message));
    };
    let key_name = table.key_name();
    if transaction.catalog().relation(&table.schema, &key_name).is_some() {
        let message = format!("relation \"{key_name}\" already exists");
        return Err(Error::new(SqlState::DuplicateTable, message));
    }
    refuse_colocated(transaction, table)?;
    table.columns.remove(hidden);
    set_key(table, names)?;
    let after = Arc::new(Table::clone(table));
    let constraints = Constraints::new(&frame.planner(transaction), &after)?;
    let rewrite = |batch: RecordBatch| {
        let mut columns = batch.columns().to_vec();
        columns.remove(hidden);
        constraints.batch(columns).map_err(|error| of_rows(error, &after))
    };
    let rows = rows(frame, transaction, &before).await?;
    Ok(Rewritten::of_key(rows.into_iter().map(rewrite).collect::<Result<_>>()?))
}

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

/// Removes the primary key of a definition, and computes the rows with ids instead.
pub(super) async fn remove(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &mut Table,
) -> Result<Rewritten> {
    refuse_colocated(transaction, table)?;
    let before = Table::clone(table);
    let id = ColumnId(table.next_column);
    table.columns.push(Column::row_id(id));
    table.next_column += 1;
    table.key = vec![id];
    let schema = table.arrow_schema();
    let with_ids = |batch: RecordBatch| {
        let first = frame.session.shared.store.allocate_row_ids(batch.num_rows() as u64);
        let ids = Int64Array::from_iter_values(first..first + batch.num_rows() as i64);
        let mut columns = batch.columns().to_vec();
        columns.push(Arc::new(ids));
        Ok(RecordBatch::try_new(Arc::clone(&schema), columns)?)
    };
    let rows = rows(frame, transaction, &before).await?;
    Ok(Rewritten::of_key(rows.into_iter().map(with_ids).collect::<Result<_>>()?))
}

/// Refuses a table whose rows lie where those of another table are.
fn refuse_colocated(transaction: &DistributedTransaction, table: &Table) -> Result<()> {
    let catalog = transaction.catalog();
    let mut others = catalog.relations().filter_map(|relation| relation.file());
    if table.colocate_with.is_some() || others.any(|other| other.colocate_with == Some(table.id)) {
        return Err(Error::unsupported(
            "changing the primary key of a colocated table is not supported",
        ));
    }
    Ok(())
}
