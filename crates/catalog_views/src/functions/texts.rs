//! `format`, `array_upper` and other functions of text and arrays.

use super::formatted;
use crate::session_context::SessionContext;
use datafusion::arrow::array::{Array, AsArray};
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
        function(OPTION_NAMES, 1..=1, Form::Texts, |row| Ok(options(row, |(name, _)| name).into())),
        function(OPTION_VALUES, 1..=1, Form::Texts, |row| {
            Ok(options(row, |(_, value)| value).into())
        }),
        function("array_lower", 2..=2, Form::Integer, |row| Ok(upper(row).map(|_| 1_i64).into())),
    ]
}

/// The name of the function that returns the subscripts of an array as an array. Its second
/// argument is the first subscript.
pub const SUBSCRIPTS: &str = "array_subscripts";

/// The functions that return the names and the values of options `name=value`.
pub const OPTION_NAMES: &str = "pg_option_names";
/// The values, as of [`OPTION_NAMES`].
pub const OPTION_VALUES: &str = "pg_option_values";

fn options(
    row: &Row<'_>,
    part: impl Fn((Option<String>, Option<String>)) -> Option<String>,
) -> Option<Vec<Option<String>>> {
    let items = row.list(0)?;
    let items = items.as_string_view_opt()?;
    let split = |item: &str| match item.split_once('=') {
        Some((name, value)) => (Some(name.to_owned()), Some(value.to_owned())),
        None => (Some(item.to_owned()), None),
    };
    Some(items.iter().flatten().map(|item| part(split(item))).collect())
}

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
