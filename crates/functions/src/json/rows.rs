//! Set-returning functions, most of them on JSON. Each column is a function that returns an array, which the
//! engine expands to rows (`lowering`).

use super::Kind;
use super::arguments::{document, strict};
use crate::row_function::{Row, typed_function};
use datafusion::logical_expr::ScalarUDF;
use store::catalog::SqlType;
use values::cells::Cell;
use values::error::{Error, Result};
use values::json::access;
use values::json::invalid;
use values::json::raw::{Value, elements, entries};

/// A set-returning function.
pub struct RowsFunction {
    /// The function's name.
    pub name: &'static str,
    /// The columns of its rows.
    pub columns: &'static [RowsColumn],
}

/// A column of a set-returning function.
pub struct RowsColumn {
    /// The column's name; `None` for the name of the function.
    pub name: Option<&'static str>,
    /// The function that returns the values as an array.
    pub values: &'static str,
    /// The function that restores the type of a value, which the engine loses when it expands the array.
    pub marker: Option<&'static str>,
}

/// The set-returning functions.
pub const ROWS_FUNCTIONS: [RowsFunction; 15] = [
    rows("regexp_matches", &[unnamed("regexp_matches_lists")]),
    rows("regexp_split_to_table", &[unnamed("regexp_split_to_array")]),
    rows("string_to_table", &[unnamed("string_to_array")]),
    rows("json_array_elements", &[json("value", "json_elements")]),
    rows("jsonb_array_elements", &[jsonb("value", "jsonb_elements")]),
    rows("json_array_elements_text", &[text("value", "json_elements_text")]),
    rows("jsonb_array_elements_text", &[text("value", "jsonb_elements_text")]),
    rows("json_object_keys", &[unnamed("json_keys")]),
    rows("jsonb_object_keys", &[unnamed("jsonb_keys")]),
    rows("json_each", &[text("key", "json_each_keys"), json("value", "json_each_values")]),
    rows("jsonb_each", &[text("key", "jsonb_each_keys"), jsonb("value", "jsonb_each_values")]),
    rows("json_each_text", &[text("key", "json_each_keys"), text("value", "json_each_texts")]),
    rows(
        "jsonb_each_text",
        &[text("key", "jsonb_each_text_keys"), text("value", "jsonb_each_texts")],
    ),
    rows("jsonb_path_query", &[PATH_ITEM]),
    rows("jsonb_path_query_tz", &[PATH_ITEM]),
];

/// What a JSON path finds.
const PATH_ITEM: RowsColumn =
    RowsColumn { name: None, values: super::paths::ITEMS, marker: Some("text_is_jsonb") };

const fn rows(name: &'static str, columns: &'static [RowsColumn]) -> RowsFunction {
    RowsFunction { name, columns }
}

const fn unnamed(values: &'static str) -> RowsColumn {
    RowsColumn { name: None, values, marker: None }
}

const fn text(name: &'static str, values: &'static str) -> RowsColumn {
    RowsColumn { name: Some(name), values, marker: None }
}

const fn json(name: &'static str, values: &'static str) -> RowsColumn {
    RowsColumn { name: Some(name), values, marker: Some("text_is_json") }
}

const fn jsonb(name: &'static str, values: &'static str) -> RowsColumn {
    RowsColumn { name: Some(name), values, marker: Some("text_is_jsonb") }
}

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    let of_kind = |kind: Kind| {
        let name = |json, jsonb| kind.name(json, jsonb);
        vec![
            elements_function(kind, name("json_elements", "jsonb_elements"), false),
            elements_function(kind, name("json_elements_text", "jsonb_elements_text"), true),
            members_function(kind, name("json_keys", "jsonb_keys"), Part::Key, no_keys),
            members_function(kind, name("json_each_keys", "jsonb_each_keys"), Part::Key, no_each),
            members_function(
                kind,
                name("json_each_values", "jsonb_each_values"),
                Part::Value,
                no_each,
            ),
            members_function(
                kind,
                name("json_each_texts", "jsonb_each_texts"),
                Part::Text,
                no_each_text,
            ),
            typed_function(name("text_is_json", "text_is_jsonb"), 1..=1, kind.sql_type(), |row| {
                Ok(row.text(0).into())
            }),
        ]
    };
    let mut all: Vec<ScalarUDF> = Kind::ALL.into_iter().flat_map(of_kind).collect();
    all.push(members_function(Kind::Jsonb, "jsonb_each_text_keys", Part::Key, no_each_text));
    all
}

fn elements_function(kind: Kind, name: &'static str, as_text: bool) -> ScalarUDF {
    let called = match (kind, as_text) {
        (_, false) => kind.name("json_array_elements", "jsonb_array_elements"),
        (_, true) => kind.name("json_array_elements_text", "jsonb_array_elements_text"),
    };
    typed_function(
        name,
        1..=1,
        SqlType::Array(Box::new(SqlType::Text)),
        strict(move |row| {
            let document = document(row, 0, kind)?;
            let Value::Array(array) = Value::of(&document) else {
                return Err(no_array(kind, called, Value::of(&document)));
            };
            let values = elements(array).map(|element| {
                if as_text {
                    Ok(access::text(element)?.map(String::from))
                } else {
                    Ok(Some(element.to_owned()))
                }
            });
            Ok(values.collect::<Result<Vec<_>>>()?.into())
        }),
    )
}

fn no_array(kind: Kind, called: &str, value: Value<'_>) -> Error {
    let scalar = value.is_scalar();
    invalid(match kind {
        Kind::Json if scalar => format!("cannot call {called} on a scalar"),
        Kind::Json => format!("cannot call {called} on a non-array"),
        Kind::Jsonb if scalar => "cannot extract elements from a scalar".to_owned(),
        Kind::Jsonb => "cannot extract elements from an object".to_owned(),
    })
}

#[derive(Clone, Copy)]
enum Part {
    Key,
    Value,
    Text,
}

fn members_function(
    kind: Kind,
    name: &'static str,
    part: Part,
    refusal: fn(Kind, bool) -> String,
) -> ScalarUDF {
    let body = move |row: &Row<'_>| -> Result<Cell> {
        let document = document(row, 0, kind)?;
        let value = Value::of(&document);
        let Value::Object(object) = value else {
            return Err(invalid(refusal(kind, value.is_scalar())));
        };
        let parts = entries(object).map(|member| {
            let (key, value) = member?;
            Ok(match part {
                Part::Key => Some(key.into_owned()),
                Part::Value => Some(value.to_owned()),
                Part::Text => access::text(value)?.map(String::from),
            })
        });
        Ok(parts.collect::<Result<Vec<_>>>()?.into())
    };
    typed_function(name, 1..=1, SqlType::Array(Box::new(SqlType::Text)), strict(body))
}

fn no_keys(kind: Kind, is_scalar: bool) -> String {
    let called = kind.name("json_object_keys", "jsonb_object_keys");
    format!("cannot call {called} on {}", if is_scalar { "a scalar" } else { "an array" })
}

fn no_each(kind: Kind, is_scalar: bool) -> String {
    refused(kind, "jsonb_each", is_scalar)
}

fn no_each_text(kind: Kind, is_scalar: bool) -> String {
    refused(kind, "jsonb_each_text", is_scalar)
}

fn refused(kind: Kind, called: &str, is_scalar: bool) -> String {
    match kind {
        Kind::Jsonb => format!("cannot call {called} on a non-object"),
        Kind::Json if is_scalar => "cannot deconstruct a scalar".to_owned(),
        Kind::Json => "cannot deconstruct an array as an object".to_owned(),
    }
}
