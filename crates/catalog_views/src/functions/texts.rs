//! `format`, `array_upper` and other functions of text and arrays.

use super::formatted;
use crate::session_context::SessionContext;
use datafusion::arrow::array::Array;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, function};
use functions::text::like_escapes::with_backslashes;
use std::sync::Arc;
use values::cells::Form;

/// Maximum number of arguments of `format`.
const ARGUMENTS_MAX: usize = 100;

/// The functions.
pub(super) fn all(_: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    vec![
        function(SUBSCRIPTS, 2..=2, Form::Numbers, |row| Ok(subscripts(row).into())),
        function("like_escape", 2..=2, Form::Text, |row| {
            let escape = row.text(1).and_then(|text| text.chars().next());
            Ok(row.text(0).zip(escape).map(|(text, c)| with_backslashes(text, c)).into())
        }),
        function("format", 1..=ARGUMENTS_MAX, Form::Text, formatted::format),
        function("array_upper", 2..=2, Form::Integer, |row| Ok(upper(row).into())),
        function("array_lower", 2..=2, Form::Integer, |row| Ok(upper(row).map(|_| 1_i64).into())),
    ]
}

/// The name of the function that returns the subscripts of an array as an array. Its second
/// argument is the first subscript.
pub const SUBSCRIPTS: &str = "array_subscripts";

fn subscripts(row: &Row<'_>) -> Option<Vec<i64>> {
    let count = i64::try_from(row.list(0)?.len()).ok()?;
    let first = row.number(1)?;
    Some((first..first + count).collect())
}

/// The last subscript of an array of one dimension; `None` for empty arrays, as in PostgreSQL.
fn upper(row: &Row<'_>) -> Option<i64> {
    let elements =
        row.list(0).filter(|elements| !elements.is_empty() && row.number(1) == Some(1))?;
    i64::try_from(elements.len()).ok()
}
