//! Errors of column references.

use crate::error::{Error, SqlState};
use datafusion::common::{Column, SchemaError};

/// The error for a table without a column of this name.
fn undefined_column(table: &str, name: &str) -> Error {
    Error::new(SqlState::UndefinedColumn, format!("column {table}.{name} does not exist"))
}

/// The error for a column that does not exist, or whose qualifier is no table in FROM.
fn not_found(field: &Column, valid: &[Column]) -> Error {
    use datafusion::common::utils::datafusion_strsim::levenshtein;
    let table = field.relation.as_ref().map(|relation| relation.table());
    let is_of_table =
        |valid: &Column| valid.relation.as_ref().is_some_and(|known| Some(known.table()) == table);
    let error = match &field.relation {
        Some(relation) if !valid.iter().any(is_of_table) => {
            let message = format!("missing FROM-clause entry for table \"{}\"", relation.table());
            Error::new(SqlState::UndefinedTable, message)
        }
        Some(relation) => undefined_column(&relation.to_string(), &field.name),
        None => {
            let message = format!("column \"{}\" does not exist", field.name);
            Error::new(SqlState::UndefinedColumn, message)
        }
    };
    match valid.iter().find(|valid| levenshtein(&valid.name, &field.name) <= 2) {
        Some(near) if error.state() == SqlState::UndefinedColumn => {
            let near = near.flat_name();
            error.with_hint(format!("Perhaps you meant to reference the column \"{near}\"."))
        }
        _ => error,
    }
}

pub(super) fn schema_error(error: SchemaError) -> Error {
    match &error {
        SchemaError::FieldNotFound { field, valid_fields } => not_found(field, valid_fields),
        SchemaError::AmbiguousReference { field } => Error::new(
            SqlState::AmbiguousColumn,
            format!("column reference \"{}\" is ambiguous", field.name),
        ),
        SchemaError::DuplicateUnqualifiedField { name } => {
            Error::new(SqlState::DuplicateColumn, format!("column \"{name}\" appears twice"))
        }
        SchemaError::DuplicateQualifiedField { qualifier, .. } => Error::new(
            SqlState::DuplicateAlias,
            format!("table name \"{}\" specified more than once", qualifier.table()),
        ),
    }
}
