//! Casts between types that hold the same values: `x::information_schema.sql_identifier`.
//!
//! psql, pgjdbc and the views of information_schema use them often.

use super::build::{text, type_name};
use datafusion::sql::sqlparser::ast::{DataType, Expr, Value};

pub(super) fn rewrite(expr: &mut Expr) {
    let Expr::Cast { data_type, expr: inner, .. } = expr else { return };
    if is_float(data_type)
        && let Some(digits) = digits(inner)
    {
        **inner = text(digits);
    }
    let name = type_name(data_type);
    let domain = name.strip_prefix("information_schema.");
    *data_type = match domain.unwrap_or(&name) {
        "sql_identifier" | "character_data" | "yes_or_no" => DataType::Text,
        "cardinal_number" => DataType::Integer(None),
        _ => return,
    };
}

/// Whether a type is a floating-point type.
pub(super) fn is_float(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Double(_)
            | DataType::DoublePrecision
            | DataType::Float8
            | DataType::Float64
            | DataType::Real
            | DataType::Float4
            | DataType::Float32
            | DataType::Float(_)
    )
}

/// The digits of a number literal. A cast through `numeric` would lose some.
fn digits(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => Some(digits.to_string()),
            _ => None,
        },
        _ => None,
    }
}
