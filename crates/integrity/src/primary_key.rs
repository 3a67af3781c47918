//! ALTER TABLE ... ADD PRIMARY KEY, and the end of one. The rows are written again, in their new order.

use crate::definition::refuse_dependents;
use crate::lookup::{all_rows, missing};
use crate::operator_classes::require_key_order;
use crate::surroundings::Surroundings;
use datafusion::arrow::array::{ArrayRef, Int64Array};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Column, ColumnId, Relation, Table, TableId};
use values::error::{Error, Result, SqlState};

/// Adds a primary key of a name to a table.
///
/// # Errors
/// 42P16 if it has one; 42703 and 42701 for the columns; 23502 and 23505 for rows that violate it.
pub async fn add_key(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
    table: TableId,
    (constraint, columns): (String, &[String]),
) -> Result<()> {
    let before = transaction.catalog().table_by_id(table).cloned().ok_or_else(missing)?;
    let name = &before.name;
    if !before.has_hidden_key() || transaction.catalog().deferrable_key(table).is_some() {
        let message = format!("multiple primary keys for table \"{name}\" are not allowed");
        return Err(Error::new(SqlState::InvalidTableDefinition, message));
    }
    let mut after = Table::clone(&before);
    after.columns.retain(|column| !column.hidden);
    let unknown =
        |column: &str| format!("column \"{column}\" of relation \"{name}\" does not exist");
    after.key = key_of(&mut after, columns, unknown)?;
    after.set_key_name(constraint);
    let hidden = before.columns.iter().position(|column| column.hidden);
    let rewrite = |mut row: Vec<ArrayRef>| {
        hidden.into_iter().for_each(|at| drop(row.remove(at)));
        row
    };
    let rewritten = rewrite_rows(surroundings, transaction, &before, after, rewrite).await;
    rewritten.map_err(|error| match (error.state(), error.subject().column.clone()) {
        (SqlState::NotNullViolation, Some(column)) => {
            let message =
                format!("column \"{column}\" of relation \"{name}\" contains null values");
            Error::new(SqlState::NotNullViolation, message)
                .of_table(&before.schema, name)
                .of_column(&column)
        }
        (SqlState::UniqueViolation, _) => {
            let index = error.subject().constraint.clone().unwrap_or_default();
            let message = format!("could not create unique index \"{index}\"");
            let detail =
                error.detail().unwrap_or_default().replace("already exists", "is duplicated");
            Error::new(SqlState::UniqueViolation, message)
                .with_detail(detail)
                .of_table(&before.schema, name)
                .of_constraint(&index)
        }
        _ => error,
    })
}

/// The columns of a new key, which are not NULL from now on. `unknown` is the message for one that does not exist.
///
/// # Errors
/// 42703 and 42701 for the columns; 42704 and 0A000 for a type that no key can have.
pub fn key_of(
    table: &mut Table,
    names: &[String],
    unknown: impl Fn(&str) -> String,
) -> Result<Vec<ColumnId>> {
    let mut key = Vec::with_capacity(names.len());
    for name in names {
        let column = table.columns.iter_mut().find(|column| column.name == *name && !column.hidden);
        let Some(column) = column else {
            let message = unknown(name);
            return Err(Error::new(SqlState::UndefinedColumn, message));
        };
        if key.contains(&column.id) {
            let message = format!("column \"{name}\" appears twice in primary key constraint");
            return Err(Error::new(SqlState::DuplicateColumn, message));
        }
        require_key_order(&column.sql_type, "a primary key")?;
        column.nullable = false;
        key.push(column.id);
    }
    Ok(key)
}

/// Drops the primary key of a table; with CASCADE also the foreign keys that refer to it. Its columns
/// stay NOT NULL.
///
/// # Errors
/// 2BP01.
pub async fn drop_key(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
    table: TableId,
    cascade: bool,
) -> Result<Vec<String>> {
    let before = transaction.catalog().table_by_id(table).cloned().ok_or_else(missing)?;
    let name = before.key_name();
    let what = format!("constraint {name} on table {}", before.name);
    let on = format!("index {name}");
    let dropped =
        refuse_dependents(transaction, table, (&what, &on), cascade, |_, key| key.index.is_none())?;
    let before = transaction.catalog().table_by_id(table).cloned().ok_or_else(missing)?;
    let mut after = Table::clone(&before);
    let id = ColumnId(after.next_column);
    after.next_column += 1;
    after.columns.push(Column::row_id(id));
    after.key = vec![id];
    after.key_constraint = None;
    let rewrite = |mut row: Vec<ArrayRef>| {
        let rows = row.first().map_or(0, |column| column.len());
        let first = surroundings.row_ids(rows as u64);
        row.push(Arc::new(Int64Array::from_iter_values(first..first + rows as i64)));
        row
    };
    rewrite_rows(surroundings, transaction, &before, after, rewrite).await?;
    Ok(dropped)
}

/// Replaces the definition of a table, and all rows.
async fn rewrite_rows(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
    before: &Arc<Table>,
    mut after: Table,
    rewrite: impl Fn(Vec<ArrayRef>) -> Vec<ArrayRef>,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let tables = catalog.relations().filter_map(|relation| match relation {
        Relation::Table(table) => Some(table),
        _ => None,
    });
    let mut others = tables.filter_map(|table| table.colocate_with);
    if before.colocate_with.is_some() || others.any(|id| id == before.id) {
        let message = "another primary key of a colocated table is not supported";
        return Err(Error::unsupported(message));
    }
    let rows = match all_rows(transaction, before)? {
        Some(plan) => surroundings.rows(transaction, &plan).await?,
        None => Vec::new(),
    };
    after.version += 1;
    let after = Arc::new(after);
    let replaced = CatalogChange::Replace(Relation::Table(Arc::clone(&after)));
    // No value changes.
    let noted = transaction.row_changes().clone();
    transaction.change_catalog(replaced)?;
    transaction.truncate(after.id)?;
    for batch in rows {
        let columns = rewrite(batch.columns().to_vec());
        let batch = surroundings.checked(transaction, &after, columns)?;
        transaction.insert(after.id, &batch).await?;
    }
    *transaction.row_changes() = noted;
    Ok(())
}
