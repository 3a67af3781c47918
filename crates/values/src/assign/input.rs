//! Conversion of columns to a SQL type, without its length.
//!
//! Casts are checked. Text is parsed as PostgreSQL parses it; UUIDs and JSON are validated.

use super::hexadecimal;
use super::labels;
use super::numbers;
use super::records::Rows;
use super::rewrite::rewrite;
use super::zoned;
use crate::error::{Error, Result, SqlState};
use crate::input::{array, bytea, interval, refused, system};
use crate::json;
use crate::numbers::{self as numbers_of, is_open};
use crate::shown;
use crate::style::{IntervalStyle, Style};
use crate::translate::type_name;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, Int64Array, IntervalMonthDayNanoArray, ListArray,
    StringViewArray,
};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, Field, Float32Type, Float64Type};
use datetimes::datetime::{self, Reading};
use std::borrow::Cow;
use std::sync::Arc;
use store::catalog::{SqlType, UserTypeKind};

/// Converts values to a type; [`fit`](super::fit) enforces its length. Texts are read in the style of a session.
///
/// # Errors
/// 42846: there is no cast. 22003, 22007, 22P02: a value is not of the type.
pub fn input(array: &ArrayRef, sql_type: &SqlType, style: Style) -> Result<ArrayRef> {
    if let SqlType::User(user) = sql_type {
        return match &user.kind {
            UserTypeKind::Enum(_) => labels::numbers(array, user),
            UserTypeKind::Domain(domain) => input(array, &domain.base, style),
            UserTypeKind::Composite(_) => Rows::new(sql_type, style, input)?.input(array),
        };
    }
    if let SqlType::System(of) = sql_type {
        return system::values(array, *of);
    }
    let array = &match sql_type.arrow().is_string() {
        true => shown::texts(array),
        false => shown::sent(array),
    };
    if let (SqlType::Array(item), Some(lists)) = (sql_type, array.as_list_opt::<i32>())
        && (item.system_type().is_some()
            || item.user_type().is_some()
            || is_open(&lists.value_type())
            || is_open(&item.arrow()))
    {
        let items = input(lists.values(), item, style)?;
        let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
        let (offsets, nulls) = (lists.offsets().clone(), lists.nulls().cloned());
        return Ok(Arc::new(ListArray::try_new(field, offsets, items, nulls)?));
    }
    let array = cast_to(array, sql_type, style)?;
    match sql_type {
        SqlType::Uuid => rewrite(array, uuid),
        // Trailing blanks are insignificant and are not stored.
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

fn cast_to(array: &ArrayRef, sql_type: &SqlType, style: Style) -> Result<ArrayRef> {
    let modifier = match sql_type {
        SqlType::Precise(_, modifier) => i32::try_from(*modifier).unwrap_or(-1),
        _ => -1,
    };
    let sql_type = sql_type.imprecise();
    let to = sql_type.arrow();
    if *array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    if is_open(array.data_type()) {
        return numbers::of_numbers(array, sql_type);
    }
    if is_open(&to) && (is_text(array.data_type()) || is_number(array.data_type())) {
        return numbers::opened(array);
    }
    if let Some(moved) = zoned::between(array, &to, style.zone)? {
        return Ok(moved);
    }
    if to == DataType::BinaryView && is_text(array.data_type()) {
        return bytes_of_text(array);
    }
    if is_text(array.data_type()) && to == DataType::Boolean {
        return booleans_of_text(array);
    }
    if let (true, SqlType::Array(item)) = (is_text(array.data_type()), sql_type) {
        return lists_of_text(&text_view(array)?, item, style);
    }
    if !is_assignable(array.data_type(), &to) {
        let message = format!("cannot cast type {} to {sql_type}", type_name(array.data_type()));
        return Err(Error::new(SqlState::CannotCoerce, message));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    if !is_text(array.data_type()) {
        if to == DataType::Float32 && array.data_type().is_numeric() {
            return reals(array);
        }
        return if to.is_signed_integer() {
            Ok(cast_with_options(&whole_numbers(array)?, &to, &options)?)
        } else {
            Ok(cast_with_options(array, &to, &options)?)
        };
    }
    match sql_type {
        SqlType::Interval => intervals_of_text(array, modifier, style.interval),
        SqlType::Date | SqlType::Time | SqlType::Timestamp | SqlType::TimestampTz => {
            datetimes_of_text(array, sql_type, style)
        }
        SqlType::Numeric { precision, scale } => {
            numbers::decimals_of_texts(array, *precision, *scale)
        }
        SqlType::Real | SqlType::Double => {
            let texts = hexadecimal::in_decimal(text_view(array)?, sql_type)?;
            let values = cast_with_options(&texts, &to, &options)?;
            refuse_rounded(&texts, &values, sql_type)?;
            Ok(values)
        }
        _ => Ok(cast_with_options(array, &to, &options)?),
    }
}

/// Refuses numbers that are too large or too small, of which the engine makes infinity and zero.
fn refuse_rounded(texts: &ArrayRef, values: &ArrayRef, sql_type: &SqlType) -> Result<()> {
    let values = cast_with_options(values, &DataType::Float64, &CastOptions::default())?;
    let values = values.as_primitive::<Float64Type>();
    let is_suspect = |value: f64| value == 0.0 || value.is_infinite();
    let suspects =
        (0..values.len()).filter(|row| values.is_valid(*row) && is_suspect(values.value(*row)));
    let suspects: Vec<usize> = suspects.collect();
    if suspects.is_empty() {
        return Ok(());
    }
    let texts = text_view(texts)?;
    for row in suspects {
        let text = texts.as_string_view().value(row);
        let mantissa = text.trim().split(['e', 'E']).next().unwrap_or_default();
        let has_digits = mantissa.bytes().any(|byte| byte.is_ascii_digit() && byte != b'0');
        if has_digits {
            let message = format!("\"{text}\" is out of range for type {sql_type}");
            let error = Error::new(SqlState::NumericValueOutOfRange, message);
            return Err(error.at_literal(text));
        }
    }
    Ok(())
}

/// Numbers as `real`, which a finite one may be too large or too small for.
fn reals(array: &ArrayRef) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let wide = cast_with_options(array, &DataType::Float64, &options)?;
    let narrow = cast_with_options(&wide, &DataType::Float32, &options)?;
    let pairs = wide.as_primitive::<Float64Type>().iter();
    let pairs = pairs.zip(narrow.as_primitive::<Float32Type>());
    for (wide, narrow) in pairs.filter_map(|(wide, narrow)| wide.zip(narrow)) {
        let how = match (wide, narrow) {
            (wide, narrow) if narrow.is_infinite() && wide.is_finite() => "overflow",
            (wide, 0.0) if wide != 0.0 => "underflow",
            _ => continue,
        };
        let message = format!("value out of range: {how}");
        return Err(Error::new(SqlState::NumericValueOutOfRange, message));
    }
    Ok(narrow)
}

/// Rounds numbers to integers: numerics half away from zero, floating-point numbers half to even.
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

fn intervals_of_text(array: &ArrayRef, modifier: i32, style: IntervalStyle) -> Result<ArrayRef> {
    let text = text_view(array)?;
    let parse = |text: &str| {
        interval::parse(text, modifier, style).map_err(|error| refused(error, text, "interval"))
    };
    let values = text.as_string_view().iter().map(|value| value.map(parse).transpose());
    let values = values.collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(IntervalMonthDayNanoArray::from(values)))
}

/// Parses dates and times: with the engine's parser where all are in the form that it reads as PostgreSQL does, else with
/// ours.
fn datetimes_of_text(array: &ArrayRef, sql_type: &SqlType, style: Style) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let text = text_view(array)?;
    let is_local = *sql_type == SqlType::TimestampTz && !style.zone.is_utc();
    let is_plain = |text: &str| is_plain(text, sql_type);
    if !is_local
        && text.as_string_view().iter().flatten().all(is_plain)
        && let Ok(values) = cast_with_options(&text, &sql_type.arrow(), &options)
    {
        return Ok(values);
    }
    let reading = Reading { order: style.date, zone: style.zone };
    let read = |text: &str| {
        let value = match sql_type {
            SqlType::Date => datetime::date(text, reading).map(i64::from),
            SqlType::Time => datetime::time(text, reading),
            _ => datetime::timestamp(text, *sql_type == SqlType::TimestampTz, reading),
        };
        value.map_err(|error| refused(error, text, &without_zone(sql_type)))
    };
    let values = text.as_string_view().iter().map(|value| value.map(read).transpose());
    let values: ArrayRef = Arc::new(values.collect::<Result<Int64Array>>()?);
    let values = match sql_type {
        SqlType::Date => cast_with_options(&values, &DataType::Int32, &options)?,
        _ => values,
    };
    Ok(cast_with_options(&values, &sql_type.arrow(), &options)?)
}

/// Whether a text is `2024-02-29`, `10:11:12.123456`, or both with a blank between, as the type has them.
fn is_plain(text: &str, sql_type: &SqlType) -> bool {
    let is_like = |text: &str, form: &str| {
        let pairs = text.bytes().zip(form.bytes());
        text.len() == form.len()
            && pairs
                .into_iter()
                .all(|(byte, like)| byte == like || like == b'0' && byte.is_ascii_digit())
    };
    // There is no year 0.
    let is_date = |text: &str| is_like(text, "0000-00-00") && !text.starts_with("0000");
    let is_time = |text: &str| {
        let (clock, fraction) = text.split_at(text.len().min(8));
        let digits = fraction.strip_prefix('.').unwrap_or(fraction);
        is_like(clock, "00:00:00")
            && !clock.ends_with("60")
            && digits.len() <= 6
            && digits.bytes().all(|digit| digit.is_ascii_digit())
            && (fraction.is_empty() || !digits.is_empty() && fraction.len() > digits.len())
    };
    match sql_type {
        SqlType::Date => is_date(text),
        SqlType::Time => text.is_ascii() && is_time(text),
        _ => {
            text.is_ascii()
                && text.split_once(' ').is_some_and(|(date, time)| is_date(date) && is_time(time))
        }
    }
}

/// The type's name in errors about its input.
fn without_zone(sql_type: &SqlType) -> String {
    let name = sql_type.to_string();
    name.trim_end_matches(" without time zone").to_owned()
}

pub(super) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether values are numbers, or NULL.
fn is_number(data_type: &DataType) -> bool {
    numbers_of::is_number(data_type) || data_type.is_null()
}

/// Whether there is an assignment cast. Booleans only convert to and from text, and there is none between numbers and
/// dates or times, and none of values to arrays.
pub(super) fn is_assignable(from: &DataType, to: &DataType) -> bool {
    let boolean = |t: &DataType| *t == DataType::Boolean;
    if boolean(from) != boolean(to) && !is_text(from) && !is_text(to) && !from.is_null() {
        return false;
    }
    let list = |t: &DataType| matches!(t, DataType::List(_));
    if list(to) && !list(from) && !is_text(from) && !from.is_null() {
        return false;
    }
    let number = numbers_of::is_number;
    let has_no_cast = is_open(to) && !is_number(from) && !is_text(from);
    !(number(from) && to.is_temporal() || from.is_temporal() && number(to) || has_no_cast)
}

fn booleans_of_text(array: &ArrayRef) -> Result<ArrayRef> {
    let text = text_view(array)?;
    let parse = |text: &str| match text.trim().to_ascii_lowercase().as_str() {
        "" => Err(invalid("boolean", text)),
        "on" | "1" => Ok(true),
        "of" | "off" | "0" => Ok(false),
        // Words may be cut short.
        word if "true".starts_with(word) || "yes".starts_with(word) => Ok(true),
        word if "false".starts_with(word) || "no".starts_with(word) => Ok(false),
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
    let parse = |text: &str| bytea::parse(text).map_err(|error| error.at_literal(text));
    let values = text.as_string_view().iter().map(|value| value.map(parse).transpose());
    let values = values.collect::<Result<Vec<Option<Vec<u8>>>>>()?;
    Ok(Arc::new(values.into_iter().collect::<BinaryViewArray>()))
}

fn invalid(type_name: &str, text: &str) -> Error {
    let message = format!("invalid input syntax for type {type_name}: \"{text}\"");
    Error::new(SqlState::InvalidTextRepresentation, message).at_literal(text)
}

/// Parses array literals of one dimension.
fn lists_of_text(texts: &ArrayRef, item: &SqlType, style: Style) -> Result<ArrayRef> {
    let texts = texts.as_string_view();
    let (mut items, mut lengths, mut valid) = (Vec::new(), Vec::new(), Vec::new());
    for text in texts {
        let before = items.len();
        if let Some(text) = text {
            array::elements(text, &mut items)?;
        }
        valid.push(text.is_some());
        lengths.push(items.len() - before);
    }
    let items: ArrayRef = Arc::new(StringViewArray::from_iter(items));
    let items = input(&items, item, style)?;
    let field = Arc::new(Field::new_list_field(item.arrow(), true));
    let offsets = OffsetBuffer::from_lengths(lengths);
    let valid = NullBuffer::from(valid);
    Ok(Arc::new(ListArray::try_new(field, offsets, items, Some(valid))?))
}

/// Digits with hyphens between groups of four, and with braces around all, or without either.
fn uuid(text: &str) -> Result<Cow<'_, str>> {
    let refused = || invalid("uuid", text);
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}').ok_or_else(refused)?,
        None => text,
    };
    let mut digits = String::with_capacity(32);
    for letter in inner.chars() {
        match letter {
            '-' if digits.len().is_multiple_of(4) && (1..32).contains(&digits.len()) => {}
            letter if letter.is_ascii_hexdigit() => digits.push(letter),
            _ => return Err(refused()),
        }
    }
    let parsed = uuid::Uuid::parse_str(&digits).ok().filter(|_| digits.len() == 32);
    Ok(Cow::Owned(parsed.ok_or_else(refused)?.hyphenated().to_string()))
}
