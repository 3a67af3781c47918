//! Parameters of a statement: `$1`, `$2`, ...

use datafusion::sql::sqlparser::ast::{Expr, Value};

/// The number of a placeholder, from zero.
pub(crate) fn placeholder(expression: &Expr) -> Option<usize> {
    match expression {
        Expr::Value(value) => match &value.value {
            Value::Placeholder(name) => {
                name.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
            }
            _ => None,
        },
        Expr::Nested(inner) => placeholder(inner),
        _ => None,
    }
}
