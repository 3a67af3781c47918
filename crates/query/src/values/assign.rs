//! Assignment: a computed column becomes a table's column, or the statement fails.
//!
//! Casts are checked, text must fit its declared length, uuid and json must be what they say.

use crate::values::array_literal;
use crate::values::error::{Error, Result, SqlState};
use crate::values::input::{bytes, interval, moment, numerics};
use crate::values::json;
pub(crate) use crate::values::lengths::{Excess, fit};
use crate::values::translate::{refused_text, type_name};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, Int64Array, IntervalMonthDayNanoArray,
    StringViewArray, StringViewBuilder,
};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, Float64Type};
use std::borrow::Cow;
use std::sync::Arc;
use store::catalog::{Column, SqlType};

/// The values as the column holds them.
///
/// # Errors
/// 22001, 22003, 22007, 22P02: the value does not fit; the message names column and value.
pub(crate) fn assign(array: &ArrayRef, column: &Column) -> Result<ArrayRef> {
    let from = array.data_type();
    // No number or date becomes JSON by itself.
    let is_json = matches!(column.sql_type, SqlType::Json | SqlType::Jsonb) && !from.is_null();
    if !is_text(from) && (is_json || !is_assignable(from, &column.sql_type.arrow())) {
        let message = format!(
            "column \"{}\" is of type {} but expression is of type {}",
            column.name,
            column.sql_type,
            type_name(from)
        );
        return Err(Error::new(SqlState::DatatypeMismatch, message)
            .with_hint("You will need to rewrite or cast the expression."));
    }
    input(array, &column.sql_type)
        .and_then(|array| fit(array, &column.sql_type, Excess::Refuse))
        .map_err(|error| named(error, column))
}

/// The values in a type's form, lengths apart.
///
/// # Errors
/// 22003, 22007, 22P02: a value is not of the type.
pub(crate) fn input(array: &ArrayRef, sql_type: &SqlType) -> Result<ArrayRef> {
    let array = cast_to(array, sql_type)?;
    match sql_type {
        SqlType::Uuid => rewrite(array, uuid),
        // Trailing blanks do not count, and are not kept.
        SqlType::Char(_) => rewrite(array, |text| Ok(Cow::Borrowed(text.trim_end_matches(' ')))),
        SqlType::Json => {
            array.as_string_view().iter().flatten().try_for_each(json::check::check)?;
            Ok(array)
        }
        SqlType::Jsonb => {
            let normal = |text: Option<&str>| text.map(json::normal::normal).transpose();
            let texts = array.as_string_view().iter().map(normal);
            Ok(Arc::new(texts.collect::<Result<StringViewArray>>()?))
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
        let message = format!("cannot cast type {} to {sql_type}", type_name(array.data_type()));
        return Err(Error::new(SqlState::CannotCoerce, message));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    if !is_text(array.data_type()) {
        return match to.is_signed_integer() {
            true => Ok(cast_with_options(&whole_numbers(array)?, &to, &options)?),
            false => Ok(cast_with_options(array, &to, &options)?),
        };
    }
    match sql_type {
        SqlType::Interval => intervals_of_text(array),
        SqlType::Date | SqlType::Time | SqlType::Timestamp | SqlType::TimestampTz => {
            moments_of_text(array, sql_type)
        }
        SqlType::Numeric { precision, scale } => numerics::of_text(array, *precision, *scale),
        _ => Ok(cast_with_options(array, &to, &options)?),
    }
}

/// Numbers without anything behind the point: numerics rounded away from zero, floating-point numbers to the even one of
/// two neighbours.
fn whole_numbers(array: &ArrayRef) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    Ok(match array.data_type() {
        DataType::Decimal128(precision, scale) if *scale > 0 => {
            cast_with_options(array, &DataType::Decimal128(*precision, 0), &options)?
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let array = cast_with_options(array, &DataType::Float64, &options)?;
            let values = array.as_primitive::<Float64Type>();
            Arc::new(values.unary::<_, Float64Type>(f64::round_ties_even))
        }
        _ => Arc::clone(array),
    })
}

fn intervals_of_text(array: &ArrayRef) -> Result<ArrayRef> {
    let text = text_view(array)?;
    let parse =
        |text: &str| interval::parse(text).ok_or_else(|| bad_moment(&SqlType::Interval, text));
    let values = text.as_string_view().iter().map(|value| value.map(parse).transpose());
    let values = values.collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(IntervalMonthDayNanoArray::from(values)))
}

/// Dates and times: those that the engine reads as PostgreSQL does, else one by one.
fn moments_of_text(array: &ArrayRef, sql_type: &SqlType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let text = text_view(array)?;
    // The engine would count a zone in, where PostgreSQL passes over it.
    let drops_zones = *sql_type == SqlType::Timestamp
        && text.as_string_view().iter().flatten().any(|text| text.contains(['+', 'Z']));
    if !drops_zones && let Ok(moments) = cast_with_options(&text, &sql_type.arrow(), &options) {
        return Ok(moments);
    }
    let read = |text: &str| {
        let moment = match sql_type {
            SqlType::Date => moment::date(text).map(i64::from),
            SqlType::Time => moment::time(text),
            _ => moment::timestamp(text, *sql_type == SqlType::TimestampTz),
        };
        moment.map_err(|bad| not_a_moment(bad, sql_type, text))
    };
    let values = text.as_string_view().iter().map(|value| value.map(read).transpose());
    let values: ArrayRef = Arc::new(values.collect::<Result<Int64Array>>()?);
    let values = match sql_type {
        SqlType::Date => cast_with_options(&values, &DataType::Int32, &options)?,
        _ => values,
    };
    Ok(cast_with_options(&values, &sql_type.arrow(), &options)?)
}

fn not_a_moment(bad: moment::Bad, sql_type: &SqlType, text: &str) -> Error {
    match bad {
        moment::Bad::Syntax => bad_moment(sql_type, text),
        moment::Bad::Range => {
            let message = format!("date/time field value out of range: \"{text}\"");
            Error::new(SqlState::DatetimeFieldOverflow, message).blaming_literal(text)
        }
        moment::Bad::Infinite => {
            Error::unsupported(format!("{} \"{text}\" cannot be held", without_zone(sql_type)))
        }
    }
}

fn bad_moment(sql_type: &SqlType, text: &str) -> Error {
    refused_text(text, &without_zone(sql_type))
}

/// A type as errors about its text name it.
fn without_zone(sql_type: &SqlType) -> String {
    let name = sql_type.to_string();
    name.trim_end_matches(" without time zone").to_owned()
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

fn bytes_of_text(array: &ArrayRef) -> Result<ArrayRef> {
    let text = text_view(array)?;
    let parse = |text: &str| bytes::parse(text).map_err(|error| error.blaming_literal(text));
    let values = text.as_string_view().iter().map(|value| value.map(parse).transpose());
    let values = values.collect::<Result<Vec<Option<Vec<u8>>>>>()?;
    Ok(Arc::new(values.into_iter().collect::<BinaryViewArray>()))
}

fn invalid(type_name: &str, text: &str) -> Error {
    let message = format!("invalid input syntax for type {type_name}: \"{text}\"");
    Error::new(SqlState::InvalidTextRepresentation, message).blaming_literal(text)
}

/// Changes texts, and keeps the array where none changes.
pub(super) fn rewrite(
    array: ArrayRef,
    change: impl Fn(&str) -> Result<Cow<'_, str>>,
) -> Result<ArrayRef> {
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
            generated: None,
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
        assert_eq!(state_of("1e999999", SqlType::Json), None);
        let beyond = SqlState::NumericValueOutOfRange;
        assert_eq!(state_of("1e999999", SqlType::Jsonb), Some(beyond));
        assert_eq!(state_of("2026-02-30", SqlType::Date), Some(SqlState::DatetimeFieldOverflow));
        assert_eq!(state_of("tomorrow?", SqlType::Date), Some(SqlState::InvalidDatetimeFormat));
        assert_eq!(state_of("\\xzz", SqlType::Bytea), Some(SqlState::InvalidParameterValue));
        assert_eq!(state_of("\\x1", SqlType::Bytea), Some(SqlState::InvalidParameterValue));
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
