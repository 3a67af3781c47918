//! Fields of composite values: `(information_schema._pg_expandarray(i.indkey)).n`,
//! `(json_each(j)).key` and `(keys).x`.
//!
//! pgjdbc uses them to query primary keys and indexes.

use super::build::{arguments, call, called, text};
use datafusion::sql::sqlparser::ast::{AccessExpr, Expr};
use parser::names::fold;

/// The function that returns each element of an array with its subscript.
const EXPAND: &str = "_pg_expandarray";

pub(super) fn rewrite(expr: &mut Expr) {
    let (root, field) = match expr {
        Expr::CompoundFieldAccess { root, access_chain } => match &access_chain[..] {
            [AccessExpr::Dot(Expr::Identifier(field))] => (root, fold(field)),
            _ => return,
        },
        _ => return,
    };
    let Expr::Nested(inner) = &**root else { return };
    let fields = super::set_functions::fields(inner);
    if let Some((_, value)) = fields.into_iter().find(|(name, _)| *name == field) {
        *expr = value;
        return;
    }
    *expr = match (expanded(inner), field.as_str()) {
        (Some(array), "n") => call("unnest", vec![super::set_functions::numbers(array)]),
        (Some(array), _) => call("unnest", vec![array]),
        (None, _) => call("get_field", vec![(**inner).clone(), text(field)]),
    };
}

/// The array in `unnest(_pg_expandarray(array))`, the form that
/// [`set_functions`](super::set_functions) produces.
fn expanded(expr: &Expr) -> Option<Expr> {
    if called(expr).as_deref() != Some("unnest") {
        return None;
    }
    let inner = arguments(expr).into_iter().next()?;
    match called(inner).as_deref() {
        Some(EXPAND) => arguments(inner).into_iter().next().cloned(),
        _ => None,
    }
}
