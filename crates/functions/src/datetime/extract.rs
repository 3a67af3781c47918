//! `EXTRACT` and `date_part`: a field of a date, a time, a timestamp or an interval.
//!
//! `EXTRACT` returns a `numeric` whose scale depends on the field, so there is one function per scale.
//! `date_part` returns `double precision`.

use super::intervals::INTERVAL;
use crate::columnar::function;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, Float64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType, TimeUnit,
};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};
use values::text::{civil, days_of};
use values::types::of_arrow;

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_HOUR: i64 = 3600 * MICROS_PER_SECOND;
const MICROS_PER_DAY: i64 = 24 * MICROS_PER_HOUR;

/// `date_part`.
pub(super) fn date_part() -> ScalarUDF {
    function(
        "date_part",
        |types| Ok((arguments(types)?, DataType::Float64)),
        |args| {
            let values = fields(args)?;
            let values = values.into_iter().map(|value| value.map(|value| value as f64 / 1e6));
            Ok(Arc::new(values.collect::<Float64Array>()))
        },
    )
}

/// `EXTRACT` of a field.
pub fn of_field(field: &str) -> ScalarUDF {
    match Field::named(field) {
        Some(Field::Epoch | Field::Second) => {
            function("extract_seconds", |types| numeric(types, 6), |args| numbers(args, 6))
        }
        Some(Field::Milliseconds) => {
            function("extract_milliseconds", |types| numeric(types, 3), |args| numbers(args, 3))
        }
        _ => function("extract", |types| numeric(types, 0), |args| numbers(args, 0)),
    }
}

fn numeric(types: &[DataType], scale: i8) -> Result<(Vec<DataType>, DataType)> {
    // A date has whole seconds.
    let is_date = matches!(types, [_, DataType::Date32 | DataType::Date64]);
    Ok((arguments(types)?, DataType::Decimal128(20, if is_date { 0 } else { scale })))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Microseconds,
    Milliseconds,
    Second,
    Minute,
    Hour,
    Day,
    DayOfWeek,
    IsoDayOfWeek,
    DayOfYear,
    Week,
    IsoYear,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
    Millennium,
    Epoch,
    Julian,
    TimeZone,
}

impl Field {
    fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "microsecond" | "microseconds" | "us" | "usec" => Self::Microseconds,
            "millisecond" | "milliseconds" | "ms" | "msec" => Self::Milliseconds,
            "second" | "seconds" | "sec" | "secs" | "s" => Self::Second,
            "minute" | "minutes" | "min" | "mins" | "m" => Self::Minute,
            "hour" | "hours" | "hr" | "hrs" | "h" => Self::Hour,
            "day" | "days" | "d" => Self::Day,
            "dow" => Self::DayOfWeek,
            "isodow" => Self::IsoDayOfWeek,
            "doy" => Self::DayOfYear,
            "week" | "weeks" | "w" => Self::Week,
            "isoyear" => Self::IsoYear,
            "month" | "months" | "mon" | "mons" => Self::Month,
            "quarter" => Self::Quarter,
            "year" | "years" | "yr" | "yrs" | "y" => Self::Year,
            "decade" | "decades" => Self::Decade,
            "century" | "centuries" => Self::Century,
            "millennium" | "millennia" => Self::Millennium,
            "epoch" => Self::Epoch,
            "julian" => Self::Julian,
            "timezone" | "timezone_h" | "timezone_hour" | "timezone_m" | "timezone_minute" => {
                Self::TimeZone
            }
            _ => return None,
        })
    }

    fn is_of_time(self) -> bool {
        use Field::{Epoch, Hour, Microseconds, Milliseconds, Minute, Second};
        matches!(self, Microseconds | Milliseconds | Second | Minute | Hour | Epoch)
    }
}

/// The types of the arguments: the field's name, and a date, time, timestamp or interval.
fn arguments(types: &[DataType]) -> Result<Vec<DataType>> {
    let [_, of] = types else {
        let message = "date_part takes the name of a field and a value";
        return Err(Error::new(SqlState::UndefinedFunction, message));
    };
    let of = match of {
        DataType::Date32 | DataType::Date64 => DataType::Date32,
        DataType::Time32(_) | DataType::Time64(_) => DataType::Time64(TimeUnit::Microsecond),
        DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
        DataType::Interval(_) | DataType::Duration(_) => INTERVAL,
        DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            DataType::Timestamp(TimeUnit::Microsecond, None)
        }
        other => {
            let message = format!("function date_part(text, {}) does not exist", of_arrow(other));
            return Err(Error::new(SqlState::UndefinedFunction, message));
        }
    };
    Ok(vec![DataType::Utf8View, of])
}

fn numbers(args: &[ArrayRef], scale: u32) -> Result<ArrayRef> {
    let scale = if *args[1].data_type() == DataType::Date32 { 0 } else { scale };
    let unit = 10i128.pow(6 - scale);
    let values = fields(args)?;
    let values = values.into_iter().map(|value| value.map(|value| value / unit));
    let values: Decimal128Array = values.collect();
    Ok(Arc::new(values.with_precision_and_scale(20, scale as i8)?))
}

/// The field of each row, in millionths.
fn fields(args: &[ArrayRef]) -> Result<Vec<Option<i128>>> {
    let (names, values) = (args[0].as_string_view(), &args[1]);
    let type_name = of_arrow(values.data_type());
    let field_at = |row: usize| -> Result<Option<Field>> {
        if names.is_null(row) {
            return Ok(None);
        }
        let name = names.value(row);
        let Some(field) = Field::named(name) else {
            let message = format!("unit \"{name}\" not recognized for type {type_name}");
            return Err(Error::new(SqlState::InvalidParameterValue, message));
        };
        let is_supported = match values.data_type() {
            DataType::Time64(_) => field.is_of_time(),
            DataType::Date32 => field == Field::Epoch || !field.is_of_time(),
            _ => true,
        } && (field != Field::TimeZone
            || matches!(values.data_type(), DataType::Timestamp(_, Some(_))));
        if !is_supported {
            let message = format!("unit \"{name}\" not supported for type {type_name}");
            return Err(Error::new(SqlState::FeatureNotSupported, message));
        }
        Ok(Some(field))
    };
    if *values.data_type() == INTERVAL {
        let values = values.as_primitive::<IntervalMonthDayNanoType>();
        return (0..values.len())
            .map(|row| match (field_at(row)?, values.is_valid(row)) {
                (Some(field), true) => of_interval(field, values.value(row)).map(Some),
                _ => Ok(None),
            })
            .collect();
    }
    let is_time = matches!(values.data_type(), DataType::Time64(_));
    let per_value = if *values.data_type() == DataType::Date32 { MICROS_PER_DAY } else { 1 };
    let values = match values.data_type() {
        DataType::Date32 => cast(&cast(values, &DataType::Int32)?, &DataType::Int64)?,
        _ => cast(values, &DataType::Int64)?,
    };
    let values = values.as_primitive::<Int64Type>();
    (0..values.len())
        .map(|row| match (field_at(row)?, values.is_valid(row)) {
            // 24:00 is a time of its own day.
            (Some(Field::Hour), true) if is_time => {
                Ok(Some(i128::from(values.value(row) / MICROS_PER_HOUR * MICROS_PER_SECOND)))
            }
            (Some(field), true) => Ok(Some(of_moment(field, values.value(row) * per_value))),
            _ => Ok(None),
        })
        .collect()
}

/// A field of a timestamp given in microseconds since 1970, in millionths.
fn of_moment(field: Field, micros: i64) -> i128 {
    let (days, time) = (micros.div_euclid(MICROS_PER_DAY), micros.rem_euclid(MICROS_PER_DAY));
    let second = time % (60 * MICROS_PER_SECOND);
    let date = || civil(days);
    let whole = match field {
        Field::Microseconds => second,
        Field::Milliseconds => return i128::from(second) * 1000,
        Field::Second => return second.into(),
        Field::Epoch => return micros.into(),
        Field::Minute => time / (60 * MICROS_PER_SECOND) % 60,
        Field::Hour => time / MICROS_PER_HOUR,
        Field::Day => date().2,
        Field::DayOfWeek => (days + 4).rem_euclid(7),
        Field::IsoDayOfWeek => (days + 3).rem_euclid(7) + 1,
        Field::DayOfYear => days - first_day(date().0) + 1,
        Field::Week => (days - first_day(iso_year(days)) + first_weekday(days)) / 7 + 1,
        Field::IsoYear => shown_year(iso_year(days)),
        Field::Month => date().1,
        Field::Quarter => (date().1 - 1) / 3 + 1,
        Field::Year => shown_year(date().0),
        Field::Decade => date().0.div_euclid(10),
        Field::Century => parts_of_years(date().0, 100),
        Field::Millennium => parts_of_years(date().0, 1000),
        Field::Julian => {
            let fraction = i128::from(time) * 1_000_000 / i128::from(MICROS_PER_DAY);
            return i128::from(days + 2_440_588) * 1_000_000 + fraction;
        }
        Field::TimeZone => 0,
    };
    i128::from(whole) * 1_000_000
}

/// The first day of a year, counted from 1970.
fn first_day(year: i64) -> i64 {
    days_of(year, 1, 1).unwrap_or(0)
}

/// The ISO year of a day: the year of the Thursday of its week.
fn iso_year(days: i64) -> i64 {
    civil(days - (days + 3).rem_euclid(7) + 3).0
}

/// The offset from the start of the first ISO week to the first day of the year, in days.
fn first_weekday(days: i64) -> i64 {
    let weekday = (first_day(iso_year(days)) + 3).rem_euclid(7);
    if weekday <= 3 { weekday } else { weekday - 7 }
}

/// There is no year 0: 1 BC is -1.
fn shown_year(year: i64) -> i64 {
    if year > 0 { year } else { year - 1 }
}

/// The century or millennium of a year; both begin with a year 1.
fn parts_of_years(year: i64, size: i64) -> i64 {
    if year > 0 { (year + size - 1) / size } else { -((size - 1 - (year - 1)) / size) }
}

/// A field of an interval, in millionths.
fn of_interval(field: Field, value: IntervalMonthDayNano) -> Result<i128> {
    let (months, micros) = (i64::from(value.months), value.nanoseconds / 1000);
    let second = micros % (60 * MICROS_PER_SECOND);
    let whole = match field {
        Field::Microseconds => second,
        Field::Milliseconds => return Ok(i128::from(second) * 1000),
        Field::Second => return Ok(second.into()),
        Field::Minute => micros / (60 * MICROS_PER_SECOND) % 60,
        Field::Hour => micros / MICROS_PER_HOUR,
        Field::Day => value.days.into(),
        Field::Month => months % 12,
        Field::Quarter => months % 12 / 3 + 1,
        Field::Year => months / 12,
        Field::Decade => months / 120,
        Field::Century => months / 1200,
        Field::Millennium => months / 12_000,
        Field::Epoch => {
            // A year has 365.25 days.
            let quarter_days = months / 12 * 1461 + (months % 12 * 30 + i64::from(value.days)) * 4;
            let quarter_day = i128::from(MICROS_PER_DAY / 4);
            return Ok(i128::from(quarter_days) * quarter_day + i128::from(micros));
        }
        _ => {
            let message = "this unit is not supported for type interval";
            return Err(Error::new(SqlState::FeatureNotSupported, message));
        }
    };
    Ok(i128::from(whole) * 1_000_000)
}
