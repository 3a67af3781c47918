//! The types of constants in a statement, and constants that cannot be converted to a type.

use datafusion::sql::sqlparser::ast::{Expr, Spanned, Value};
use datafusion::sql::sqlparser::tokenizer::Span;
use values::error::Error;
use values::translate::refused_text;

/// Operators that give a quoted constant the type of the other operand.
const SAME_TYPES: [&str; 11] = ["+", "-", "*", "/", "%", "=", "<>", "<", ">", "<=", ">="];

/// Whether an expression can have a type. Only constants are checked.
pub(super) fn may_have(expr: &Expr, known: &str) -> bool {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(..) => ["bigint", "integer", "numeric"].contains(&known),
            Value::SingleQuotedString(_) | Value::Null => known == "unknown",
            Value::Boolean(_) => known == "boolean",
            _ => true,
        },
        Expr::Nested(inner) => may_have(inner, known),
        _ => true,
    }
}

/// The type of a constant; `known` for any other expression.
pub(super) fn type_of(expr: &Expr, known: &str) -> String {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) if number.to_string().parse::<i32>().is_ok() => "integer",
            _ => known,
        },
        Expr::Nested(inner) => return type_of(inner, known),
        _ => known,
    }
    .to_owned()
}

/// The text of a quoted constant.
pub(super) fn quoted(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Some(text),
            _ => None,
        },
        Expr::Nested(inner) => quoted(inner),
        _ => None,
    }
}

/// The error for a quoted constant that cannot be converted to a type.
pub(super) fn unreadable(expr: &Expr, wanted: &str) -> Option<Error> {
    let text = quoted(expr)?;
    let readable = match wanted {
        "smallint" | "integer" | "bigint" | "numeric" | "real" | "double precision" => {
            text.trim().parse::<f64>().is_ok()
        }
        "boolean" => ["t", "true", "f", "false", "on", "off", "1", "0"].contains(&text),
        "interval" => values::input::interval::parse(text).is_some(),
        _ => return None,
    };
    (!readable).then(|| refused_text(text, wanted))
}

/// The error and the location of a quoted operand that cannot be converted to the type of the
/// other.
pub(super) fn unreadable_operand(
    operator: &str,
    left: &Expr,
    right: &Expr,
    types: &[String; 2],
) -> Option<(Error, Span)> {
    let [one, other] = types;
    let (constant, other, wanted) = match (quoted(left), quoted(right)) {
        (Some(_), None) => (left, right, other),
        (None, Some(_)) => (right, left, one),
        _ => return None,
    };
    if !SAME_TYPES.contains(&operator) {
        return None;
    }
    Some((unreadable(constant, &type_of(other, wanted))?, constant.span()))
}
