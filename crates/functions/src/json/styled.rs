//! The session's `intervalstyle`, `bytea_output` and `timezone` in values that are converted to JSON.
//!
//! Functions do not know the session. If the style is not the default, arguments are cast to text first.

use super::build::ROW;
use super::gather::{ITEM, MEMBER, ROW_ITEM};
use crate::casts::{conversion, output};
use datafusion::common::DFSchema;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::ScalarFunction;
use store::catalog::SqlType;
use values::style::Style;
use values::types::of_expression;

/// The functions that convert any value to JSON.
const WRITERS: [&str; 12] = [
    "to_json",
    "to_jsonb",
    "array_to_json",
    "row_to_json",
    "json_build_array",
    "jsonb_build_array",
    "json_build_object",
    "jsonb_build_object",
    ROW,
    ITEM,
    ROW_ITEM,
    MEMBER,
];

/// Whether a function converts any value to JSON.
pub(super) fn writes(call: &ScalarFunction) -> bool {
    WRITERS.contains(&call.name())
}

/// The call with its arguments in the style.
pub(super) fn of_call(
    mut call: ScalarFunction,
    schema: &DFSchema,
    style: Style,
) -> Transformed<Expr> {
    if style == Style::default() {
        return Transformed::no(Expr::ScalarFunction(call));
    }
    let changed = style_all(&mut call.args, schema, style);
    Transformed::new_transformed(Expr::ScalarFunction(call), changed)
}

/// Converts values in the style, also those of rows; returns whether there was any.
fn style_all(values: &mut [Expr], schema: &DFSchema, style: Style) -> bool {
    let mut changed = false;
    for arg in values {
        if let Expr::ScalarFunction(row) = arg
            && row.name() == "record"
        {
            changed |= style_all(&mut row.args, schema, style);
            continue;
        }
        let known = of_expression(arg, schema);
        if let Some(of_items) = known.as_ref().filter(|_| !style.zone.is_utc()).and_then(is_moments)
        {
            let written = output::for_json(style, of_items);
            *arg = written.call(vec![std::mem::take(arg)]);
            changed = true;
        } else if let Some(text) = known.as_ref().and_then(as_text) {
            let conversion = conversion::to(&text, &text.arrow(), style);
            *arg = conversion.call(vec![std::mem::take(arg)]);
            changed = true;
        }
    }
    changed
}

/// Whether a type is that of arrays of timestamps with time zone, or of one; `None` for other types.
fn is_moments(sql_type: &SqlType) -> Option<bool> {
    match sql_type {
        SqlType::TimestampTz => Some(false),
        SqlType::Array(item) => is_moments(item).map(|_| true),
        _ => None,
    }
}

/// The text type that replaces a type; `None` if its format does not depend on the style.
fn as_text(sql_type: &SqlType) -> Option<SqlType> {
    match sql_type {
        SqlType::Interval | SqlType::Bytea => Some(SqlType::Text),
        SqlType::Array(item) => as_text(item).map(|text| SqlType::Array(Box::new(text))),
        _ => None,
    }
}
