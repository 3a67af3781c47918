//! Arithmetic on dates, times and timestamps for which the engine's results differ from PostgreSQL's.

use super::intervals::{INTERVAL, negated};
use super::local::{plus, shifted};
use columnar::{Types, function};
use datafusion::arrow::array::{
    ArrayRef, AsArray, Date32Array, Int32Array, IntervalMonthDayNanoArray, Time64MicrosecondArray,
    TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Int32Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};
use values::fields::age;
use values::moments::{date_of, is_infinite, is_infinite_date, midnight, timestamp};
use values::zone::Zone;

const MICROS_PER_DAY: i64 = 86_400_000_000;
const NANOS_PER_MICRO: i64 = 1000;

const TIME: DataType = DataType::Time64(TimeUnit::Microsecond);
const TIMESTAMP: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

fn out_of_range() -> Error {
    refused("timestamp out of range")
}

fn refused(message: &str) -> Error {
    Error::new(SqlState::DatetimeFieldOverflow, message)
}

/// A date some days later.
pub fn days_later() -> ScalarUDF {
    function("date_plus_days", with_days, |args| moved(args, 1))
}

/// A date some days earlier.
pub fn days_earlier() -> ScalarUDF {
    function("date_minus_days", with_days, |args| moved(args, -1))
}

fn with_days(_: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    Ok((vec![DataType::Date32, DataType::Int32], DataType::Date32))
}

fn moved(args: &[ArrayRef], sign: i64) -> Result<ArrayRef> {
    let dates = args[0].as_primitive::<Date32Type>().iter();
    let dates = dates.zip(args[1].as_primitive::<Int32Type>()).map(|pair| match pair {
        (Some(date), Some(days)) => date_after(date, sign * i64::from(days)).map(Some),
        _ => Ok(None),
    });
    Ok(Arc::new(dates.collect::<Result<Date32Array>>()?))
}

/// A date some days later, or earlier for less than 0. Infinite dates stay what they are.
///
/// # Errors
/// 22008.
pub fn date_after(date: i32, days: i64) -> Result<i32> {
    if is_infinite_date(date) {
        return Ok(date);
    }
    let day = days.checked_add(date.into()).and_then(values::moments::date);
    day.ok_or_else(|| refused("date out of range"))
}

/// The days from a date to another one.
///
/// # Errors
/// 22008, also for infinite dates.
pub fn days_from(start: i32, end: i32) -> Result<i32> {
    if is_infinite_date(end) || is_infinite_date(start) {
        return Err(refused("cannot subtract infinite dates"));
    }
    end.checked_sub(start).ok_or_else(|| refused("date out of range"))
}

/// The days between two dates.
pub fn days_between() -> ScalarUDF {
    function(
        "date_subtract",
        |_| Ok((vec![DataType::Date32; 2], DataType::Int32)),
        |args| {
            let ends = args[0].as_primitive::<Date32Type>().iter();
            let days = ends.zip(args[1].as_primitive::<Date32Type>()).map(|pair| {
                let (Some(end), Some(start)) = pair else { return Ok(None) };
                days_from(start, end).map(Some)
            });
            Ok(Arc::new(days.collect::<Result<Int32Array>>()?))
        },
    )
}

/// A date an interval of whole days later, as a date.
pub fn date_later() -> ScalarUDF {
    function(DATE_LATER, with_interval, |args| date_shifted(args, Some))
}

/// A date an interval of whole days earlier, as a date.
pub fn date_earlier() -> ScalarUDF {
    function(DATE_EARLIER, with_interval, |args| date_shifted(args, negated))
}

/// The name of [`date_later`].
pub const DATE_LATER: &str = "date_plus";
/// The name of [`date_earlier`].
pub const DATE_EARLIER: &str = "date_minus";

fn with_interval(_: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    Ok((vec![DataType::Date32, INTERVAL], DataType::Date32))
}

fn date_shifted(
    args: &[ArrayRef],
    sign: fn(IntervalMonthDayNano) -> Option<IntervalMonthDayNano>,
) -> Result<ArrayRef> {
    let dates = args[0].as_primitive::<Date32Type>().iter();
    let intervals = args[1].as_primitive::<IntervalMonthDayNanoType>();
    let dates = dates.zip(intervals).map(|pair| {
        let (Some(date), Some(interval)) = pair else { return Ok(None) };
        let start = midnight(date);
        let start = start.ok_or_else(|| refused("date out of range for timestamp"))?;
        let sum = sign(interval).and_then(|interval| plus(start, interval, Zone::UTC));
        sum.map(|sum| Some(date_of(sum))).ok_or_else(out_of_range)
    });
    Ok(Arc::new(dates.collect::<Result<Date32Array>>()?))
}

/// The name of the function that takes finite timestamps only, and returns them.
pub const FINITE: &str = "finite_moment";

/// The function [`FINITE`].
pub fn finite() -> ScalarUDF {
    let types: Types = |types| match types {
        [of @ DataType::Timestamp(TimeUnit::Microsecond, _)] => Ok((vec![of.clone()], of.clone())),
        _ => Err(Error::unsupported("this key is not supported")),
    };
    function(FINITE, types, |args| {
        let moments = args[0].as_primitive::<TimestampMicrosecondType>();
        if moments.iter().flatten().any(is_infinite) {
            let message = "a frame of RANGE with an interval around an infinite timestamp \
                           is not supported";
            return Err(Error::unsupported(message));
        }
        Ok(Arc::clone(&args[0]))
    })
}

/// A timestamp an interval later, by the calendar of UTC.
pub fn later() -> ScalarUDF {
    function("timestamp_plus", moment_and_interval, |args| shifted(args, Zone::UTC, Some))
}

/// A timestamp an interval later, or earlier, by the calendar of UTC. `None` beyond the range of timestamps.
pub fn moment_after(micros: i64, interval: IntervalMonthDayNano, is_later: bool) -> Option<i64> {
    let interval = if is_later { interval } else { negated(interval)? };
    plus(micros, interval, Zone::UTC)
}

/// A timestamp an interval earlier, by the calendar of UTC.
pub fn earlier() -> ScalarUDF {
    function("timestamp_minus", moment_and_interval, |args| shifted(args, Zone::UTC, negated))
}

fn moment_and_interval(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let of = match types.first() {
        Some(of @ DataType::Timestamp(TimeUnit::Microsecond, _)) => of.clone(),
        _ => TIMESTAMP,
    };
    Ok((vec![of.clone(), INTERVAL], of))
}

/// Difference of two timestamps: days, and a time below 24 hours.
pub fn between() -> ScalarUDF {
    function(
        "timestamp_subtract",
        |_| Ok((vec![TIMESTAMP, TIMESTAMP], INTERVAL)),
        |args| {
            let (ends, starts) = (&args[0], &args[1]);
            let ends = ends.as_primitive::<TimestampMicrosecondType>();
            let starts = starts.as_primitive::<TimestampMicrosecondType>();
            let values = ends.iter().zip(starts).map(|(end, start)| {
                let Some((end, start)) = end.zip(start) else { return Ok(None) };
                time_from(start, end).map(Some)
            });
            Ok(Arc::new(values.collect::<Result<IntervalMonthDayNanoArray>>()?))
        },
    )
}

/// The time from a timestamp to another one: days, and a time below 24 hours.
///
/// # Errors
/// 22008, also for infinite timestamps.
pub fn time_from(start: i64, end: i64) -> Result<IntervalMonthDayNano> {
    if is_infinite(end) || is_infinite(start) {
        return Err(refused("cannot subtract infinite timestamps"));
    }
    let micros = end.checked_sub(start).ok_or_else(|| refused("interval out of range"))?;
    let days = i32::try_from(micros / MICROS_PER_DAY).map_err(|_| out_of_range())?;
    Ok(IntervalMonthDayNano::new(0, days, micros % MICROS_PER_DAY * NANOS_PER_MICRO))
}

/// Difference of two times of day.
pub fn between_times() -> ScalarUDF {
    function(
        "time_subtract",
        |_| Ok((vec![TIME, TIME], INTERVAL)),
        |args| {
            let ends = args[0].as_primitive::<Time64MicrosecondType>();
            let starts = args[1].as_primitive::<Time64MicrosecondType>();
            let values = ends.iter().zip(starts).map(|(end, start)| {
                let micros = end? - start?;
                Some(IntervalMonthDayNano::new(0, 0, micros * NANOS_PER_MICRO))
            });
            Ok(Arc::new(values.collect::<IntervalMonthDayNanoArray>()))
        },
    )
}

/// Time of day plus interval, modulo 24 hours.
pub fn time_plus() -> ScalarUDF {
    function("time_plus", |_| Ok((vec![TIME, INTERVAL], TIME)), |args| time_later(args, 1))
}

/// Time of day minus interval, modulo 24 hours.
pub fn time_minus() -> ScalarUDF {
    function("time_minus", |_| Ok((vec![TIME, INTERVAL], TIME)), |args| time_later(args, -1))
}

fn time_later(args: &[ArrayRef], sign: i64) -> Result<ArrayRef> {
    let times = args[0].as_primitive::<Time64MicrosecondType>();
    let intervals = args[1].as_primitive::<IntervalMonthDayNanoType>();
    let values = times.iter().zip(intervals).map(|(time, interval)| {
        let micros = interval?.nanoseconds / NANOS_PER_MICRO % MICROS_PER_DAY;
        Some((time? + sign * micros).rem_euclid(MICROS_PER_DAY))
    });
    Ok(Arc::new(values.collect::<Time64MicrosecondArray>()))
}

/// Timestamp of a date and a time of day.
pub fn at_time() -> ScalarUDF {
    function(
        "date_at_time",
        |_| Ok((vec![DataType::Date32, TIME], TIMESTAMP)),
        |args| {
            let dates = args[0].as_primitive::<Date32Type>();
            let times = args[1].as_primitive::<Time64MicrosecondType>();
            let values = dates.iter().zip(times);
            let values = values.map(|(date, time)| {
                let Some((date, time)) = date.zip(time) else { return Ok(None) };
                let moment = match midnight(date) {
                    None => return Err(refused("date out of range for timestamp")),
                    Some(infinite) if is_infinite(infinite) => Some(infinite),
                    Some(midnight) => midnight.checked_add(time).and_then(timestamp),
                };
                moment.map(Some).ok_or_else(out_of_range)
            });
            Ok(Arc::new(values.collect::<Result<TimestampMicrosecondArray>>()?))
        },
    )
}

/// The name of the function that implements `age`.
pub const AGE: &str = "timestamp_age";

/// `age`: difference of two timestamps in years, months, days and time.
pub(super) fn age_function() -> ScalarUDF {
    function(
        AGE,
        |_| Ok((vec![TIMESTAMP, TIMESTAMP], INTERVAL)),
        |args| {
            let ends = args[0].as_primitive::<TimestampMicrosecondType>();
            let starts = args[1].as_primitive::<TimestampMicrosecondType>();
            let values = ends.iter().zip(starts).map(|(end, start)| {
                let Some((end, start)) = end.zip(start) else { return Ok(None) };
                let age = age(end, start).ok_or_else(out_of_range)?;
                let nanos = age.micros * NANOS_PER_MICRO;
                Ok(Some(IntervalMonthDayNano::new(age.months, age.days, nanos)))
            });
            Ok(Arc::new(values.collect::<Result<IntervalMonthDayNanoArray>>()?))
        },
    )
}
