//! The declared precision of times, timestamps and intervals, and the declared fields of intervals.

use crate::error::{Error, Result, SqlState};
use crate::moments;
use datafusion::arrow::array::{
    ArrayRef, AsArray, IntervalMonthDayNanoArray, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{
    IntervalMonthDayNano, IntervalMonthDayNanoType, Time64MicrosecondType, TimestampMicrosecondType,
};
use datetimes::IntervalFields;
use std::sync::Arc;

/// 2000-01-01, from which timestamps are rounded.
const MICROS_TO_2000: i64 = 946_684_800_000_000;
const NANOS_PER_MICRO: i64 = 1000;

const DIGITS_MAX: i32 = 6;

/// The microseconds of the last digit of a precision.
fn unit(digits: i32) -> i64 {
    10_i64.pow((DIGITS_MAX - digits.clamp(0, DIGITS_MAX)).unsigned_abs())
}

/// A number rounded to a multiple, in the middle away from zero.
fn multiple(value: i64, unit: i64) -> Option<i64> {
    let half = unit / 2;
    let size = value.checked_abs()?.checked_add(half)?;
    Some(size / unit * unit * value.signum())
}

fn out_of_range(what: &str) -> Error {
    Error::new(SqlState::DatetimeFieldOverflow, format!("{what} out of range"))
}

/// Times, timestamps or intervals with the precision of a type's modifier, which is given by row; all is kept for one less
/// than 0. Other values are as they are.
///
/// # Errors
/// 22008: a rounded value is out of range.
pub fn rounded(array: &ArrayRef, modifier: impl Fn(usize) -> i32) -> Result<ArrayRef> {
    let unit_at = |row: usize| match modifier(row) {
        ..0 => 1,
        digits => unit(digits),
    };
    if let Some(times) = array.as_primitive_opt::<Time64MicrosecondType>() {
        let values = times.iter().enumerate();
        let values = values.map(|(row, time)| multiple(time?, unit_at(row)));
        return Ok(Arc::new(values.collect::<Time64MicrosecondArray>()));
    }
    if let Some(intervals) = array.as_primitive_opt::<IntervalMonthDayNanoType>() {
        let values = intervals.iter().enumerate().map(|(row, interval)| match interval {
            Some(interval) => of_interval(interval, modifier(row))
                .map(Some)
                .ok_or_else(|| out_of_range("interval")),
            None => Ok(None),
        });
        return Ok(Arc::new(values.collect::<Result<IntervalMonthDayNanoArray>>()?));
    }
    let Some(moments) = array.as_primitive_opt::<TimestampMicrosecondType>() else {
        return Ok(Arc::clone(array));
    };
    let values = moments.iter().enumerate().map(|(row, micros)| {
        let Some(micros) = micros else { return Ok(None) };
        if moments::is_infinite(micros) {
            return Ok(Some(micros));
        }
        let since = micros.checked_sub(MICROS_TO_2000);
        let since = since.and_then(|since| multiple(since, unit_at(row)));
        let moment = since.and_then(|since| moments::timestamp(since.checked_add(MICROS_TO_2000)?));
        moment.map(Some).ok_or_else(|| out_of_range("timestamp"))
    });
    let values = values.collect::<Result<TimestampMicrosecondArray>>()?;
    Ok(Arc::new(values.with_timezone_opt(moments.timezone().map(Arc::<str>::from))))
}

/// An interval with the fields and the digits of a modifier. Larger fields than the declared ones are kept.
pub fn of_interval(interval: IntervalMonthDayNano, modifier: i32) -> Option<IntervalMonthDayNano> {
    if modifier < 0 {
        return Some(interval);
    }
    let (fields, digits) = (IntervalFields::of_modifier(modifier), modifier & 0xffff);
    let IntervalMonthDayNano { mut months, mut days, nanoseconds } = interval;
    let mut micros = nanoseconds / NANOS_PER_MICRO;
    const MINUTE_MICROS: i64 = 60_000_000;
    match fields.smallest() {
        Some(IntervalFields::YEAR) => (months, days, micros) = (months / 12 * 12, 0, 0),
        Some(IntervalFields::MONTH) => (days, micros) = (0, 0),
        Some(IntervalFields::DAY) => micros = 0,
        Some(IntervalFields::HOUR) => micros = micros / (60 * MINUTE_MICROS) * (60 * MINUTE_MICROS),
        Some(IntervalFields::MINUTE) => micros = micros / MINUTE_MICROS * MINUTE_MICROS,
        _ => {}
    }
    if digits <= DIGITS_MAX {
        micros = multiple(micros, unit(digits))?;
    }
    Some(IntervalMonthDayNano::new(months, days, micros.checked_mul(NANOS_PER_MICRO)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_away_from_zero() {
        assert_eq!(multiple(1_250_000, unit(1)), Some(1_300_000));
        assert_eq!(multiple(-1_250_000, unit(1)), Some(-1_300_000));
        assert_eq!(multiple(499_999, unit(0)), Some(0));
    }

    #[test]
    fn smaller_fields_than_the_declared_ones_are_cut() {
        const YEAR: i32 = IntervalFields::YEAR;
        const DAY_AND_HOUR: i32 = IntervalFields::DAY | IntervalFields::HOUR;
        let hour = 3_600_000_000_000;
        let interval = IntervalMonthDayNano::new(14, 3, 4 * hour + hour / 10);
        let of = |fields: i32| of_interval(interval, fields << 16 | 0xffff);
        assert_eq!(of(YEAR), Some(IntervalMonthDayNano::new(12, 0, 0)));
        assert_eq!(of(YEAR | IntervalFields::MONTH), Some(IntervalMonthDayNano::new(14, 0, 0)));
        assert_eq!(of(DAY_AND_HOUR), Some(IntervalMonthDayNano::new(14, 3, 4 * hour)));
        assert_eq!(of_interval(interval, -1), Some(interval));
    }
}
