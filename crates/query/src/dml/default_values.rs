//! The keyword DEFAULT, and columns that accept no other value.

use datafusion::sql::sqlparser::ast::{Expr, Value};
use store::catalog::{Column, Identity, Table};
use values::error::{Error, Result, SqlState};

/// The keyword DEFAULT where a value is expected.
pub(crate) fn is_default(value: &Expr) -> bool {
    match value {
        Expr::Identifier(ident) => {
            ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default")
        }
        _ => false,
    }
}

/// The expression of a column's default.
pub(crate) fn default_of(table: &Table, column: usize) -> Result<Expr> {
    match &table.columns[column].default {
        Some(text) => parser::parse_expression(text),
        None => Ok(Expr::Value(Value::Null.with_empty_span())),
    }
}

/// Whether only the column itself says what its values are.
pub(crate) fn refuses_values(column: &Column) -> bool {
    column.identity == Some(Identity::Always) || column.generated.is_some()
}

/// The error for a value that a column refuses.
pub(crate) fn of_generated(column: &Column, message: String) -> Error {
    let what = match column.generated {
        Some(_) => "a generated column",
        None => "an identity column defined as GENERATED ALWAYS",
    };
    Error::new(SqlState::GeneratedAlways, message)
        .with_detail(format!("Column \"{}\" is {what}.", column.name))
}
