//! Rows of tables as functions of triggers see them: without hidden columns, value by value.

use crate::value::Value;
use catalog_views::pg_catalog::quote_ident;
use datafusion::arrow::array::ArrayRef;
use datafusion::common::ScalarValue;
use planner::{Conflict, NamedParameter};
use store::catalog::{Column, Table};
use values::assign::assign;
use values::error::{Error, Result, SqlState};
use values::style::Style;

/// The name of the new row.
pub const NEW: &str = "new";

/// The name of the old row.
pub const OLD: &str = "old";

/// The columns that functions see, with their positions in the table.
fn shown(table: &Table) -> impl Iterator<Item = (usize, &Column)> {
    table.columns.iter().enumerate().filter(|(_, column)| !column.hidden)
}

/// The columns of NEW and OLD, as parameters.
pub fn named_columns(table: &Table) -> Vec<NamedParameter> {
    let of = |row: &'static str| {
        shown(table).map(move |(_, column)| NamedParameter {
            qualifier: Some(row.to_owned()),
            name: column.name.clone(),
            sql_type: column.sql_type.clone(),
            conflict: Conflict::Error,
        })
    };
    of(NEW).chain(of(OLD)).collect()
}

/// A condition, in which NEW and OLD as whole rows are written out.
pub fn written_out(table: &Table, condition: &str) -> String {
    written(table, condition, false)
}

/// As [`written_out`], for the source of a function, which also runs for changes that have only one of the rows, or none.
pub fn written_out_in_function(table: &Table, source: &str) -> String {
    written(table, source, true)
}

/// The type of the rows, as it is written in a cast.
pub(crate) fn row_type(table: &Table) -> String {
    format!("{}.{}", quote_ident(&table.schema), quote_ident(&table.name))
}

fn written(table: &Table, text: &str, may_be_absent: bool) -> String {
    let columns: Vec<&str> = shown(table).map(|(_, column)| column.name.as_str()).collect();
    let row_type = &row_type(table);
    plpgsql::WrittenRows { columns: &columns, row_type, may_be_absent }.in_text(text)
}

/// Makes the generated columns of a row NULL: they are computed behind the triggers before it.
///
/// # Errors
/// A column has an unknown type.
pub fn without_generated(table: &Table, row: &mut [Value]) -> Result<()> {
    for ((_, column), value) in shown(table).zip(row) {
        if column.generated.is_some() {
            value.scalar = ScalarValue::try_from(&value.scalar.data_type())?;
        }
    }
    Ok(())
}

/// The values of a row of a table's columns.
///
/// # Errors
/// A column has an unknown type.
pub fn of_arrays(table: &Table, columns: &[ArrayRef], row: usize) -> Result<Vec<Value>> {
    shown(table).map(|(at, column)| Value::at(&columns[at], row, &column.sql_type)).collect()
}

/// A row that a function has returned, as columns of the table. `from` are the columns that its hidden columns are taken
/// from.
///
/// # Errors
/// 42804: it has not the columns of the table.
pub fn to_arrays(
    table: &Table,
    row: &[Value],
    (from, at): (&[ArrayRef], usize),
) -> Result<Vec<ArrayRef>> {
    let count = shown(table).count();
    if row.len() != count {
        let message = "returned row structure does not match the structure of the triggering table";
        return Err(Error::new(SqlState::DatatypeMismatch, message).with_detail(format!(
            "Number of returned columns ({}) does not match expected column count ({count}).",
            row.len()
        )));
    }
    let mut columns: Vec<ArrayRef> = from.iter().map(|column| column.slice(at, 1)).collect();
    for ((position, column), value) in shown(table).zip(row) {
        let array = value.scalar.to_array_of_size(1)?;
        columns[position] = assign(&array, column, Style::default())?;
    }
    Ok(columns)
}
