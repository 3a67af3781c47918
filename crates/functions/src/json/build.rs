//! Functions that build JSON: `to_json`, `json_build_object`, `json_build_array`, `json_object`.

use super::arguments::{texts, texts_of};
use super::write::{BY_LINE, SHORT, write};
use super::{ARGUMENTS_MAX, Kind};
use crate::row_function::{Row, typed_function};
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::ScalarUDF;
use store::catalog::SqlType;
use values::cells::Cell;
use values::error::{Error, Result, SqlState};
use values::json::invalid;
use values::json::normal::of_json;
use values::json::string::quote;

/// The function that builds the object of a row from alternating names and values (`lowering`).
pub const ROW: &str = "json_of_row";

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    let mut all: Vec<ScalarUDF> = Kind::ALL.into_iter().flat_map(of_both).collect();
    let pretty =
        |row: &Row<'_>| value(row, if row.flag(1) == Some(true) { BY_LINE } else { SHORT });
    all.push(builder("array_to_json", 1..=2, Kind::Json, pretty));
    all.push(builder("row_to_json", 1..=2, Kind::Json, move |row| {
        check_is_row(row)?;
        pretty(row)
    }));
    all.push(builder(ROW, 0..=usize::MAX, Kind::Json, |row| object(row, SHORTEST).map(Some)));
    all
}

/// A row is JSON that was built from it, or an Arrow struct.
fn check_is_row(row: &Row<'_>) -> Result<()> {
    match row.value(0) {
        Some((SqlType::Json, ..)) => Ok(()),
        Some((_, array, _))
            if matches!(array.data_type(), DataType::Struct(_) | DataType::Null) =>
        {
            Ok(())
        }
        Some((sql_type, ..)) => {
            let name = values::types::name_without_length(sql_type);
            Err(values::translate::undefined_function("row_to_json", &[name]))
        }
        None => Ok(()),
    }
}

fn of_both(kind: Kind) -> Vec<ScalarUDF> {
    let name = kind.name("json_build_object", "jsonb_build_object");
    vec![
        builder(kind.name("to_json", "to_jsonb"), 1..=1, kind, |row| value(row, SHORT)),
        builder(name, 0..=ARGUMENTS_MAX, kind, move |row| {
            check_keys(row, name, kind)?;
            object(row, ["{", " : ", ", ", "}"]).map(Some)
        }),
        builder(kind.name("json_build_array", "jsonb_build_array"), 0..=ARGUMENTS_MAX, kind, array),
        builder(kind.name("json_object", "jsonb_object"), 1..=2, kind, of_texts),
    ]
}

/// Defines a function whose body returns `json`, or `None` for NULL.
fn builder(
    name: &'static str,
    arguments: std::ops::RangeInclusive<usize>,
    kind: Kind,
    body: impl Fn(&Row<'_>) -> Result<Option<String>> + Send + Sync + 'static,
) -> ScalarUDF {
    typed_function(name, arguments, kind.sql_type(), move |row| {
        let Some(json) = body(row)? else { return Ok(Cell::Null) };
        Ok(match kind {
            Kind::Json => json.into(),
            Kind::Jsonb => of_json(&json)?.into(),
        })
    })
}

fn append(row: &Row<'_>, index: usize, separator: &str, out: &mut String) -> Result<()> {
    match row.value(index) {
        Some((sql_type, array, at)) => write(sql_type, array, at, separator, out),
        None => Ok(()),
    }
}

fn value(row: &Row<'_>, separator: &str) -> Result<Option<String>> {
    let is_null = row.value(0).is_none_or(|(_, array, at)| array.is_null(at));
    if is_null {
        return Ok(None);
    }
    let mut out = String::new();
    append(row, 0, separator, &mut out)?;
    Ok(Some(out))
}

/// The punctuation of a row's object.
pub(super) const SHORTEST: [&str; 4] = ["{", ":", ",", "}"];

/// An object of alternating keys and values, with the given punctuation.
pub(super) fn object(row: &Row<'_>, [open, colon, comma, close]: [&str; 4]) -> Result<String> {
    let mut out = String::from(open);
    for index in (0..row.count()).step_by(2) {
        if index > 0 {
            out.push_str(comma);
        }
        key(row, index, &mut out)?;
        out.push_str(colon);
        append(row, index + 1, SHORT, &mut out)?;
    }
    out.push_str(close);
    Ok(out)
}

/// Appends an argument as a key, always quoted.
pub(super) fn key(row: &Row<'_>, index: usize, out: &mut String) -> Result<()> {
    let start = out.len();
    if let Some((sql_type, array, at)) = row.value(index) {
        if !is_key(sql_type) {
            return Err(invalid("key value must be scalar, not array, composite, or json"));
        }
        write(sql_type, array, at, SHORT, out)?;
    }
    if !out[start..].starts_with('"') {
        out.insert(start, '"');
        out.push('"');
    }
    Ok(())
}

fn is_key(sql_type: &SqlType) -> bool {
    let is_row = sql_type.attributes().is_some();
    !is_row
        && !matches!(
            sql_type,
            SqlType::Json | SqlType::Jsonb | SqlType::Array(_) | SqlType::Other(_)
        )
}

fn check_keys(row: &Row<'_>, name: &str, kind: Kind) -> Result<()> {
    if !row.count().is_multiple_of(2) {
        let hint =
            format!("The arguments of {name}() must consist of alternating keys and values.");
        let message = "argument list must have even number of elements";
        return Err(invalid(message).with_hint(hint));
    }
    for index in (0..row.count()).step_by(2) {
        if row.text(index).is_none() {
            let number = index + 1;
            return Err(match kind {
                Kind::Json => invalid(format!("argument {number} cannot be null"))
                    .with_hint("Object keys should be text."),
                Kind::Jsonb => invalid(format!("argument {number}: key must not be null")),
            });
        }
    }
    Ok(())
}

fn array(row: &Row<'_>) -> Result<Option<String>> {
    let mut out = String::from("[");
    for index in 0..row.count() {
        if index > 0 {
            out.push_str(", ");
        }
        append(row, index, SHORT, &mut out)?;
    }
    out.push(']');
    Ok(Some(out))
}

/// The items of an argument. A lone array of pairs gives the items of all pairs.
fn items(row: &Row<'_>, index: usize) -> Result<Vec<Option<String>>> {
    let list = row.list(index);
    let Some(pairs) = list.as_ref().and_then(|list| list.as_list_opt::<i32>()) else {
        return texts(row, index);
    };
    let is_deeper = matches!(pairs.value_type(), DataType::List(_));
    if is_deeper || row.count() > 1 {
        return Err(subscripts("wrong number of array subscripts"));
    }
    if pairs.iter().flatten().any(|pair| pair.len() != 2) {
        return Err(subscripts("array must have two columns"));
    }
    Ok(pairs.iter().flatten().flat_map(|pair| texts_of(&pair)).collect())
}

fn subscripts(message: &str) -> Error {
    Error::new(SqlState::ArraySubscriptError, message)
}

/// An object of texts: alternating keys and values in one array, or keys and values in two arrays.
fn of_texts(row: &Row<'_>) -> Result<Option<String>> {
    if row.has_null() {
        return Ok(None);
    }
    let first = items(row, 0)?;
    let pairs: Vec<(Option<String>, Option<String>)> = match row.count() {
        1 if first.len() % 2 == 1 => {
            return Err(subscripts("array must have even number of elements"));
        }
        1 => first.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect(),
        _ => {
            let second = items(row, 1)?;
            if first.len() != second.len() {
                return Err(subscripts("mismatched array dimensions"));
            }
            first.into_iter().zip(second).collect()
        }
    };
    let mut out = String::from("{");
    for (index, (key, value)) in pairs.into_iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        let key = key.ok_or_else(|| {
            Error::new(SqlState::NullValueNotAllowed, "null value not allowed for object key")
        })?;
        quote(&key, &mut out);
        out.push_str(" : ");
        match value {
            Some(value) => quote(&value, &mut out),
            None => out.push_str("null"),
        }
    }
    out.push('}');
    Ok(Some(out))
}
