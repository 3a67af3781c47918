//! Assignments of UPDATE and of ON CONFLICT DO UPDATE.

use super::constraints::Constraints;
use super::declared_column;
use super::default_values::{accepts_default_only, generated_always};
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::sql::sqlparser::ast::AssignmentTarget;
use parser::names::fold;
use store::catalog::{Column, Table};
use values::assign::assign;
use values::error::{Error, Result};

/// The target column of an assignment.
pub(crate) fn assigned_column(table: &Table, target: &AssignmentTarget) -> Result<usize> {
    match target {
        AssignmentTarget::ColumnName(name) => {
            let last = name.0.last().and_then(|part| part.as_ident()).map(fold);
            declared_column(table, &last.unwrap_or_default())
        }
        AssignmentTarget::Tuple(_) => {
            Err(Error::unsupported("assignment to a list of columns is not supported here"))
        }
    }
}

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
    let (old, values) = columns.split_at(table.columns.len());
    let mut new = old.to_vec();
    for (value, target) in values.iter().zip(targets) {
        new[*target] = assign(value, &table.columns[*target], constraints.style())?;
    }
    constraints.batch(new)
}
