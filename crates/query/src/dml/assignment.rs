//! Assignments of UPDATE and of ON CONFLICT DO UPDATE.

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use store::catalog::{Column, Table};
use table_rows::Constraints;
use table_rows::default_values::{accepts_default_only, generated_always};
use values::assign::assign;
use values::error::Result;

/// Rejects a value other than DEFAULT for a column that accepts DEFAULT only.
///
/// # Errors
/// 428C9.
pub(crate) fn require_default(column: &Column) -> Result<()> {
    if !accepts_default_only(column) {
        return Ok(());
    }
    let message = format!("column \"{}\" can only be updated to DEFAULT", column.name);
    Err(generated_always(column, message))
}

/// The new rows. `columns` are those of the old rows, followed by the new values of `targets`.
pub(crate) fn new_rows(
    table: &Table,
    columns: &[ArrayRef],
    targets: &[usize],
    constraints: &Constraints,
) -> Result<RecordBatch> {
    constraints.batch(assigned_rows(table, columns, targets, constraints)?)
}

/// The columns of the new rows, which are not checked yet.
///
/// # Errors
/// A value cannot be assigned to its column.
pub(super) fn assigned_rows(
    table: &Table,
    columns: &[ArrayRef],
    targets: &[usize],
    constraints: &Constraints,
) -> Result<Vec<ArrayRef>> {
    let (old, values) = columns.split_at(table.columns.len());
    let mut new = old.to_vec();
    for (value, target) in values.iter().zip(targets) {
        new[*target] = assign(value, &table.columns[*target], constraints.style())?;
    }
    Ok(new)
}
