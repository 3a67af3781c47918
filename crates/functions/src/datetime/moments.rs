//! Arithmetic on dates, times and timestamps for which the engine's results differ from PostgreSQL's.

use super::intervals::INTERVAL;
use crate::columnar::function;
use datafusion::arrow::array::{
    ArrayRef, AsArray, Date32Array, IntervalMonthDayNanoArray, Time64MicrosecondArray,
    TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};
use values::text::{civil, days_of};

const MICROS_PER_DAY: i64 = 86_400_000_000;
const NANOS_PER_MICRO: i64 = 1000;

const TIME: DataType = DataType::Time64(TimeUnit::Microsecond);
const TIMESTAMP: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

fn out_of_range() -> Error {
    Error::new(SqlState::DatetimeFieldOverflow, "timestamp out of range")
}

/// The first day of PostgreSQL's dates, and the day behind the last, counted from 1970.
const DAYS: std::ops::Range<i64> = -2_440_588..2_145_042_906;

/// The date of a number of days.
pub fn of_days() -> ScalarUDF {
    function(
        "date_of_days",
        |_| Ok((vec![DataType::Int64], DataType::Date32)),
        |args| {
            let days = args[0].as_primitive::<Int64Type>().iter().map(|days| {
                let Some(days) = days else { return Ok(None) };
                let day = i32::try_from(days).ok().filter(|_| DAYS.contains(&days));
                let error = || Error::new(SqlState::DatetimeFieldOverflow, "date out of range");
                day.map(Some).ok_or_else(error)
            });
            Ok(Arc::new(days.collect::<Result<Date32Array>>()?))
        },
    )
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
                let micros = end.checked_sub(start).ok_or_else(out_of_range)?;
                let days = i32::try_from(micros / MICROS_PER_DAY).map_err(|_| out_of_range())?;
                let nanos = micros % MICROS_PER_DAY * NANOS_PER_MICRO;
                Ok(Some(IntervalMonthDayNano::new(0, days, nanos)))
            });
            Ok(Arc::new(values.collect::<Result<IntervalMonthDayNanoArray>>()?))
        },
    )
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
    function("time_plus", |_| Ok((vec![TIME, INTERVAL], TIME)), |args| later(args, 1))
}

/// Time of day minus interval, modulo 24 hours.
pub fn time_minus() -> ScalarUDF {
    function("time_minus", |_| Ok((vec![TIME, INTERVAL], TIME)), |args| later(args, -1))
}

fn later(args: &[ArrayRef], sign: i64) -> Result<ArrayRef> {
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
                let midnight = i64::from(date).checked_mul(MICROS_PER_DAY);
                let moment = midnight.and_then(|midnight| midnight.checked_add(time));
                moment.map(Some).ok_or_else(out_of_range)
            });
            Ok(Arc::new(values.collect::<Result<TimestampMicrosecondArray>>()?))
        },
    )
}

/// The name of the function that implements `age`.
pub const AGE: &str = "timestamp_age";

/// `age`: difference of two timestamps in years, months, days and time.
pub(super) fn age() -> ScalarUDF {
    function(
        AGE,
        |_| Ok((vec![TIMESTAMP, TIMESTAMP], INTERVAL)),
        |args| {
            let ends = args[0].as_primitive::<TimestampMicrosecondType>();
            let starts = args[1].as_primitive::<TimestampMicrosecondType>();
            let values = ends.iter().zip(starts).map(|(end, start)| {
                let Some((end, start)) = end.zip(start) else { return Ok(None) };
                age_between(end, start).map(Some).ok_or_else(out_of_range)
            });
            Ok(Arc::new(values.collect::<Result<IntervalMonthDayNanoArray>>()?))
        },
    )
}

fn age_between(end: i64, start: i64) -> Option<IntervalMonthDayNano> {
    let sign = if end < start { -1 } else { 1 };
    let fields =
        |micros: i64| (civil(micros.div_euclid(MICROS_PER_DAY)), micros.rem_euclid(MICROS_PER_DAY));
    let (((end_year, end_month, end_day), end_time), ((year, month, day), time)) =
        (fields(end), fields(start));
    let mut time = (end_time - time) * sign;
    let mut days = (end_day - day) * sign;
    let mut months = ((end_year - year) * 12 + end_month - month) * sign;
    if time < 0 {
        (time, days) = (time + MICROS_PER_DAY, days - 1);
    }
    // An incomplete month counts in days of the earlier month.
    let (year, month) = if sign < 0 { (end_year, end_month) } else { (year, month) };
    let length = (28..=31).rev().find(|day| days_of(year, month, *day).is_some())?;
    while days < 0 {
        (days, months) = (days + length, months - 1);
    }
    let (months, days) = (i32::try_from(months * sign).ok()?, i32::try_from(days * sign).ok()?);
    Some(IntervalMonthDayNano::new(months, days, time * sign * NANOS_PER_MICRO))
}
