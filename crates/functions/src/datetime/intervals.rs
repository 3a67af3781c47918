//! Functions on intervals. For comparisons, and to carry fractions into smaller units, a month has
//! 30 days and a day 24 hours.

use columnar::{Types, function};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Decimal128Array};
use datafusion::arrow::array::{Float64Array, IntervalMonthDayNanoArray};
use datafusion::arrow::datatypes::{
    DataType, Float64Type, Int32Type, IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalUnit,
};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

const DAYS_PER_MONTH: i64 = 30;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// The Arrow type of intervals.
pub const INTERVAL: DataType = DataType::Interval(IntervalUnit::MonthDayNano);

/// The functions that statements can call.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        function("justify_hours", |_| Ok((vec![INTERVAL], INTERVAL)), |args| each(args, hours)),
        function("justify_days", |_| Ok((vec![INTERVAL], INTERVAL)), |args| each(args, days)),
        function("justify_interval", |_| Ok((vec![INTERVAL], INTERVAL)), |args| each(args, both)),
        function("make_interval", of_parts, make),
    ]
}

/// An interval times a number.
pub fn multiply() -> ScalarUDF {
    function("interval_multiply", |_| Ok((scaling(), INTERVAL)), |args| scale(args, |a, b| a * b))
}

/// An interval divided by a number.
pub fn divide() -> ScalarUDF {
    function("interval_divide", |_| Ok((scaling(), INTERVAL)), quotient)
}

/// The interval at a part of the way from one to another.
///
/// # Errors
/// 22008: it is out of range.
pub(crate) fn between(
    from: IntervalMonthDayNano,
    to: IntervalMonthDayNano,
    way: f64,
) -> Result<IntervalMonthDayNano> {
    let far = difference(to, from).ok_or_else(out_of_range)?;
    let near = scaled(far, |part| part * way).and_then(|near| sum(near, from));
    near.ok_or_else(out_of_range)
}

/// The sum of two intervals, part by part.
pub fn plus() -> ScalarUDF {
    function("interval_plus", |_| Ok((vec![INTERVAL; 2], INTERVAL)), |args| together(args, sum))
}

/// The difference of two intervals, part by part.
pub fn minus() -> ScalarUDF {
    function(
        "interval_minus",
        |_| Ok((vec![INTERVAL; 2], INTERVAL)),
        |args| together(args, difference),
    )
}

/// An interval with the other sign.
pub fn negative() -> ScalarUDF {
    function("interval_neg", |_| Ok((vec![INTERVAL], INTERVAL)), |args| each(args, negated))
}

fn sum(left: IntervalMonthDayNano, right: IntervalMonthDayNano) -> Option<IntervalMonthDayNano> {
    Some(IntervalMonthDayNano::new(
        left.months.checked_add(right.months)?,
        left.days.checked_add(right.days)?,
        left.nanoseconds.checked_add(right.nanoseconds)?,
    ))
}

fn difference(
    left: IntervalMonthDayNano,
    right: IntervalMonthDayNano,
) -> Option<IntervalMonthDayNano> {
    Some(IntervalMonthDayNano::new(
        left.months.checked_sub(right.months)?,
        left.days.checked_sub(right.days)?,
        left.nanoseconds.checked_sub(right.nanoseconds)?,
    ))
}

/// An interval with the other sign; `None` if that is out of range.
pub(super) fn negated(value: IntervalMonthDayNano) -> Option<IntervalMonthDayNano> {
    Some(IntervalMonthDayNano::new(
        value.months.checked_neg()?,
        value.days.checked_neg()?,
        value.nanoseconds.checked_neg()?,
    ))
}

fn together(
    args: &[ArrayRef],
    change: fn(IntervalMonthDayNano, IntervalMonthDayNano) -> Option<IntervalMonthDayNano>,
) -> Result<ArrayRef> {
    let pairs = intervals(&args[0]).iter().zip(intervals(&args[1]));
    let values = pairs.map(|pair| match pair {
        (Some(left), Some(right)) => change(left, right).map(Some).ok_or_else(out_of_range),
        _ => Ok(None),
    });
    Ok(Arc::new(values.collect::<Result<IntervalMonthDayNanoArray>>()?))
}

/// The length in nanoseconds, by which intervals are compared.
pub fn length() -> ScalarUDF {
    let types: Types = |_| Ok((vec![INTERVAL], DataType::Decimal128(38, 0)));
    function("interval_length", types, |args| lengths(&args[0]))
}

/// The lengths of intervals in nanoseconds.
pub(crate) fn lengths(values: &ArrayRef) -> Result<ArrayRef> {
    let lengths: Decimal128Array = intervals(values).iter().map(|value| value.map(nanos)).collect();
    Ok(Arc::new(lengths.with_precision_and_scale(38, 0)?))
}

/// An interval in nanoseconds.
pub(super) fn nanos(value: IntervalMonthDayNano) -> i128 {
    let days = i128::from(value.months) * i128::from(DAYS_PER_MONTH) + i128::from(value.days);
    days * i128::from(NANOS_PER_DAY) + i128::from(value.nanoseconds)
}

fn scaling() -> Vec<DataType> {
    vec![INTERVAL, DataType::Float64]
}

fn intervals(array: &ArrayRef) -> &IntervalMonthDayNanoArray {
    array.as_primitive::<IntervalMonthDayNanoType>()
}

fn out_of_range() -> Error {
    Error::new(SqlState::DatetimeFieldOverflow, "interval out of range")
}

fn each(
    args: &[ArrayRef],
    change: fn(IntervalMonthDayNano) -> Option<IntervalMonthDayNano>,
) -> Result<ArrayRef> {
    let values = intervals(&args[0]).iter();
    let values =
        values.map(|value| value.map(|value| change(value).ok_or_else(out_of_range)).transpose());
    Ok(Arc::new(values.collect::<Result<IntervalMonthDayNanoArray>>()?))
}

/// Converts 24 hours to a day.
fn hours(value: IntervalMonthDayNano) -> Option<IntervalMonthDayNano> {
    let days = i64::from(value.days) + value.nanoseconds / NANOS_PER_DAY;
    let (days, time) = same_sign(days, value.nanoseconds % NANOS_PER_DAY, NANOS_PER_DAY);
    Some(IntervalMonthDayNano::new(value.months, i32::try_from(days).ok()?, time))
}

/// Converts 30 days to a month.
fn days(value: IntervalMonthDayNano) -> Option<IntervalMonthDayNano> {
    let months = i64::from(value.months) + i64::from(value.days) / DAYS_PER_MONTH;
    let days = i64::from(value.days) % DAYS_PER_MONTH;
    let (months, days) = same_sign(months, days, DAYS_PER_MONTH);
    let (months, days) = (i32::try_from(months).ok()?, i32::try_from(days).ok()?);
    Some(IntervalMonthDayNano::new(months, days, value.nanoseconds))
}

/// Converts hours to days and days to months, with one sign for all.
fn both(value: IntervalMonthDayNano) -> Option<IntervalMonthDayNano> {
    let mut time = value.nanoseconds % NANOS_PER_DAY;
    let mut days = i64::from(value.days) + value.nanoseconds / NANOS_PER_DAY;
    let mut months = i64::from(value.months) + days / DAYS_PER_MONTH;
    days %= DAYS_PER_MONTH;
    if months > 0 && (days < 0 || days == 0 && time < 0) {
        (months, days) = (months - 1, days + DAYS_PER_MONTH);
    } else if months < 0 && (days > 0 || days == 0 && time > 0) {
        (months, days) = (months + 1, days - DAYS_PER_MONTH);
    }
    (days, time) = same_sign(days, time, NANOS_PER_DAY);
    Some(IntervalMonthDayNano::new(i32::try_from(months).ok()?, i32::try_from(days).ok()?, time))
}

/// Gives two parts the same sign; `size` of the lower make one of the upper.
fn same_sign(upper: i64, lower: i64, size: i64) -> (i64, i64) {
    match (upper.signum(), lower.signum()) {
        (1, -1) => (upper - 1, lower + size),
        (-1, 1) => (upper + 1, lower - size),
        _ => (upper, lower),
    }
}

pub(crate) fn quotient(args: &[ArrayRef]) -> Result<ArrayRef> {
    let divisors: &Float64Array = args[1].as_primitive::<Float64Type>();
    if (0..args[0].len())
        .any(|row| args[0].is_valid(row) && divisors.is_valid(row) && divisors.value(row) == 0.0)
    {
        return Err(Error::new(SqlState::DivisionByZero, "division by zero"));
    }
    scale(args, |value, divisor| value / divisor)
}

/// Scales each part. Fractions of months are carried into days, fractions of days into the time.
fn scale(args: &[ArrayRef], by: fn(f64, f64) -> f64) -> Result<ArrayRef> {
    let factors: &Float64Array = args[1].as_primitive::<Float64Type>();
    let values = intervals(&args[0]).iter().zip(factors).map(|pair| match pair {
        (Some(value), Some(factor)) => {
            scaled(value, |part| by(part, factor)).map(Some).ok_or_else(out_of_range)
        }
        _ => Ok(None),
    });
    Ok(Arc::new(values.collect::<Result<IntervalMonthDayNanoArray>>()?))
}

fn scaled(value: IntervalMonthDayNano, by: impl Fn(f64) -> f64) -> Option<IntervalMonthDayNano> {
    let micros = |seconds: f64| (seconds * 1e6).round_ties_even() / 1e6;
    let (months, mut days) = (by(value.months.into()), by(value.days.into()));
    let from_months = micros((months - months.trunc()) * DAYS_PER_MONTH as f64);
    let rest = days - days.trunc() + from_months - from_months.trunc();
    let mut seconds = micros(rest * SECONDS_PER_DAY);
    days = days.trunc();
    if seconds.abs() >= SECONDS_PER_DAY {
        days += (seconds / SECONDS_PER_DAY).trunc();
        seconds -= (seconds / SECONDS_PER_DAY).trunc() * SECONDS_PER_DAY;
    }
    days += from_months.trunc();
    let time = by(value.nanoseconds as f64 / 1e3) + seconds * 1e6;
    let time = time.round_ties_even() * 1e3;
    Some(IntervalMonthDayNano::new(
        whole(months.trunc(), i32::MAX.into())? as i32,
        whole(days, i32::MAX.into())? as i32,
        whole(time, i64::MAX as f64)? as i64,
    ))
}

/// A number within a limit.
fn whole(value: f64, limit: f64) -> Option<f64> {
    (value.abs() <= limit).then_some(value)
}

/// `make_interval(years, months, weeks, days, hours, mins, secs)`; trailing arguments are optional.
fn of_parts(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let mut parts = vec![DataType::Int32; types.len()];
    if let Some(seconds) = parts.get_mut(6) {
        *seconds = DataType::Float64;
    }
    match types.len() {
        0..=7 => Ok((parts, INTERVAL)),
        _ => {
            let message = "make_interval takes at most seven arguments";
            Err(Error::new(SqlState::UndefinedFunction, message))
        }
    }
}

fn make(args: &[ArrayRef]) -> Result<ArrayRef> {
    let rows = args.first().map_or(1, |first| first.len());
    let values = (0..rows).map(|row| {
        if args.iter().any(|array| array.is_null(row)) {
            return Ok(None);
        }
        let whole = |index: usize| match args.get(index) {
            Some(array) => i64::from(array.as_primitive::<Int32Type>().value(row)),
            None => 0,
        };
        let seconds =
            args.get(6).map_or(0.0, |array| array.as_primitive::<Float64Type>().value(row));
        let time = (whole(4) * 60 + whole(5)) as f64 * 60.0 + seconds;
        let made = || {
            Some(IntervalMonthDayNano::new(
                i32::try_from(whole(0) * 12 + whole(1)).ok()?,
                i32::try_from(whole(2) * 7 + whole(3)).ok()?,
                self::whole((time * 1e6).round_ties_even() * 1e3, i64::MAX as f64)? as i64,
            ))
        };
        made().map(Some).ok_or_else(out_of_range)
    });
    Ok(Arc::new(values.collect::<Result<IntervalMonthDayNanoArray>>()?))
}
