//! The values of one column of the rows that `json_to_record`, `json_to_recordset` and those of `jsonb` make of objects.

use super::Kind;
use super::arguments::document;
use crate::row_function::{Row, typed_function};
use datafusion::logical_expr::ScalarUDF;
use store::catalog::SqlType;
use values::cells::Cell;
use values::error::{Error, Result, SqlState};
use values::json::access;
use values::json::invalid;
use values::json::raw::{Value, elements, entries};

/// The form of a column's values: texts that the type of the column reads.
pub const TEXT: &str = "text";
/// The form of a column of JSON: the values as they are.
pub const JSON: &str = "json";
/// The form of a column of arrays: array literals.
pub const ARRAY: &str = "array";

/// The function that returns the values of a column as an array, from a document, a key and a form.
pub fn values_of(function: &str) -> Option<&'static str> {
    FUNCTIONS.iter().find(|(name, ..)| *name == function).map(|(_, values, ..)| *values)
}

/// The functions of SQL, those of their columns, the kind of their document, and whether it is an array of objects.
const FUNCTIONS: [(&str, &str, Kind, bool); 4] = [
    ("json_to_record", "json_record_values", Kind::Json, false),
    ("jsonb_to_record", "jsonb_record_values", Kind::Jsonb, false),
    ("json_to_recordset", "json_recordset_values", Kind::Json, true),
    ("jsonb_to_recordset", "jsonb_recordset_values", Kind::Jsonb, true),
];

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    let of = |(called, name, kind, is_set): (&'static str, &'static str, Kind, bool)| {
        let texts = SqlType::Array(Box::new(SqlType::Text));
        typed_function(name, 3..=3, texts, move |row| match (row.text(0), is_set) {
            (None, true) => Ok(Cell::Null),
            (None, false) => Ok(vec![None].into()),
            (Some(_), false) => Ok(vec![record(row, kind)?].into()),
            (Some(_), true) => Ok(records(row, kind, called)?.into()),
        })
    };
    FUNCTIONS.into_iter().map(of).collect()
}

fn record(row: &Row<'_>, kind: Kind) -> Result<Option<String>> {
    let document = document(row, 0, kind)?;
    let value = Value::of(&document);
    match value {
        Value::Object(object) => member(row, object),
        _ => {
            let what = if value.is_scalar() { "a scalar" } else { "an array" };
            Err(invalid(format!("cannot call populate_composite on {what}")))
        }
    }
}

fn records(row: &Row<'_>, kind: Kind, called: &str) -> Result<Vec<Option<String>>> {
    let document = document(row, 0, kind)?;
    let value = Value::of(&document);
    let Value::Array(array) = value else {
        let what = match (kind, value.is_scalar()) {
            (Kind::Json, true) => "a scalar",
            (Kind::Json, false) => "an object",
            (Kind::Jsonb, _) => "a non-array",
        };
        return Err(invalid(format!("cannot call {called} on {what}")));
    };
    let of = |element| match Value::of(element) {
        Value::Object(object) => member(row, object),
        _ => Err(invalid(format!("argument of {called} must be an array of objects"))),
    };
    elements(array).map(of).collect()
}

/// The value of a key, of which an object may have several.
fn member(row: &Row<'_>, object: &str) -> Result<Option<String>> {
    let (key, form) = (row.text(1).unwrap_or_default(), row.text(2).unwrap_or(TEXT));
    let mut found = None;
    for entry in entries(object) {
        let (name, value) = entry?;
        if name == key {
            found = Some(value);
        }
    }
    let Some(value) = found else { return Ok(None) };
    match (form, Value::of(value)) {
        (_, Value::Null) => Ok(None),
        (JSON, _) => Ok(Some(value.to_owned())),
        (ARRAY, Value::Array(array)) => {
            let mut literal = String::new();
            write_array(array, &mut literal)?;
            Ok(Some(literal))
        }
        (ARRAY, other) if !matches!(other, Value::Text(_)) => {
            let message = "expected JSON array";
            let hint = format!("See the value of key \"{key}\".");
            Err(Error::new(SqlState::InvalidTextRepresentation, message).with_hint(hint))
        }
        _ => Ok(access::text(value)?.map(String::from)),
    }
}

/// Writes a JSON array as an array literal.
fn write_array(array: &str, literal: &mut String) -> Result<()> {
    literal.push('{');
    for (place, element) in elements(array).enumerate() {
        if place > 0 {
            literal.push(',');
        }
        match Value::of(element) {
            Value::Null => literal.push_str("NULL"),
            Value::Array(inner) => write_array(inner, literal)?,
            _ => {
                literal.push('"');
                for letter in access::text(element)?.unwrap_or_default().chars() {
                    if matches!(letter, '"' | '\\') {
                        literal.push('\\');
                    }
                    literal.push(letter);
                }
                literal.push('"');
            }
        }
    }
    literal.push('}');
    Ok(())
}
