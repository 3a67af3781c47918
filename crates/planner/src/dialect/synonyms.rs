//! Functions that have another name in DataFusion.

use super::build::{arguments, called};
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Ident, ObjectName};
use functions::datetime::moments::AGE;

pub(super) fn rewrite(expr: &mut Expr) {
    let name = match called(expr).as_deref() {
        Some("variance") => "var_samp",
        Some("every") => "bool_and",
        Some("ceiling") => "ceil",
        Some("sign") => "signum",
        Some("array_remove") => "array_remove_all",
        Some("array_replace") => "array_replace_all",
        Some("mod") => return modulo(expr),
        // `age` of a transaction id has one argument.
        Some("age") if arguments(expr).len() == 2 => AGE,
        _ => return,
    };
    if let Expr::Function(function) = expr {
        function.name = ObjectName::from(vec![Ident::new(name)]);
    }
}

/// Turns `mod(a, b)` into `a % b`.
fn modulo(expr: &mut Expr) {
    let [left, right] = &arguments(expr)[..] else { return };
    let nested = |expr: &Expr| Box::new(Expr::Nested(Box::new(expr.clone())));
    let (left, right) = (nested(left), nested(right));
    *expr = Expr::Nested(Box::new(Expr::BinaryOp { left, op: BinaryOperator::Modulo, right }));
}
