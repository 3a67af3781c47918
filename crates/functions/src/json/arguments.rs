//! The arguments of JSON functions: documents, keys and paths.

use super::Kind;
use crate::row_function::Row;
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use std::borrow::Cow;
use store::catalog::SqlType;
use values::cells::Cell;
use values::error::Result;
use values::input::array;
use values::json::check::check;
use values::json::normal::normal;

/// Makes a body strict: NULL if any argument is NULL.
pub(super) fn strict(
    body: impl Fn(&Row<'_>) -> Result<Cell> + Send + Sync,
) -> impl Fn(&Row<'_>) -> Result<Cell> + Send + Sync {
    move |row| if row.has_null() { Ok(Cell::Null) } else { body(row) }
}

/// An argument as `json` or `jsonb`. An argument of another type is parsed.
///
/// # Errors
/// 22P02: the text is no JSON.
pub(super) fn document<'a>(row: &'a Row<'_>, index: usize, kind: Kind) -> Result<Cow<'a, str>> {
    let text = row.text(index).unwrap_or("null");
    let known = row.value(index).map(|(sql_type, _, _)| sql_type);
    match (kind, known) {
        (Kind::Json, Some(SqlType::Json | SqlType::Jsonb))
        | (Kind::Jsonb, Some(SqlType::Jsonb)) => Ok(Cow::Borrowed(text)),
        (Kind::Json, _) => check(text).map(|()| Cow::Borrowed(text)),
        (Kind::Jsonb, _) => normal(text).map(Cow::Owned),
    }
}

/// An array of text, or an array literal.
///
/// # Errors
/// 22P02: malformed array literal.
pub(super) fn texts(row: &Row<'_>, index: usize) -> Result<Vec<Option<String>>> {
    if let Some(list) = row.list(index) {
        return Ok(texts_of(&list));
    }
    let mut steps = Vec::new();
    array::elements(row.text(index).unwrap_or_default(), &mut steps)?;
    Ok(steps)
}

/// Values as text.
pub(super) fn texts_of(values: &ArrayRef) -> Vec<Option<String>> {
    use datafusion::arrow::array::AsArray;
    match cast(values, &DataType::Utf8View) {
        Ok(texts) => texts.as_string_view().iter().map(|text| text.map(str::to_owned)).collect(),
        Err(_) => vec![None; values.len()],
    }
}

/// All arguments from `first` on, as text.
pub(super) fn texts_from(row: &Row<'_>, first: usize) -> Vec<Option<String>> {
    (first..row.count()).map(|index| row.text(index).map(str::to_owned)).collect()
}
