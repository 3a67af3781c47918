//! The declared precision of times, timestamps and intervals, and the declared fields of intervals.

use super::intervals::INTERVAL;
use crate::columnar::{Types, function};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, IntervalMonthDayNanoArray, Time64MicrosecondArray,
    TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{
    DataType, Int32Type, IntervalMonthDayNano, IntervalMonthDayNanoType, Time64MicrosecondType,
    TimeUnit, TimestampMicrosecondType,
};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// 2000-01-01, from which timestamps are rounded.
const MICROS_TO_2000: i64 = 946_684_800_000_000;
const NANOS_PER_MICRO: i64 = 1000;

/// The bits of an interval's fields in its modifier, from the largest on.
const YEAR: i32 = 1 << 2;
const MONTH: i32 = 1 << 1;
const DAY: i32 = 1 << 3;
const HOUR: i32 = 1 << 10;
const MINUTE: i32 = 1 << 11;
const SECOND: i32 = 1 << 12;
const ALL_FIELDS: i32 = 0x7fff;
const DIGITS_MAX: i32 = 6;

/// The functions of this file, which statements call by declared types.
pub(crate) fn all() -> [ScalarUDF; 2] {
    let moments: Types = |types| match types {
        [of @ (DataType::Time64(_) | DataType::Timestamp(TimeUnit::Microsecond, _)), _] => {
            Ok((vec![of.clone(), DataType::Int32], of.clone()))
        }
        _ => Err(Error::unsupported("the precision of this type is not supported")),
    };
    let intervals: Types = |_| Ok((vec![INTERVAL, DataType::Int32], INTERVAL));
    [
        function("moment_precision", moments, to_digits),
        function("interval_precision", intervals, to_fields),
    ]
}

/// The microseconds of the last digit of a precision.
fn unit(digits: i32) -> i64 {
    10_i64.pow((DIGITS_MAX - digits.clamp(0, DIGITS_MAX)).unsigned_abs())
}

/// A number rounded to a multiple, in the middle away from zero.
fn rounded(value: i64, unit: i64) -> Option<i64> {
    let half = unit / 2;
    let size = value.checked_abs()?.checked_add(half)?;
    Some(size / unit * unit * value.signum())
}

fn out_of_range() -> Error {
    Error::new(SqlState::DatetimeFieldOverflow, "timestamp out of range")
}

fn to_digits(args: &[ArrayRef]) -> Result<ArrayRef> {
    let digits = args[1].as_primitive::<Int32Type>();
    let unit_at = |row: usize| if digits.is_valid(row) { unit(digits.value(row)) } else { 1 };
    if let Some(times) = args[0].as_primitive_opt::<Time64MicrosecondType>() {
        let values = times.iter().enumerate();
        let values = values.map(|(row, time)| rounded(time?, unit_at(row)));
        return Ok(Arc::new(values.collect::<Time64MicrosecondArray>()));
    }
    let moments = args[0].as_primitive::<TimestampMicrosecondType>();
    let values = moments.iter().enumerate().map(|(row, micros)| {
        let Some(micros) = micros else { return Ok(None) };
        let since = micros.checked_sub(MICROS_TO_2000);
        let since = since.and_then(|since| rounded(since, unit_at(row)));
        since.and_then(|since| since.checked_add(MICROS_TO_2000)).map(Some).ok_or_else(out_of_range)
    });
    let values = values.collect::<Result<TimestampMicrosecondArray>>()?;
    Ok(Arc::new(values.with_timezone_opt(moments.timezone().map(Arc::<str>::from))))
}

fn to_fields(args: &[ArrayRef]) -> Result<ArrayRef> {
    let intervals = args[0].as_primitive::<IntervalMonthDayNanoType>();
    let modifiers = args[1].as_primitive::<Int32Type>();
    let values = intervals.iter().zip(modifiers).map(|pair| {
        let (Some(interval), Some(modifier)) = pair else { return Ok(None) };
        let adjusted = adjusted(interval, modifier);
        let error = || Error::new(SqlState::DatetimeFieldOverflow, "interval out of range");
        adjusted.map(Some).ok_or_else(error)
    });
    Ok(Arc::new(values.collect::<Result<IntervalMonthDayNanoArray>>()?))
}

/// An interval with the fields and the digits of a modifier. Larger fields than the declared ones are kept.
pub fn adjusted(interval: IntervalMonthDayNano, modifier: i32) -> Option<IntervalMonthDayNano> {
    if modifier < 0 {
        return Some(interval);
    }
    let (fields, digits) = ((modifier >> 16) & ALL_FIELDS, modifier & 0xffff);
    let IntervalMonthDayNano { mut months, mut days, nanoseconds } = interval;
    let mut micros = nanoseconds / NANOS_PER_MICRO;
    const MINUTE_MICROS: i64 = 60_000_000;
    let last = [SECOND, MINUTE, HOUR, DAY, MONTH, YEAR].into_iter().find(|bit| fields & bit != 0);
    match last.filter(|_| fields != ALL_FIELDS) {
        Some(YEAR) => (months, days, micros) = (months / 12 * 12, 0, 0),
        Some(MONTH) => (days, micros) = (0, 0),
        Some(DAY) => micros = 0,
        Some(HOUR) => micros = micros / (60 * MINUTE_MICROS) * (60 * MINUTE_MICROS),
        Some(MINUTE) => micros = micros / MINUTE_MICROS * MINUTE_MICROS,
        _ => {}
    }
    if digits <= DIGITS_MAX {
        micros = rounded(micros, unit(digits))?;
    }
    Some(IntervalMonthDayNano::new(months, days, micros.checked_mul(NANOS_PER_MICRO)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_away_from_zero() {
        assert_eq!(rounded(1_250_000, unit(1)), Some(1_300_000));
        assert_eq!(rounded(-1_250_000, unit(1)), Some(-1_300_000));
        assert_eq!(rounded(499_999, unit(0)), Some(0));
    }

    #[test]
    fn smaller_fields_than_the_declared_ones_are_cut() {
        let hour = 3_600_000_000_000;
        let interval = IntervalMonthDayNano::new(14, 3, 4 * hour + hour / 10);
        let of = |fields: i32| adjusted(interval, fields << 16 | 0xffff);
        assert_eq!(of(YEAR), Some(IntervalMonthDayNano::new(12, 0, 0)));
        assert_eq!(of(YEAR | MONTH), Some(IntervalMonthDayNano::new(14, 0, 0)));
        assert_eq!(of(DAY | HOUR), Some(IntervalMonthDayNano::new(14, 3, 4 * hour)));
        assert_eq!(adjusted(interval, -1), Some(interval));
    }
}
