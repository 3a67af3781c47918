//! The text form of values, as PostgreSQL writes them: what psql shows, CSV carries, and the wire sends.
//!
//! Result sets are long, so the work is divided: [`TextColumn::new`] looks at an array's type once and
//! resolves how its values are written; [`TextColumn::write`] then only writes. A value's form depends on
//! its type alone, never on a setting: ISO dates, UTC offsets as `+00`, intervals in `postgres` style,
//! the shortest floats that read back the same, bytes in hex.
//!
//! NULL has no text form; whoever calls decides what stands for it.
//!
//! Not here: the binary form, and reading text back.

mod calendar;
mod float;
mod interval;
mod nested;
mod number;

use crate::error::{Error, Result};
use arrow::array::{Array, ArrayAccessor, AsArray, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Date64Type, Decimal32Type, Decimal64Type,
    Decimal128Type, Decimal256Type, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType, IntervalUnit,
    IntervalYearMonthType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow::downcast_dictionary_array;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use calendar::Moment;
use std::fmt::{Display, Write};

/// Writes the value at a row, which is not NULL.
type Writer<'a> = Box<dyn Fn(usize, &mut String) + Send + Sync + 'a>;

/// How the values of one array are written.
pub struct TextColumn<'a> {
    nulls: Option<NullBuffer>,
    writer: Writer<'a>,
}

impl<'a> TextColumn<'a> {
    /// Resolves how the array's values are written.
    ///
    /// # Errors
    /// 0A000 for the few Arrow types that have no text form.
    pub fn new(array: &'a dyn Array) -> Result<Self> {
        Ok(Self { nulls: array.logical_nulls(), writer: writer(array)? })
    }

    /// Appends the text of the value at a row; false, and nothing, where it is NULL.
    ///
    /// # Panics
    /// If the array has no such row.
    pub fn write(&self, row: usize, out: &mut String) -> bool {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return false;
        }
        (self.writer)(row, out);
        true
    }
}

/// Appends the text of one value; false, and nothing, where it is NULL. For many rows: [`TextColumn`].
///
/// # Errors
/// As [`TextColumn::new`].
pub fn write_value(array: &dyn Array, row: usize, out: &mut String) -> Result<bool> {
    Ok(TextColumn::new(array)?.write(row, out))
}

fn writer(array: &dyn Array) -> Result<Writer<'_>> {
    Ok(match array.data_type() {
        DataType::Null => Box::new(|_, _| ()),
        DataType::Boolean => {
            let values = array.as_boolean();
            Box::new(move |row, out| out.push(if values.value(row) { 't' } else { 'f' }))
        }
        DataType::Utf8 => strings(array.as_string::<i32>()),
        DataType::LargeUtf8 => strings(array.as_string::<i64>()),
        DataType::Utf8View => strings(array.as_string_view()),
        DataType::Binary => bytes(array.as_binary::<i32>()),
        DataType::LargeBinary => bytes(array.as_binary::<i64>()),
        DataType::BinaryView => bytes(array.as_binary_view()),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary()),
        DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Interval(_)
        | DataType::Duration(_) => time(array)?,
        DataType::List(_) => nested::list(array.as_list::<i32>())?,
        DataType::LargeList(_) => nested::list(array.as_list::<i64>())?,
        DataType::ListView(_) => nested::list_view(array.as_list_view::<i32>())?,
        DataType::LargeListView(_) => nested::list_view(array.as_list_view::<i64>())?,
        DataType::FixedSizeList(..) => nested::fixed_list(array.as_fixed_size_list())?,
        DataType::Struct(_) => nested::composite(array.as_struct())?,
        DataType::Dictionary(..) => dictionary(array)?,
        data_type if data_type.is_numeric() => numeric(array)?,
        _ => other(array)?,
    })
}

fn numeric(array: &dyn Array) -> Result<Writer<'_>> {
    Ok(match array.data_type() {
        DataType::Int8 => integers::<Int8Type>(array),
        DataType::Int16 => integers::<Int16Type>(array),
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::UInt8 => integers::<UInt8Type>(array),
        DataType::UInt16 => integers::<UInt16Type>(array),
        DataType::UInt32 => integers::<UInt32Type>(array),
        DataType::UInt64 => integers::<UInt64Type>(array),
        DataType::Float16 => each::<Float16Type>(array, |v, out| float::write_real(v.into(), out)),
        DataType::Float32 => each::<Float32Type>(array, float::write_real),
        DataType::Float64 => each::<Float64Type>(array, float::write_double),
        DataType::Decimal32(_, scale) => decimals::<Decimal32Type>(array, *scale),
        DataType::Decimal64(_, scale) => decimals::<Decimal64Type>(array, *scale),
        DataType::Decimal128(_, scale) => decimals::<Decimal128Type>(array, *scale),
        DataType::Decimal256(..) => {
            let values = array.as_primitive::<Decimal256Type>();
            Box::new(move |row, out| out.push_str(&values.value_as_string(row)))
        }
        _ => other(array)?,
    })
}

fn time(array: &dyn Array) -> Result<Writer<'_>> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    Ok(match array.data_type() {
        DataType::Date32 => {
            each::<Date32Type>(array, |days, out| calendar::write_date(days.into(), out))
        }
        DataType::Date64 => {
            moments::<Date64Type>(array, 1_000, |m, out| calendar::write_date(m.days(), out))
        }
        DataType::Time32(Second) => moments::<Time32SecondType>(array, 1, Moment::write_time),
        DataType::Time32(_) => moments::<Time32MillisecondType>(array, 1_000, Moment::write_time),
        DataType::Time64(Nanosecond) => {
            moments::<Time64NanosecondType>(array, 1_000_000_000, Moment::write_time)
        }
        DataType::Time64(_) => {
            moments::<Time64MicrosecondType>(array, 1_000_000, Moment::write_time)
        }
        DataType::Timestamp(unit, zone) => {
            let write =
                if zone.is_some() { Moment::write_instant } else { Moment::write_timestamp };
            match unit {
                Second => moments::<TimestampSecondType>(array, 1, write),
                Millisecond => moments::<TimestampMillisecondType>(array, 1_000, write),
                Microsecond => moments::<TimestampMicrosecondType>(array, 1_000_000, write),
                Nanosecond => moments::<TimestampNanosecondType>(array, 1_000_000_000, write),
            }
        }
        DataType::Duration(unit) => match unit {
            Second => moments::<DurationSecondType>(array, 1, interval::write_duration),
            Millisecond => {
                moments::<DurationMillisecondType>(array, 1_000, interval::write_duration)
            }
            Microsecond => {
                moments::<DurationMicrosecondType>(array, 1_000_000, interval::write_duration)
            }
            Nanosecond => {
                moments::<DurationNanosecondType>(array, 1_000_000_000, interval::write_duration)
            }
        },
        DataType::Interval(IntervalUnit::YearMonth) => {
            each::<IntervalYearMonthType>(array, |months, out| interval::write(months, 0, 0, out))
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            each::<IntervalDayTimeType>(array, |v, out| {
                interval::write(0, v.days, i64::from(v.milliseconds) * 1_000, out);
            })
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            each::<IntervalMonthDayNanoType>(array, |v, out| {
                interval::write(v.months, v.days, v.nanoseconds / 1_000, out);
            })
        }
        _ => other(array)?,
    })
}

/// Each value by one function.
fn each<T: ArrowPrimitiveType>(
    array: &dyn Array,
    write: impl Fn(T::Native, &mut String) + Send + Sync + 'static,
) -> Writer<'_> {
    let values: &PrimitiveArray<T> = array.as_primitive();
    Box::new(move |row, out| write(values.value(row), out))
}

fn integers<T: ArrowPrimitiveType<Native: itoa::Integer>>(array: &dyn Array) -> Writer<'_> {
    each::<T>(array, |value, out| out.push_str(itoa::Buffer::new().format(value)))
}

fn decimals<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &dyn Array, scale: i8) -> Writer<'_> {
    each::<T>(array, move |value, out| number::write_decimal(value.into(), scale, out))
}

/// Counts of a unit that has so many to the second.
fn moments<T: ArrowPrimitiveType<Native: Into<i64>>>(
    array: &dyn Array,
    per_second: i64,
    write: impl Fn(Moment, &mut String) + Send + Sync + 'static,
) -> Writer<'_> {
    each::<T>(array, move |value, out| write(Moment::new(value.into(), per_second), out))
}

fn strings<'a>(values: impl ArrayAccessor<Item = &'a str> + Send + Sync + 'a) -> Writer<'a> {
    Box::new(move |row, out| out.push_str(values.value(row)))
}

fn bytes<'a>(values: impl ArrayAccessor<Item = &'a [u8]> + Send + Sync + 'a) -> Writer<'a> {
    Box::new(move |row, out| {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        out.push_str("\\x");
        for byte in values.value(row) {
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    })
}

fn dictionary(array: &dyn Array) -> Result<Writer<'_>> {
    downcast_dictionary_array!(
        array => {
            let values = writer(array.values().as_ref())?;
            let keys = array.keys();
            Ok(Box::new(move |row, out| values(keys.value(row) as usize, out)))
        },
        _ => Err(no_text(array.data_type())),
    )
}

/// Types that SQL has no name for: as Arrow displays them. Its formatter cannot go from thread to thread,
/// so each value gets one of its own.
fn other(array: &dyn Array) -> Result<Writer<'_>> {
    if ArrayFormatter::try_new(array, &FormatOptions::new()).is_err() {
        return Err(no_text(array.data_type()));
    }
    Ok(Box::new(move |row, out| {
        if let Ok(formatter) = ArrayFormatter::try_new(array, &FormatOptions::new()) {
            push(out, formatter.value(row));
        }
    }))
}

fn no_text(data_type: &DataType) -> Error {
    Error::unsupported(format!("values of type {data_type} have no text form"))
}

/// Appends what displays itself.
fn push(out: &mut String, value: impl Display) {
    write!(out, "{value}").expect("a String takes everything");
}

#[cfg(test)]
mod tests;
