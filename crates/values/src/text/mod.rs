//! Value to text: PostgreSQL's text format, for the wire protocol, the shell and CSV.
//!
//! [`TextColumn::new`] resolves the format once per array; [`TextColumn::write`] then writes each
//! value. Dates, timestamps, floating-point numbers, bytes and intervals depend on the session's
//! [`Style`]; by default they are in ISO format and in UTC (`+00`), and have the fewest digits that read back as the same number. NULL has no text form: the caller chooses one.

mod calendar;
mod float;
mod nested;
mod number;

pub use crate::calendar::{civil, days_of};
use crate::error::{Error, Result};
use crate::field::Field;
use crate::moments::infinity;
use crate::numbers;
use crate::shown;
use crate::style::{BytesStyle, FloatDigits, IntervalStyle, Style};
use arrow::array::{Array, ArrayAccessor, AsArray, LargeBinaryArray, PrimitiveArray};
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
use datetimes::output::{interval, interval_styles};
use std::fmt::{Display, Write};
use store::catalog::SqlType;

/// Appends the value at a row, which is not NULL.
type Writer<'a> = Box<dyn Fn(usize, &mut String) + Send + Sync + 'a>;

/// An array whose values can be written as text.
pub struct TextColumn<'a> {
    nulls: Option<NullBuffer>,
    writer: Writer<'a>,
}

impl<'a> TextColumn<'a> {
    /// Resolves the format of the array's values, in the default style.
    ///
    /// # Errors
    /// 0A000: the Arrow type has no text form.
    pub fn new(array: &'a dyn Array) -> Result<Self> {
        Self::styled(array, Style::default())
    }

    /// Resolves the format of a result column: in the field's style, and `char(n)` padded with blanks.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_field(array: &'a dyn Array, field: &Field) -> Result<Self> {
        let column = Self::styled(array, field.style)?;
        let SqlType::Char(length) = field.sql_type.representation() else { return Ok(column) };
        let (length, write) = (*length as usize, column.writer);
        let padded = move |row: usize, out: &mut String| {
            let start = out.len();
            write(row, out);
            let blanks = length.saturating_sub(out[start..].chars().count());
            out.extend(std::iter::repeat_n(' ', blanks));
        };
        Ok(Self { nulls: column.nulls, writer: Box::new(padded) })
    }

    /// Resolves the format of the array's values in a style.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn styled(array: &'a dyn Array, style: Style) -> Result<Self> {
        let array = shown::parts(array).map_or(array, |(_, texts)| &**texts);
        Ok(Self { nulls: array.logical_nulls(), writer: writer(array, style)? })
    }

    /// Appends the text of the value at a row. Returns false, and appends nothing, if it is NULL.
    ///
    /// # Panics
    /// If the row is beyond the array.
    pub fn write(&self, row: usize, out: &mut String) -> bool {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return false;
        }
        (self.writer)(row, out);
        true
    }
}

/// Appends the text of one value. Returns false, and appends nothing, if it is NULL. For many rows
/// use [`TextColumn`].
///
/// # Errors
/// As [`TextColumn::new`].
pub fn write_value(array: &dyn Array, row: usize, out: &mut String) -> Result<bool> {
    Ok(TextColumn::new(array)?.write(row, out))
}

fn writer(array: &dyn Array, style: Style) -> Result<Writer<'_>> {
    Ok(match array.data_type() {
        DataType::Null => Box::new(|_, _| ()),
        DataType::Boolean => {
            let values = array.as_boolean();
            Box::new(move |row, out| out.push(if values.value(row) { 't' } else { 'f' }))
        }
        DataType::Utf8 => strings(array.as_string::<i32>()),
        DataType::LargeUtf8 => strings(array.as_string::<i64>()),
        DataType::Utf8View => strings(array.as_string_view()),
        DataType::Binary => bytes(array.as_binary::<i32>(), style.bytes),
        open if numbers::is_open(open) => numbers_of_bytes(array.as_binary::<i64>()),
        DataType::BinaryView => bytes(array.as_binary_view(), style.bytes),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary(), style.bytes),
        DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Interval(_)
        | DataType::Duration(_) => time(array, style)?,
        DataType::List(_) => nested::list(array.as_list::<i32>(), style)?,
        DataType::LargeList(_) => nested::list(array.as_list::<i64>(), style)?,
        DataType::ListView(_) => nested::list_view(array.as_list_view::<i32>(), style)?,
        DataType::LargeListView(_) => nested::list_view(array.as_list_view::<i64>(), style)?,
        DataType::FixedSizeList(..) => nested::fixed_list(array.as_fixed_size_list(), style)?,
        DataType::Struct(_) => nested::composite(array.as_struct(), style)?,
        DataType::Dictionary(..) => dictionary(array, style)?,
        data_type if data_type.is_numeric() => numeric(array, style.float)?,
        _ => other(array)?,
    })
}

fn numeric(array: &dyn Array, digits: FloatDigits) -> Result<Writer<'_>> {
    Ok(match array.data_type() {
        DataType::Int8 => integers::<Int8Type>(array),
        DataType::Int16 => integers::<Int16Type>(array),
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::UInt8 => integers::<UInt8Type>(array),
        DataType::UInt16 => integers::<UInt16Type>(array),
        DataType::UInt32 => integers::<UInt32Type>(array),
        DataType::UInt64 => integers::<UInt64Type>(array),
        DataType::Float16 => {
            each::<Float16Type>(array, move |v, out| float::write_real(v.into(), digits, out))
        }
        DataType::Float32 => {
            each::<Float32Type>(array, move |v, out| float::write_real(v, digits, out))
        }
        DataType::Float64 => {
            each::<Float64Type>(array, move |v, out| float::write_double(v, digits, out))
        }
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

fn time(array: &dyn Array, style: Style) -> Result<Writer<'_>> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    Ok(match array.data_type() {
        DataType::Date32 => each::<Date32Type>(array, move |days, out| {
            match crate::moments::is_infinite_date(days) {
                true => out.push_str(infinity(days > 0)),
                false => calendar::write_date(days.into(), style, out),
            }
        }),
        DataType::Date64 => moments::<Date64Type>(array, 1_000, move |m, out| {
            calendar::write_date(m.days(), style, out);
        }),
        DataType::Time32(Second) => moments::<Time32SecondType>(array, 1, Moment::write_time),
        DataType::Time32(_) => moments::<Time32MillisecondType>(array, 1_000, Moment::write_time),
        DataType::Time64(Nanosecond) => {
            moments::<Time64NanosecondType>(array, 1_000_000_000, Moment::write_time)
        }
        DataType::Time64(_) => {
            moments::<Time64MicrosecondType>(array, 1_000_000, Moment::write_time)
        }
        DataType::Timestamp(unit, zone) => timestamps(array, *unit, zone.is_some(), style),
        DataType::Duration(unit) => match unit {
            Second => moments::<DurationSecondType>(array, 1, Moment::write_duration),
            Millisecond => moments::<DurationMillisecondType>(array, 1_000, Moment::write_duration),
            Microsecond => {
                moments::<DurationMicrosecondType>(array, 1_000_000, Moment::write_duration)
            }
            Nanosecond => {
                moments::<DurationNanosecondType>(array, 1_000_000_000, Moment::write_duration)
            }
        },
        DataType::Interval(unit) => {
            let write = match style.interval {
                IntervalStyle::Postgres => interval::write,
                IntervalStyle::Verbose => interval_styles::write_verbose,
                IntervalStyle::Standard => interval_styles::write_standard,
                IntervalStyle::Iso => interval_styles::write_iso,
            };
            match unit {
                IntervalUnit::YearMonth => {
                    each::<IntervalYearMonthType>(array, move |months, out| {
                        write(months, 0, 0, out)
                    })
                }
                IntervalUnit::DayTime => each::<IntervalDayTimeType>(array, move |v, out| {
                    write(0, v.days, i64::from(v.milliseconds) * 1_000, out);
                }),
                IntervalUnit::MonthDayNano => {
                    each::<IntervalMonthDayNanoType>(array, move |v, out| {
                        write(v.months, v.days, v.nanoseconds / 1_000, out);
                    })
                }
            }
        }
        _ => other(array)?,
    })
}

fn timestamps(array: &dyn Array, unit: TimeUnit, has_zone: bool, style: Style) -> Writer<'_> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    let write = move |moment: Moment, out: &mut String| match has_zone {
        true => moment.write_instant(style, out),
        false => moment.write_timestamp(style, out),
    };
    match unit {
        Second => moments::<TimestampSecondType>(array, 1, write),
        Millisecond => moments::<TimestampMillisecondType>(array, 1_000, write),
        Microsecond => each::<TimestampMicrosecondType>(array, move |micros, out| {
            match crate::moments::is_infinite(micros) {
                true => out.push_str(infinity(micros > 0)),
                false => write(Moment::new(micros, 1_000_000), out),
            }
        }),
        Nanosecond => moments::<TimestampNanosecondType>(array, 1_000_000_000, write),
    }
}

/// A writer that applies one function to each value.
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

/// A writer of times that are counts of a unit, of which a second has `per_second`.
fn moments<T: ArrowPrimitiveType<Native: Into<i64>>>(
    array: &dyn Array,
    per_second: i64,
    write: impl Fn(Moment, &mut String) + Send + Sync + 'static,
) -> Writer<'_> {
    each::<T>(array, move |value, out| write(Moment::new(value.into(), per_second), out))
}

/// Numbers with a scale each.
fn numbers_of_bytes(values: &LargeBinaryArray) -> Writer<'_> {
    Box::new(move |row, out| match numbers::read(values.value(row)) {
        Ok(number) => push(out, number),
        // Nothing but a number makes such bytes.
        Err(error) => out.push_str(error.message()),
    })
}

fn strings<'a>(values: impl ArrayAccessor<Item = &'a str> + Send + Sync + 'a) -> Writer<'a> {
    Box::new(move |row, out| out.push_str(values.value(row)))
}

fn bytes<'a>(
    values: impl ArrayAccessor<Item = &'a [u8]> + Send + Sync + 'a,
    style: BytesStyle,
) -> Writer<'a> {
    match style {
        BytesStyle::Hex => Box::new(move |row, out| write_hex(values.value(row), out)),
        BytesStyle::Escape => Box::new(move |row, out| {
            for byte in values.value(row) {
                match byte {
                    b'\\' => out.push_str("\\\\"),
                    b' '..=b'~' => out.push(char::from(*byte)),
                    byte => push(out, format_args!("\\{byte:03o}")),
                }
            }
        }),
    }
}

fn write_hex(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push_str("\\x");
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

fn dictionary(array: &dyn Array, style: Style) -> Result<Writer<'_>> {
    downcast_dictionary_array!(
        array => {
            let values = writer(array.values().as_ref(), style)?;
            let keys = array.keys();
            Ok(Box::new(move |row, out| values(keys.value(row) as usize, out)))
        },
        _ => Err(no_text(array.data_type())),
    )
}

/// Types without a SQL name, in Arrow's format. Arrow's formatter is not `Send`, so each value has
/// its own.
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

/// Appends a value by its `Display`.
fn push(out: &mut String, value: impl Display) {
    write!(out, "{value}").expect("a String takes everything");
}

#[cfg(test)]
mod tests;
