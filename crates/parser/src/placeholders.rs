//! Parameters of a statement: `$1`, `$2`, ...

use datafusion::sql::sqlparser::ast::{Expr, Value};

/// The zero-based index of a parameter (0 for `$1`), if the expression is one.
pub fn placeholder(expression: &Expr) -> Option<usize> {
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
