//! Assignment: a computed column becomes a table's column, or the statement fails.
//!
//! Casts are checked, text must fit its declared length, uuid and json must be what they say.

use super::array_literal;
use crate::error::{Error, Result, SqlState};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, StringViewArray, StringViewBuilder,
};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::DataType;
use std::borrow::Cow;
use std::sync::Arc;
use store::catalog::{Column, SqlType};

/// The values as the column holds them.
///
/// # Errors
/// 22001, 22003, 22007, 22P02: the value does not fit; the message names column and value.
pub(crate) fn assign(array: &ArrayRef, column: &Column) -> Result<ArrayRef> {
    let array = input(array, &column.sql_type).map_err(|error| named(error, column))?;
    match &column.sql_type {
        SqlType::Varchar(Some(limit)) => {
            refuse_longer(&array, *limit, column)?;
            Ok(array)
        }
        SqlType::Char(limit) => {
            let array = rewrite(array, |text| Ok(Cow::Borrowed(text.trim_end_matches(' '))))?;
            refuse_longer(&array, *limit, column)?;
            Ok(array)
        }
        _ => Ok(array),
    }
}

/// The values in a type's form, lengths apart.
///
/// # Errors
/// 22003, 22007, 22P02: a value is not of the type.
pub(crate) fn input(array: &ArrayRef, sql_type: &SqlType) -> Result<ArrayRef> {
    let array = cast_to(array, sql_type)?;
    match sql_type {
        SqlType::Uuid => rewrite(array, uuid),
        SqlType::Json => {
            for text in array.as_string_view().iter().flatten() {
                refuse_bad_json(text)?;
            }
            Ok(array)
        }
        _ => Ok(array),
    }
}

fn named(error: Error, column: &Column) -> Error {
    match error.detail() {
        Some(_) => error,
        None => error.with_detail(format!("Column \"{}\" is {}.", column.name, column.sql_type)),
    }
}

fn cast_to(array: &ArrayRef, sql_type: &SqlType) -> Result<ArrayRef> {
    let to = sql_type.arrow();
    if *array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    if to == DataType::BinaryView && is_text(array.data_type()) {
        return bytes_of_text(array);
    }
    if is_text(array.data_type()) && to == DataType::Boolean {
        return booleans_of_text(array);
    }
    if let (true, SqlType::Array(item)) = (is_text(array.data_type()), sql_type) {
        return array_literal::lists_of_text(&text_view(array)?, item);
    }
    if !is_assignable(array.data_type(), &to) {
        let message = format!("a value of type {} does not fit", array.data_type());
        return Err(Error::new(SqlState::DatatypeMismatch, message));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    Ok(cast_with_options(array, &to, &options)?)
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// PostgreSQL's assignment casts: between numbers, from text literals, to text, between times.
fn is_assignable(from: &DataType, to: &DataType) -> bool {
    let boolean = |t: &DataType| *t == DataType::Boolean;
    if boolean(from) != boolean(to) && !is_text(from) && !is_text(to) && !from.is_null() {
        return false;
    }
    !(from.is_numeric() && to.is_temporal() || from.is_temporal() && to.is_numeric())
}

fn booleans_of_text(array: &ArrayRef) -> Result<ArrayRef> {
    let text = text_view(array)?;
    let parse = |text: &str| match text.trim().to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "on" | "1" => Ok(true),
        "f" | "false" | "n" | "no" | "off" | "0" => Ok(false),
        _ => Err(invalid("boolean", text)),
    };
    let values = text.as_string_view().iter().map(|value| value.map(parse).transpose());
    let values = values.collect::<Result<Vec<Option<bool>>>>()?;
    Ok(Arc::new(datafusion::arrow::array::BooleanArray::from(values)))
}

fn text_view(array: &ArrayRef) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    Ok(cast_with_options(array, &DataType::Utf8View, &options)?)
}

/// `\x` and hexadecimal digits, or the text's own bytes.
fn bytes_of_text(array: &ArrayRef) -> Result<ArrayRef> {
    let text = text_view(array)?;
    let parse = |text: &str| match text.strip_prefix("\\x") {
        None => Ok(text.as_bytes().to_vec()),
        Some(digits) if digits.len() % 2 == 0 && digits.is_ascii() => (0..digits.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&digits[at..at + 2], 16))
            .collect::<Result<Vec<u8>, _>>()
            .map_err(|_| invalid("bytea", text)),
        Some(_) => Err(invalid("bytea", text)),
    };
    let values = text.as_string_view().iter().map(|value| value.map(parse).transpose());
    let values = values.collect::<Result<Vec<Option<Vec<u8>>>>>()?;
    Ok(Arc::new(values.into_iter().collect::<BinaryViewArray>()))
}

fn invalid(type_name: &str, text: &str) -> Error {
    let message = format!("invalid input syntax for type {type_name}: \"{text}\"");
    Error::new(SqlState::InvalidTextRepresentation, message)
}

fn refuse_longer(array: &ArrayRef, limit: u32, column: &Column) -> Result<()> {
    let views = array.as_string_view();
    let fits = views.views().iter().all(|view| *view as u32 <= limit);
    if fits {
        return Ok(());
    }
    match views.iter().flatten().find(|text| text.chars().count() > limit as usize) {
        None => Ok(()),
        Some(text) => Err(Error::new(
            SqlState::StringDataRightTruncation,
            format!("value too long for type {}", column.sql_type),
        )
        .with_detail(format!("Column \"{}\", value \"{}\".", column.name, shortened(text)))),
    }
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.chars().count() > SHOWN {
        true => format!("{}...", text.chars().take(SHOWN).collect::<String>()),
        false => text.to_owned(),
    }
}

/// Changes texts, and keeps the array where none changes.
fn rewrite(array: ArrayRef, change: impl Fn(&str) -> Result<Cow<'_, str>>) -> Result<ArrayRef> {
    let texts: &StringViewArray = array.as_string_view();
    let mut changed = false;
    for text in texts.iter().flatten() {
        changed |= *change(text)? != *text;
    }
    if !changed {
        return Ok(array);
    }
    let mut builder = StringViewBuilder::with_capacity(texts.len());
    for text in texts {
        match text {
            Some(text) => builder.append_value(change(text)?),
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

fn uuid(text: &str) -> Result<Cow<'_, str>> {
    let parsed = uuid::Uuid::parse_str(text.trim()).map_err(|_| invalid("uuid", text))?;
    Ok(Cow::Owned(parsed.hyphenated().to_string()))
}

fn refuse_bad_json(text: &str) -> Result<()> {
    serde_json::from_str::<serde::de::IgnoredAny>(text)
        .map(drop)
        .map_err(|error| invalid("json", &shortened(text)).with_detail(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::catalog::ColumnId;

    fn column(sql_type: SqlType) -> Column {
        Column {
            id: ColumnId(0),
            name: "c".to_owned(),
            sql_type,
            nullable: true,
            default: None,
            identity: None,
            hidden: false,
            missing: None,
            comment: None,
        }
    }

    fn text(value: &str) -> ArrayRef {
        Arc::new(StringViewArray::from(vec![Some(value), None]))
    }

    fn state_of(value: &str, sql_type: SqlType) -> Option<SqlState> {
        assign(&text(value), &column(sql_type)).err().map(|error| error.state())
    }

    #[test]
    fn values_that_do_not_fit_are_refused_by_kind() {
        assert_eq!(state_of("12", SqlType::Integer), None);
        assert_eq!(state_of("x", SqlType::Integer), Some(SqlState::InvalidTextRepresentation));
        assert_eq!(state_of("abcd", SqlType::Varchar(Some(4))), None);
        let long = SqlState::StringDataRightTruncation;
        assert_eq!(state_of("abcde", SqlType::Varchar(Some(4))), Some(long));
        assert_eq!(state_of("ab   ", SqlType::Char(2)), None);
        assert_eq!(state_of("äöüß", SqlType::Varchar(Some(4))), None, "characters, not bytes");
        assert_eq!(state_of("{\"a\": [1]}", SqlType::Json), None);
        assert_eq!(state_of("{a}", SqlType::Json), Some(SqlState::InvalidTextRepresentation));
        assert_eq!(state_of("2026-02-30", SqlType::Date), Some(SqlState::InvalidDatetimeFormat));
        assert_eq!(state_of("\\xzz", SqlType::Bytea), Some(SqlState::InvalidTextRepresentation));
        assert_eq!(state_of("maybe", SqlType::Boolean), Some(SqlState::InvalidTextRepresentation));
    }

    #[test]
    fn uuids_are_kept_in_one_form() {
        let array = assign(&text("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"), &column(SqlType::Uuid));
        let array = array.expect("a uuid");
        assert_eq!(array.as_string_view().value(0), "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
        assert!(array.is_null(1));
    }
}
