//! Columns of existing tables that become NOT NULL.

use super::checks;
use crate::context::Frame;
use store::DistributedTransaction;
use store::catalog::Table;
use values::error::{Error, Result, SqlState};

/// Refuses a column with NULL in a row.
///
/// # Errors
/// 23502.
pub(super) async fn refuse_nulls(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &Table,
    column: usize,
) -> Result<()> {
    let name = &table.columns[column].name;
    let is_null = format!("\"{name}\" IS NULL");
    if !checks::is_any_row(frame, transaction, table, &is_null).await? {
        return Ok(());
    }
    Err(contains_null(table, name))
}

/// The error for rows with NULL in a column that is NOT NULL from now on.
pub(super) fn contains_null(table: &Table, name: &str) -> Error {
    let message = format!("column \"{name}\" of relation \"{}\" contains null values", table.name);
    Error::new(SqlState::NotNullViolation, message)
        .of_table(&table.schema, &table.name)
        .of_column(name)
}
