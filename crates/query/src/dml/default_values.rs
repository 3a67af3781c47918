//! The keyword DEFAULT, and columns that accept no other value.

use datafusion::sql::sqlparser::ast::{Expr, Value};
use store::catalog::{Column, Identity, Table};
use values::error::{Error, Result, SqlState};

/// Whether a value is the keyword DEFAULT.
pub(crate) fn is_default(value: &Expr) -> bool {
    match value {
        Expr::Identifier(ident) => {
            ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default")
        }
        _ => false,
    }
}

/// A column's default expression; NULL if it has none.
pub(crate) fn default_of(table: &Table, column: usize) -> Result<Expr> {
    match &table.columns[column].default {
        Some(text) => parser::parse_expression(text),
        None => Ok(Expr::Value(Value::Null.with_empty_span())),
    }
}

/// Whether a column accepts DEFAULT only: it is generated, or GENERATED ALWAYS AS IDENTITY.
pub(crate) fn accepts_default_only(column: &Column) -> bool {
    column.identity == Some(Identity::Always) || column.generated.is_some()
}

/// The error 428C9 for a value of a column that accepts DEFAULT only.
pub(crate) fn generated_always(column: &Column, message: String) -> Error {
    let what = match column.generated {
        Some(_) => "a generated column",
        None => "an identity column defined as GENERATED ALWAYS",
    };
    Error::new(SqlState::GeneratedAlways, message)
        .with_detail(format!("Column \"{}\" is {what}.", column.name))
}
