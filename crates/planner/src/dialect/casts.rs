//! Casts that only say what a value is already: `relname::name`, `'r'::"char"`, `x::information_schema.sql_identifier`.
//!
//! psql, pgjdbc and information_schema's own views cast between the types of names all the time.

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

/// Whether a type is one of floating-point numbers.
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

/// A number as it is written: on the way through `numeric` it would lose digits.
fn digits(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => Some(digits.to_string()),
            _ => None,
        },
        _ => None,
    }
}
