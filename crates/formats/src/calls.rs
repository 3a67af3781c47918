//! The functions that statements call.

use super::calendar::Moment;
use super::number_pattern::Pattern;
use super::numerals::Number;
use super::{moment_fields, number_pattern, read_moment, read_number, resolve};
use super::{write_moment, write_number};
use columnar::checked;
use columnar::zoned::zoned;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, StringViewArray, StringViewBuilder,
    TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type, Int32Type, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use numerics::Numeric;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};
use values::moments::{FIRST_TIMESTAMP, LAST_TIMESTAMP, timestamp};
use values::numbers::{Numbers, OPEN, collect, is_open};
use values::zone::Zone;

const MICROS_PER_SECOND: f64 = 1e6;

pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        checked("to_char", |types| Ok((to_char_types(types)?, DataType::Utf8View)), to_char),
        checked("to_date", |_| Ok((vec![DataType::Utf8View; 2], DataType::Date32)), to_date),
        checked("to_timestamp", to_timestamp_types, to_timestamp),
        checked("to_number", |_| Ok((vec![DataType::Utf8View; 2], OPEN)), to_number),
    ]
}

fn to_char_types(types: &[DataType]) -> Result<Vec<DataType>> {
    let [of, _] = types else { return Err(no_function("to_char", types)) };
    let of = match of {
        DataType::Date32 => SqlType::TimestampTz.arrow(),
        DataType::Timestamp(_, None) => SqlType::Timestamp.arrow(),
        DataType::Timestamp(..) => SqlType::TimestampTz.arrow(),
        DataType::Time64(_) | DataType::Time32(_) => SqlType::Time.arrow(),
        DataType::Interval(_) | DataType::Duration(_) => SqlType::Interval.arrow(),
        DataType::Int8 | DataType::Int16 => DataType::Int32,
        DataType::UInt32 | DataType::UInt64 => DataType::Int64,
        DataType::Int32
        | DataType::Int64
        | DataType::Float32
        | DataType::Float64
        | DataType::Decimal128(..) => of.clone(),
        open if is_open(open) => of.clone(),
        _ => return Err(no_function("to_char", types)),
    };
    Ok(vec![of, DataType::Utf8View])
}

fn no_function(name: &str, types: &[DataType]) -> Error {
    let message = format!("function {name} does not exist for these {} arguments", types.len());
    let hint = "You might need to add explicit type casts.";
    Error::new(SqlState::UndefinedFunction, message).with_hint(hint)
}

/// A pattern that is parsed again only when its text changes.
struct Parsed<'a, P> {
    texts: &'a StringViewArray,
    parse: fn(&str) -> Result<P>,
    last: Option<(&'a str, P)>,
}

impl<'a, P> Parsed<'a, P> {
    fn new(column: &'a ArrayRef, parse: fn(&str) -> Result<P>) -> Self {
        Self { texts: column.as_string_view(), parse, last: None }
    }

    /// The pattern of a row; `None` for NULL and for an empty one.
    fn at(&mut self, row: usize) -> Result<Option<&P>> {
        if self.texts.is_null(row) || self.texts.value(row).is_empty() {
            return Ok(None);
        }
        let text = self.texts.value(row);
        if self.last.as_ref().is_none_or(|(last, _)| *last != text) {
            self.last = Some((text, (self.parse)(text)?));
        }
        Ok(self.last.as_ref().map(|(_, pattern)| pattern))
    }
}

/// `to_char` of timestamps with time zone in a zone.
pub fn to_char_in(zone: Zone) -> ScalarUDF {
    zoned("to_char", zone, |types| Ok((to_char_types(types)?, DataType::Utf8View)), moments_as_text)
}

/// `to_timestamp` of texts whose local times are of a zone.
pub fn to_timestamp_in(zone: Zone) -> ScalarUDF {
    zoned("to_timestamp", zone, to_timestamp_types, |args, zone| {
        let moments = read_each(args, resolve::timestamp, zone)?;
        let moments: TimestampMicrosecondArray = moments.into_iter().collect();
        Ok(Arc::new(moments.with_timezone("+00:00")))
    })
}

fn to_char(args: &[ArrayRef]) -> Result<ArrayRef> {
    let column = &args[0];
    if matches!(
        column.data_type(),
        DataType::Timestamp(..) | DataType::Time64(_) | DataType::Interval(_)
    ) {
        return moments_as_text(args, Zone::UTC);
    }
    let mut patterns: Parsed<'_, Pattern> = Parsed::new(&args[1], number_pattern::parse);
    let mut texts = StringViewBuilder::with_capacity(column.len());
    for row in 0..column.len() {
        if column.is_null(row) || args[1].is_null(row) {
            texts.append_null();
            continue;
        }
        match patterns.at(row)? {
            Some(pattern) => {
                texts.append_value(write_number::write(pattern, number(column, row)?)?)
            }
            None => texts.append_value(""),
        }
    }
    Ok(Arc::new(texts.finish()))
}

/// The most digits behind the point that are formatted of a number with a scale of its own.
const DIGITS_AFTER_MAX: i32 = 20;

fn number(column: &ArrayRef, row: usize) -> Result<Number> {
    Ok(match column.data_type() {
        DataType::Int32 => Number::Integer(column.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => Number::BigInt(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float32 => Number::Real(column.as_primitive::<Float32Type>().value(row)),
        DataType::Float64 => Number::Double(column.as_primitive::<Float64Type>().value(row)),
        _ => {
            let number = Numbers::new(column)?.number(row)?;
            let cut = number.round(number.scale().unwrap_or(0).min(DIGITS_AFTER_MAX))?;
            let Some((digits, scale)) = cut.small_parts() else {
                let message = format!("to_char of the numeric {number} is not supported");
                return Err(Error::unsupported(message));
            };
            Number::Numeric(digits, scale)
        }
    })
}

fn moments_as_text(args: &[ArrayRef], zone: Zone) -> Result<ArrayRef> {
    let mut patterns = Parsed::new(&args[1], |text| Ok(moment_fields::parse(text)));
    let mut texts = StringViewBuilder::with_capacity(args[0].len());
    let mut text = String::new();
    for row in 0..args[0].len() {
        match (Moment::at(&args[0], row, zone), patterns.at(row)?) {
            (Some(moment), Some(pattern)) => {
                text.clear();
                write_moment::write(pattern, &moment, &mut text)?;
                texts.append_value(&text);
            }
            _ => texts.append_null(),
        }
    }
    Ok(Arc::new(texts.finish()))
}

/// Reads each text by its pattern; an empty pattern names no field.
fn read_each<T>(
    args: &[ArrayRef],
    resolve: fn(read_moment::Fields, &str, Zone) -> Result<T>,
    zone: Zone,
) -> Result<Vec<Option<T>>> {
    let texts = args[0].as_string_view();
    let mut patterns = Parsed::new(&args[1], |text| Ok(moment_fields::parse(text)));
    let rows = texts.iter().enumerate().map(|(row, text)| {
        let Some(text) = text.filter(|_| args[1].is_valid(row)) else { return Ok(None) };
        let fields = match patterns.at(row)? {
            Some(pattern) => read_moment::read(pattern, text)?,
            None => read_moment::Fields::default(),
        };
        resolve(fields, text, zone).map(Some)
    });
    rows.collect()
}

fn to_date(args: &[ArrayRef]) -> Result<ArrayRef> {
    let days = read_each(args, resolve::date, Zone::UTC)?.into_iter();
    Ok(Arc::new(days.map(|day| i32::try_from(day?).ok()).collect::<Date32Array>()))
}

/// With a pattern, or from seconds since 1970.
fn to_timestamp_types(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let returns = SqlType::TimestampTz.arrow();
    match types {
        [_] => Ok((vec![DataType::Float64], returns)),
        [_, _] => Ok((vec![DataType::Utf8View; 2], returns)),
        _ => Err(no_function("to_timestamp", types)),
    }
}

fn to_timestamp(args: &[ArrayRef]) -> Result<ArrayRef> {
    let moments: TimestampMicrosecondArray = if args.len() == 1 {
        let seconds = args[0].as_primitive::<Float64Type>().iter();
        seconds.map(|seconds| seconds.map(of_seconds).transpose()).collect::<Result<_>>()?
    } else {
        read_each(args, resolve::timestamp, Zone::UTC)?.into_iter().collect()
    };
    Ok(Arc::new(moments.with_timezone("+00:00")))
}

/// The seconds from 1970 to 2000, from which PostgreSQL counts.
const EPOCH_SECONDS: f64 = 946_684_800.0;

fn of_seconds(seconds: f64) -> Result<i64> {
    if seconds.is_nan() {
        let message = "timestamp cannot be NaN";
        return Err(Error::new(SqlState::DatetimeFieldOverflow, message));
    }
    if seconds.is_infinite() {
        return Ok(if seconds > 0.0 { LAST_TIMESTAMP } else { FIRST_TIMESTAMP });
    }
    // They are counted from 2000 before they are multiplied, which rounds.
    let micros = ((seconds - EPOCH_SECONDS) * MICROS_PER_SECOND).round_ties_even();
    // Conversions of larger numbers give the largest.
    let micros = (micros as i64).saturating_add((EPOCH_SECONDS * MICROS_PER_SECOND) as i64);
    timestamp(micros).ok_or_else(|| {
        let message = format!("timestamp out of range: \"{seconds}\"");
        Error::new(SqlState::DatetimeFieldOverflow, message)
    })
}

fn to_number(args: &[ArrayRef]) -> Result<ArrayRef> {
    let texts = args[0].as_string_view();
    let mut patterns: Parsed<'_, Pattern> = Parsed::new(&args[1], number_pattern::parse);
    collect(texts.iter().enumerate().map(|(row, text)| {
        let (Some(text), Some(pattern)) = (text, patterns.at(row)?) else { return Ok(None) };
        let digits = read_number::read(pattern, text)?;
        let number = numeric(&digits.text, digits.scale as u32, pattern.before as u32)?;
        if !pattern.is_shifted {
            return Ok(Some(number));
        }
        let shift = Numeric::from_i128(-(pattern.shifted as i128), 0);
        let factor = Numeric::from_i128(10, 0).power(&shift)?;
        Ok(Some(number.mul(&factor)?))
    }))
}

/// Digits whose last `scale` are behind the point; before it are at most `whole`.
fn numeric(text: &str, scale: u32, whole: u32) -> Result<Numeric> {
    let digits = text.replace('.', "");
    if digits.is_empty() || digits == "-" {
        let message = format!("invalid input syntax for type numeric: \"{text}\"");
        return Err(Error::new(SqlState::InvalidTextRepresentation, message));
    }
    let too_large = || Error::new(SqlState::NumericValueOutOfRange, "numeric field overflow");
    let value: i128 = digits.parse().map_err(|_| too_large())?;
    let shown = text.split('.').next().unwrap_or_default().trim_start_matches('-');
    if shown.trim_start_matches('0').len() as u32 > whole {
        return Err(too_large());
    }
    Ok(Numeric::from_i128(value, scale as i32))
}
