//! Violations of foreign keys and of unique constraints, in PostgreSQL's words.

use datafusion::arrow::array::ArrayRef;
use store::catalog::{ColumnId, ForeignKey, Index, Table};
use values::error::{Error, Result, SqlState};
use values::text;

/// The error for a row that refers to none.
pub(crate) fn not_present(
    (table, key): (&Table, &ForeignKey),
    referenced: &Table,
    values: &[ArrayRef],
    row: usize,
) -> Error {
    let detail = described(table, &key.columns, values, row)
        .map(|key| format!("Key {key} is not present in table \"{}\".", referenced.name));
    of_referring(table, key, detail)
}

/// The error for a row of which only some columns are NULL, with MATCH FULL.
pub(crate) fn mixed(table: &Table, key: &ForeignKey) -> Error {
    let detail = "MATCH FULL does not allow mixing of null and nonnull key values.".to_owned();
    of_referring(table, key, Ok(detail))
}

fn of_referring(table: &Table, key: &ForeignKey, detail: Result<String>) -> Error {
    let message = format!(
        "insert or update on table \"{}\" violates foreign key constraint \"{}\"",
        table.name, key.name
    );
    violation(message, detail, table, key)
}

/// The error for a value that rows still refer to.
pub(crate) fn still_referenced(
    (table, key): (&Table, &ForeignKey),
    referenced: &Table,
    values: &[ArrayRef],
    row: usize,
) -> Error {
    let message = format!(
        "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
        referenced.name, key.name, table.name
    );
    let detail = described(referenced, &key.referenced, values, row)
        .map(|key| format!("Key {key} is still referenced from table \"{}\".", table.name));
    violation(message, detail, table, key)
}

fn violation(message: String, detail: Result<String>, table: &Table, key: &ForeignKey) -> Error {
    let error = Error::new(SqlState::ForeignKeyViolation, message);
    let error = match detail {
        Ok(detail) => error.with_detail(detail),
        Err(_) => error,
    };
    error.of_table(&table.schema, &table.name).of_constraint(&key.name)
}

/// The error for a value that two rows have in a unique constraint.
pub(crate) fn repeated(table: &Table, index: &Index, values: &[ArrayRef]) -> Error {
    let name = &index.file.name;
    let message = format!("duplicate key value violates unique constraint \"{name}\"");
    unique_violation(message, "already exists", (table, index), values)
}

/// The error for a value that two rows have in a unique constraint that is to be added.
pub(crate) fn repeated_in_new(table: &Table, index: &Index, values: &[ArrayRef]) -> Error {
    let message = format!("could not create unique index \"{}\"", index.file.name);
    unique_violation(message, "is duplicated", (table, index), values)
}

fn unique_violation(
    message: String,
    what: &str,
    (table, index): (&Table, &Index),
    values: &[ArrayRef],
) -> Error {
    let columns: Vec<ColumnId> =
        index.columns.iter().filter_map(|column| column.key.column()).collect();
    let error = Error::new(SqlState::UniqueViolation, message);
    let error = match described(table, &columns, values, 0) {
        Ok(key) => error.with_detail(format!("Key {key} {what}.")),
        Err(_) => error,
    };
    error.of_table(&table.schema, &table.name).of_constraint(&index.file.name)
}

/// The columns and the values of a row: `(a, b)=(1, x)`.
fn described(
    table: &Table,
    columns: &[ColumnId],
    values: &[ArrayRef],
    row: usize,
) -> Result<String> {
    let name = |id: &ColumnId| Some(table.columns[table.position(*id)?].name.as_str());
    let names: Vec<&str> = columns.iter().filter_map(name).collect();
    let mut shown = Vec::with_capacity(values.len());
    for value in values {
        let mut text = String::new();
        if !text::write_value(value, row, &mut text)? {
            text.push_str("null");
        }
        shown.push(text);
    }
    Ok(format!("({})=({})", names.join(", "), shown.join(", ")))
}
