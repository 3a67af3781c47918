//! Functions that the engine knows by another name.

use super::build::{arguments, called};
use crate::functions::moments::AGE;
use datafusion::sql::sqlparser::ast::{Expr, Ident, ObjectName};

pub(super) fn rewrite(expr: &mut Expr) {
    let name = match called(expr).as_deref() {
        Some("variance") => "var_samp",
        Some("every") => "bool_and",
        Some("ceiling") => "ceil",
        Some("sign") => "signum",
        // That of a transaction has one argument.
        Some("age") if arguments(expr).len() == 2 => AGE,
        _ => return,
    };
    if let Expr::Function(function) = expr {
        function.name = ObjectName::from(vec![Ident::new(name)]);
    }
}
