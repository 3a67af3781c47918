//! `EXTRACT` and `date_part`: a field of a date, a time, a timestamp or an interval.
//!
//! `EXTRACT` returns a `numeric` whose scale depends on the field, so there is one function per scale.
//! `date_part` returns `double precision`.

use super::intervals::INTERVAL;
use columnar::function;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, Float64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType, TimeUnit,
};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};
use values::fields::{Field, Interval, Part, of_interval, of_moment};
use values::moments::{FIRST_DATE, FIRST_TIMESTAMP, LAST_DATE, LAST_TIMESTAMP};
use values::types::of_arrow;

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_HOUR: i64 = 3600 * MICROS_PER_SECOND;
const MICROS_PER_DAY: i64 = 24 * MICROS_PER_HOUR;
/// The Julian day of 1970-01-01.
const JULIAN_1970: i64 = 2_440_588;

/// `date_part`.
pub(super) fn date_part() -> ScalarUDF {
    function(
        "date_part",
        |types| Ok((arguments(types)?, DataType::Float64)),
        |args| {
            let values = fields(args)?.into_iter().map(|value| {
                Some(match value? {
                    Part::Finite(value) => value as f64 / 1e6,
                    Part::Julian(days, time) => days as f64 + time as f64 / MICROS_PER_DAY as f64,
                    Part::Infinite(true) => f64::INFINITY,
                    Part::Infinite(false) => f64::NEG_INFINITY,
                })
            });
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
    let values = fields(args)?.into_iter().map(|value| match value {
        Some(Part::Finite(value)) => Ok(Some(value / unit)),
        Some(Part::Julian(days, _)) => Ok(Some(i128::from(days) * (1_000_000 / unit))),
        // Numbers of a fixed scale have no infinity.
        Some(Part::Infinite(_)) => {
            let message = "EXTRACT of an infinite value that is not a constant is not supported";
            Err(Error::unsupported(message).with_hint("date_part gives it."))
        }
        None => Ok(None),
    });
    let values = values.collect::<Result<Decimal128Array>>()?;
    Ok(Arc::new(values.with_precision_and_scale(20, scale as i8)?))
}

/// Whether a field of infinite values is infinite. Other fields are NULL.
pub fn is_infinite_field(field: &str) -> bool {
    Field::named(field).is_some_and(Field::grows)
}

/// The field of each row.
fn fields(args: &[ArrayRef]) -> Result<Vec<Option<Part>>> {
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
                (Some(field), true) => {
                    let IntervalMonthDayNano { months, days, nanoseconds } = values.value(row);
                    let value = Interval { months, days, micros: nanoseconds / 1000 };
                    let part = of_interval(field, value).map(Part::Finite);
                    part.map(Some).ok_or_else(|| {
                        Error::unsupported("this unit is not supported for type interval")
                    })
                }
                _ => Ok(None),
            })
            .collect();
    }
    of_moments(values, field_at)
}

/// The fields of dates, times and timestamps.
fn of_moments(
    values: &ArrayRef,
    field_at: impl Fn(usize) -> Result<Option<Field>>,
) -> Result<Vec<Option<Part>>> {
    let is_time = matches!(values.data_type(), DataType::Time64(_));
    let is_date = *values.data_type() == DataType::Date32;
    let (least, most) = match is_date {
        true => (i64::from(FIRST_DATE), i64::from(LAST_DATE)),
        false => (FIRST_TIMESTAMP, LAST_TIMESTAMP),
    };
    let values = match values.data_type() {
        DataType::Date32 => cast(&cast(values, &DataType::Int32)?, &DataType::Int64)?,
        _ => cast(values, &DataType::Int64)?,
    };
    let values = values.as_primitive::<Int64Type>();
    (0..values.len())
        .map(|row| match (field_at(row)?, values.is_valid(row)) {
            // 24:00 is a time of its own day.
            (Some(Field::Hour), true) if is_time => {
                let hours = values.value(row) / MICROS_PER_HOUR;
                Ok(Some(Part::Finite(i128::from(hours) * i128::from(MICROS_PER_SECOND))))
            }
            (Some(field), true) => {
                let value = values.value(row);
                if !is_time && (value == least || value == most) {
                    return Ok(field.grows().then_some(Part::Infinite(value == most)));
                }
                let (days, time) = match is_date {
                    true => (value, 0),
                    false => (value.div_euclid(MICROS_PER_DAY), value.rem_euclid(MICROS_PER_DAY)),
                };
                Ok(Some(match field {
                    Field::Julian => Part::Julian(days + JULIAN_1970, time),
                    field => Part::Finite(of_moment(field, days, time)),
                }))
            }
            _ => Ok(None),
        })
        .collect()
}
