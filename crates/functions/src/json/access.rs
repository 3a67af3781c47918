//! Access to parts of a value: `->`, `->>`, `#>`, `#>>`, `@>`, `?`, `json_typeof`, `json_array_length`.

use super::arguments::{document, strict, texts, texts_from};
use super::{ARGUMENTS_MAX, Kind};
use crate::row_function::{Row, typed_function};
use datafusion::logical_expr::ScalarUDF;
use store::catalog::SqlType;
use values::cells::Cell;
use values::error::Result;
use values::json::raw::{Value, elements};
use values::json::{access, contain, invalid};

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    let mut all: Vec<ScalarUDF> = Kind::ALL.into_iter().flat_map(of_both).collect();
    all.extend(of_jsonb());
    all
}

fn of_both(kind: Kind) -> Vec<ScalarUDF> {
    let part = |name, arguments, find: Find| {
        typed_function(
            name,
            arguments,
            kind.sql_type(),
            strict(move |row| {
                let document = document(row, 0, kind)?;
                Ok(find(&document, row)?.into())
            }),
        )
    };
    let text = |name, arguments, find: Find| {
        typed_function(
            name,
            arguments,
            SqlType::Text,
            strict(move |row| {
                let document = document(row, 0, kind)?;
                let found = find(&document, row)?.map(access::text).transpose()?.flatten();
                Ok(found.map(String::from).into())
            }),
        )
    };
    let any = 1..=ARGUMENTS_MAX;
    vec![
        part(kind.name("json_object_field", "jsonb_object_field"), 2..=2, field),
        text(kind.name("json_object_field_text", "jsonb_object_field_text"), 2..=2, field),
        part(kind.name("json_array_element", "jsonb_array_element"), 2..=2, element_of(kind)),
        text(
            kind.name("json_array_element_text", "jsonb_array_element_text"),
            2..=2,
            element_of(kind),
        ),
        part(kind.name("json_extract_path_op", "jsonb_extract_path_op"), 2..=2, at_array),
        text(kind.name("json_extract_path_text_op", "jsonb_extract_path_text_op"), 2..=2, at_array),
        part(kind.name("json_extract_path", "jsonb_extract_path"), any.clone(), at_path),
        text(kind.name("json_extract_path_text", "jsonb_extract_path_text"), any, at_path),
        typed_function(
            kind.name("json_array_length", "jsonb_array_length"),
            1..=1,
            SqlType::Integer,
            strict(move |row| length(&document(row, 0, kind)?)),
        ),
        typed_function(
            kind.name("json_typeof", "jsonb_typeof"),
            1..=1,
            SqlType::Text,
            strict(move |row| Ok(Value::of(&document(row, 0, kind)?).kind().into())),
        ),
    ]
}

/// A predicate on the arguments of a row.
type Test = Box<dyn Fn(&Row<'_>) -> Result<Cell> + Send + Sync>;

/// Finds a part of a document by a function's other arguments.
type Find = for<'a> fn(&'a str, &Row<'_>) -> Result<Option<&'a str>>;

fn field<'a>(document: &'a str, row: &Row<'_>) -> Result<Option<&'a str>> {
    access::field(document, row.text(1).unwrap_or_default())
}

fn element_of(kind: Kind) -> Find {
    match kind {
        Kind::Json => element,
        Kind::Jsonb => element_or_scalar,
    }
}

fn element<'a>(document: &'a str, row: &Row<'_>) -> Result<Option<&'a str>> {
    Ok(row.number(1).and_then(|index| access::element(document, index)))
}

/// In PostgreSQL a `jsonb` scalar is an array of one element.
fn element_or_scalar<'a>(document: &'a str, row: &Row<'_>) -> Result<Option<&'a str>> {
    match (Value::of(document).is_scalar(), row.number(1)) {
        (true, Some(0 | -1)) => Ok(Some(document)),
        _ => element(document, row),
    }
}

fn at_array<'a>(document: &'a str, row: &Row<'_>) -> Result<Option<&'a str>> {
    access::at_path(document, &texts(row, 1)?)
}

fn at_path<'a>(document: &'a str, row: &Row<'_>) -> Result<Option<&'a str>> {
    access::at_path(document, &texts_from(row, 1))
}

fn length(document: &str) -> Result<Cell> {
    match Value::of(document) {
        Value::Array(array) => Ok(i64::try_from(elements(array).count()).ok().into()),
        Value::Object(_) => Err(invalid("cannot get array length of a non-array")),
        _ => Err(invalid("cannot get array length of a scalar")),
    }
}

fn of_jsonb() -> Vec<ScalarUDF> {
    let two = |row: &Row<'_>, test: fn(&str, &str) -> Result<bool>| -> Result<Cell> {
        Ok(test(&document(row, 0, Kind::Jsonb)?, &document(row, 1, Kind::Jsonb)?)?.into())
    };
    let keys = |row: &Row<'_>, all: bool| -> Result<Cell> {
        let document = document(row, 0, Kind::Jsonb)?;
        for key in texts(row, 1)?.into_iter().flatten() {
            if contain::exists(&document, &key)? != all {
                return Ok((!all).into());
            }
        }
        Ok(all.into())
    };
    let test = |name, body: Test| typed_function(name, 2..=2, SqlType::Boolean, strict(body));
    vec![
        test("jsonb_contains", Box::new(move |row| two(row, contain::contains))),
        test("jsonb_contained", Box::new(move |row| two(row, |a, b| contain::contains(b, a)))),
        test("jsonb_exists_any", Box::new(move |row| keys(row, false))),
        test("jsonb_exists_all", Box::new(move |row| keys(row, true))),
        test(
            "jsonb_exists",
            Box::new(|row| {
                let key = row.text(1).unwrap_or_default();
                Ok(contain::exists(&document(row, 0, Kind::Jsonb)?, key)?.into())
            }),
        ),
    ]
}
