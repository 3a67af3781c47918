//! Aggregates that build JSON: `json_agg(x ORDER BY y)`, `jsonb_object_agg(k, v)`.
//!
//! One function converts each row, `array_agg` gathers the results with ORDER BY, DISTINCT and
//! FILTER, and another function builds the document.

use super::build::{call, called};
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName,
};
use functions::json::gather::{ARRAYS, ITEM, MEMBER, OBJECTS};

pub(super) fn rewrite(expr: &mut Expr) {
    let (of_row, of_all) = match called(expr).as_deref() {
        Some("json_agg") => (ITEM, ARRAYS[0]),
        Some("jsonb_agg") => (ITEM, ARRAYS[1]),
        Some("json_object_agg") => (MEMBER, OBJECTS[0]),
        Some("jsonb_object_agg") => (MEMBER, OBJECTS[1]),
        _ => return,
    };
    let Expr::Function(function) = expr else { return };
    let FunctionArguments::List(list) = &mut function.args else { return };
    let arguments = list.args.iter().map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Some(argument.clone()),
        _ => None,
    });
    let Some(arguments) = arguments.collect::<Option<Vec<Expr>>>() else { return };
    let gathered = call(of_row, arguments);
    list.args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(gathered))];
    function.name = ObjectName::from(vec![Ident::new("array_agg")]);
    *expr = call(of_all, vec![expr.clone()]);
}
