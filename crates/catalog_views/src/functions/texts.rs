//! `format`, `array_upper` and other functions of text and arrays.

use crate::pg_catalog::quote_ident;
use crate::session_context::SessionContext;
use datafusion::arrow::array::Array;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, function};
use functions::text::like_escapes::with_backslashes;
use std::sync::Arc;
use values::cells::Cell;
use values::cells::Form;
use values::{Error, Result, SqlState};

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
        function("format", 1..=ARGUMENTS_MAX, Form::Text, format),
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

/// `format('%s of %I is %L', ...)`, with `%2$s` for the second argument.
fn format(row: &Row<'_>) -> Result<Cell> {
    let Some(pattern) = row.text(0) else { return Ok(Cell::Null) };
    let mut out = String::new();
    let mut rest = pattern;
    let mut next = 1;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (position, after) =
            match (after[..digits].parse::<usize>(), after[digits..].strip_prefix('$')) {
                (Ok(position), Some(after)) => (position, after),
                _ => (next, after),
            };
        next = position + 1;
        let mut characters = after.chars();
        let kind = characters.next();
        if position == 0 || position >= row.count() {
            return Err(invalid("too few arguments for format()"));
        }
        let value = row.text(position);
        match (kind, value) {
            (Some('s'), value) => out.push_str(value.unwrap_or_default()),
            (Some('I'), Some(value)) => out.push_str(&quote_ident(value)),
            (Some('I'), None) => {
                return Err(invalid("null values cannot be formatted as an SQL identifier"));
            }
            (Some('L'), Some(value)) => out.push_str(&super::names::quote_literal(value)),
            (Some('L'), None) => out.push_str("NULL"),
            _ => return Err(invalid("unrecognized format() type specifier")),
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    Ok(out.into())
}

fn invalid(message: &str) -> Error {
    Error::new(SqlState::InvalidParameterValue, message)
}
