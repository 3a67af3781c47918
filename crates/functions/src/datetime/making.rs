//! Dates and times made of numbers, and cut to a unit: `make_date`, `make_time`, `make_timestamp[tz]`, `date_trunc`.

use super::intervals::INTERVAL;
use super::zones;
use columnar::checked;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, IntervalMonthDayNanoArray,
    StringViewArray, Time64MicrosecondArray, TimestampMicrosecondArray, new_empty_array,
    new_null_array,
};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Float64Type, Int32Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
    TimeUnit, TimestampMicrosecondType,
};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};
use values::moments;
use values::text::{civil, days_of};
use values::zone::Zone;

const INTEGER: DataType = DataType::Int32;
const TIME: DataType = DataType::Time64(TimeUnit::Microsecond);
const TIMESTAMP: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
const NANOS_PER_MICRO: i64 = 1000;

/// The functions of this file.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        checked("make_date", |_| Ok((vec![INTEGER; 3], DataType::Date32)), make_date),
        checked("make_time", |_| Ok((time_parts(0), TIME)), make_time),
        checked(
            "make_timestamp",
            |_| Ok((time_parts(3), TIMESTAMP)),
            |args| Ok(Arc::new(timestamps(args)?)),
        ),
        checked("make_timestamptz", zoned_types, make_zoned),
        checked(
            "isfinite",
            |types| Ok((types.get(..1).unwrap_or_default().to_vec(), DataType::Boolean)),
            |args| {
                let values = (0..args[0].len())
                    .map(|row| args[0].is_valid(row).then(|| is_finite(&args[0], row)));
                Ok(Arc::new(values.collect::<BooleanArray>()))
            },
        ),
        checked("date_trunc", trunc_types, date_trunc),
        checked("date_bin", bin_types, date_bin),
    ]
}

fn is_finite(values: &ArrayRef, row: usize) -> bool {
    if let Some(dates) = values.as_primitive_opt::<Date32Type>() {
        return !moments::is_infinite_date(dates.value(row));
    }
    let timestamps = values.as_primitive_opt::<TimestampMicrosecondType>();
    timestamps.is_none_or(|timestamps| !moments::is_infinite(timestamps.value(row)))
}

/// Some integers, then hour, minute and second.
fn time_parts(before: usize) -> Vec<DataType> {
    [vec![INTEGER; before + 2], vec![DataType::Float64]].concat()
}

fn zoned() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into()))
}

fn zoned_types(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let mut arguments = time_parts(3);
    arguments.extend((types.len() == 7).then_some(DataType::Utf8View));
    Ok((arguments, zoned()))
}

fn out_of_range(message: String) -> Error {
    Error::new(SqlState::DatetimeFieldOverflow, message)
}

fn integer(args: &[ArrayRef], index: usize, row: usize) -> i64 {
    args[index].as_primitive::<Int32Type>().value(row).into()
}

fn is_null(args: &[ArrayRef], row: usize) -> bool {
    args.iter().any(|array| array.is_null(row))
}

/// A date of its parts; a negative year is BC.
fn date(args: &[ArrayRef], row: usize) -> Result<i64> {
    let [year, month, day] = [0, 1, 2].map(|index| integer(args, index, row));
    let astronomical = if year < 0 { year + 1 } else { year };
    let days = days_of(astronomical, month, day).filter(|_| year != 0);
    days.ok_or_else(|| {
        out_of_range(format!("date field value out of range: {year}-{month:02}-{day:02}"))
    })
}

/// A time of its parts from an argument on.
fn time(args: &[ArrayRef], from: usize, row: usize) -> Result<i64> {
    let (hour, minute) = (integer(args, from, row), integer(args, from + 1, row));
    let second = args[from + 2].as_primitive::<Float64Type>().value(row);
    let micros = (second * 1e6).round_ties_even();
    let is_time = (0..=24).contains(&hour) && (0..60).contains(&minute);
    let time = ((hour * 3600 + minute * 60) * MICROS_PER_SECOND).saturating_add(micros as i64);
    // NaN is in no range. A second may be a leap second, and midnight the end of a day.
    if !is_time || !(0.0..=60e6).contains(&micros) || time > MICROS_PER_DAY {
        let message = format!("time field value out of range: {hour}:{minute:02}:{second:02}");
        return Err(out_of_range(message));
    }
    Ok(time)
}

fn make_date(args: &[ArrayRef]) -> Result<ArrayRef> {
    let rows = (0..args[0].len()).map(|row| {
        if is_null(args, row) {
            Ok(None)
        } else {
            let days = moments::date(date(args, row)?);
            let [year, month, day] = [0, 1, 2].map(|index| integer(args, index, row));
            let message = || format!("date out of range: {year}-{month:02}-{day:02}");
            days.map(Some).ok_or_else(|| out_of_range(message()))
        }
    });
    Ok(Arc::new(rows.collect::<Result<Date32Array>>()?))
}

fn make_time(args: &[ArrayRef]) -> Result<ArrayRef> {
    let rows = (0..args[0].len())
        .map(|row| if is_null(args, row) { Ok(None) } else { time(args, 0, row).map(Some) });
    Ok(Arc::new(rows.collect::<Result<Time64MicrosecondArray>>()?))
}

fn timestamps(args: &[ArrayRef]) -> Result<TimestampMicrosecondArray> {
    let rows = (0..args[0].len()).map(|row| {
        if is_null(args, row) {
            return Ok(None);
        }
        let (days, time) = (date(args, row)?, time(args, 3, row)?);
        let micros = moments::on_day(days, time);
        micros.map(Some).ok_or_else(|| out_of_range("timestamp out of range".to_owned()))
    });
    rows.collect()
}

fn make_zoned(args: &[ArrayRef]) -> Result<ArrayRef> {
    let local: ArrayRef = Arc::new(timestamps(args)?);
    match args.get(6) {
        Some(zone) => zones::shifted(&[offsets_east(zone)?, local]),
        None => {
            let local = local.as_primitive::<TimestampMicrosecondType>().clone();
            Ok(Arc::new(local.with_timezone("+00:00")))
        }
    }
}

/// The greatest hour of an offset.
const OFFSET_HOUR_MAX: u32 = 15;

/// Zones in which an offset counts east of Greenwich, unlike in AT TIME ZONE.
///
/// # Errors
/// 22023 for an offset without a sign, or of 16 hours and more.
fn offsets_east(zones: &ArrayRef) -> Result<ArrayRef> {
    let turned = zones.as_string_view().iter().map(|zone| {
        let Some(zone) = zone else { return Ok(None) };
        let (sign, rest) = zone.split_at_checked(1).unwrap_or((zone, ""));
        Ok(Some(match sign {
            "+" => format!("-{}", checked_offset(zone, rest)?),
            "-" => format!("+{}", checked_offset(zone, rest)?),
            _ if sign.starts_with(|first: char| first.is_ascii_digit()) => {
                let message =
                    format!("invalid input syntax for type numeric time zone: \"{zone}\"");
                let hint = "Numeric time zones must have \"-\" or \"+\" as first character.";
                let error = Error::new(SqlState::InvalidParameterValue, message).with_hint(hint);
                return Err(error);
            }
            _ => zone.to_owned(),
        }))
    });
    Ok(Arc::new(turned.collect::<Result<StringViewArray>>()?))
}

/// The hours and minutes of an offset, which may have no colon between them.
fn checked_offset(zone: &str, digits: &str) -> Result<String> {
    let digits = digits.strip_suffix(':').unwrap_or(digits);
    let (first, rest) = match digits.split_once(':') {
        Some((hours, rest)) => (hours, format!(":{rest}")),
        None if digits.len() > 2 && digits.is_ascii() => {
            let (hours, minutes) = digits.split_at(digits.len() - 2);
            (hours, format!(":{minutes}"))
        }
        None => (digits, String::new()),
    };
    match first.parse::<u32>() {
        Ok(hours) if hours > OFFSET_HOUR_MAX => {
            let message = format!("numeric time zone \"{zone}\" out of range");
            Err(Error::new(SqlState::InvalidParameterValue, message))
        }
        _ => Ok(format!("{first}{rest}")),
    }
}

/// A unit, a moment or an interval, and a zone for moments with one.
fn trunc_types(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let unit = DataType::Utf8View;
    Ok(match types {
        [_, DataType::Interval(_)] => (vec![unit, INTERVAL], INTERVAL),
        [_, DataType::Timestamp(_, None)] => (vec![unit, TIMESTAMP], TIMESTAMP),
        [_, DataType::Timestamp(..) | DataType::Date32] => (vec![unit, zoned()], zoned()),
        [_, _] => (vec![unit, zoned()], zoned()),
        [_, _, _] => (vec![unit, zoned(), DataType::Utf8View], zoned()),
        _ => {
            let message = format!("function date_trunc does not take {} arguments", types.len());
            return Err(Error::new(SqlState::UndefinedFunction, message));
        }
    })
}

/// What a value is cut to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// So many microseconds, which divide a day.
    Micros(i64),
    Week,
    /// So many months from January on.
    Months(i64),
    /// So many years; those of decades begin with 0, of centuries with 1.
    Years(i64),
}

impl Unit {
    fn named(name: &str, of: &str) -> Result<Self> {
        let name = name.to_lowercase();
        Ok(match name.as_str() {
            "microseconds" | "microsecond" | "us" | "usec" | "usecs" | "usecond" | "useconds"
            | "microsecon" => Self::Micros(1),
            "milliseconds" | "millisecond" | "ms" | "msec" | "msecs" | "msecond" | "mseconds"
            | "millisecon" => Self::Micros(1000),
            "second" | "seconds" | "s" | "sec" | "secs" => Self::Micros(MICROS_PER_SECOND),
            "minute" | "minutes" | "m" | "min" | "mins" => Self::Micros(60 * MICROS_PER_SECOND),
            "hour" | "hours" | "h" | "hr" | "hrs" => Self::Micros(3600 * MICROS_PER_SECOND),
            "day" | "days" | "d" => Self::Micros(MICROS_PER_DAY),
            "week" | "weeks" | "w" => Self::Week,
            "month" | "months" | "mon" | "mons" => Self::Months(1),
            "quarter" | "qtr" => Self::Months(3),
            "year" | "years" | "y" | "yr" | "yrs" => Self::Years(1),
            "decade" | "decades" | "dec" | "decs" => Self::Years(10),
            "century" | "centuries" | "c" | "cent" => Self::Years(100),
            "millennium" | "millennia" | "mil" | "mils" => Self::Years(1000),
            "timezone" | "timezone_h" | "timezone_m" => {
                let message = format!("unit \"{name}\" not supported for type {of}");
                return Err(Error::new(SqlState::FeatureNotSupported, message));
            }
            _ => {
                let message = format!("unit \"{name}\" not recognized for type {of}");
                return Err(Error::new(SqlState::InvalidParameterValue, message));
            }
        })
    }
}

fn date_trunc(args: &[ArrayRef]) -> Result<ArrayRef> {
    if args[1].data_type() == &INTERVAL {
        return cut_intervals(args);
    }
    let Some(zones) = args.get(2) else { return cut_moments(args) };
    let zones = zones.as_string_view();
    let mut pieces: Vec<ArrayRef> = Vec::with_capacity(args[1].len());
    let mut row = 0;
    // Rows of the same zone are cut together.
    while row < zones.len() {
        let zone = zones.is_valid(row).then(|| zones.value(row));
        let is_other =
            |other: &usize| (zones.is_valid(*other).then(|| zones.value(*other))) != zone;
        let end = (row + 1..zones.len()).find(is_other).unwrap_or(zones.len());
        let part: Vec<ArrayRef> = args[..2].iter().map(|all| all.slice(row, end - row)).collect();
        pieces.push(match zone {
            Some(zone) => cut_in_zone(&part, zones::named(zone)?)?,
            None => new_null_array(&zoned(), end - row),
        });
        row = end;
    }
    if pieces.is_empty() {
        return Ok(new_empty_array(&zoned()));
    }
    let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
    Ok(concat(&pieces)?)
}

/// The unit of each row.
fn units<'a>(names: &'a StringViewArray, of: &'a str) -> impl FnMut(usize) -> Result<Unit> + 'a {
    let mut last: Option<(&str, Unit)> = None;
    move |row| {
        let name = names.value(row);
        match last {
            Some((before, unit)) if before == name => Ok(unit),
            _ => {
                let unit = Unit::named(name, of)?;
                last = Some((name, unit));
                Ok(unit)
            }
        }
    }
}

fn cut_moments(args: &[ArrayRef]) -> Result<ArrayRef> {
    let values = args[1].as_primitive::<TimestampMicrosecondType>();
    let zone = values.timezone();
    let of =
        if zone.is_some() { "timestamp with time zone" } else { "timestamp without time zone" };
    let mut unit = units(args[0].as_string_view(), of);
    let rows = (0..values.len()).map(|row| {
        if is_null(args, row) {
            return Ok(None);
        }
        if moments::is_infinite(values.value(row)) {
            return Ok(Some(values.value(row)));
        }
        let cut = cut_moment(values.value(row), unit(row)?);
        cut.map(Some).ok_or_else(|| out_of_range("timestamp out of range".to_owned()))
    });
    let cut = rows.collect::<Result<TimestampMicrosecondArray>>()?;
    Ok(Arc::new(cut.with_timezone_opt(zone.map(Arc::<str>::from))))
}

/// Timestamps with time zone cut by the calendar of a zone. Parts of a day keep the offset that their moment has.
pub(super) fn cut_in_zone(args: &[ArrayRef], zone: Zone) -> Result<ArrayRef> {
    let values = args[1].as_primitive::<TimestampMicrosecondType>();
    let mut unit = units(args[0].as_string_view(), "timestamp with time zone");
    let rows = (0..values.len()).map(|row| {
        if is_null(args, row) {
            return Ok(None);
        }
        if moments::is_infinite(values.value(row)) {
            return Ok(Some(values.value(row)));
        }
        let (micros, unit) = (values.value(row), unit(row)?);
        let offset = zone.offset_at(micros) * MICROS_PER_SECOND;
        let cut = micros.checked_add(offset).and_then(|local| cut_moment(local, unit));
        let cut = cut.and_then(|local| match unit {
            Unit::Micros(size) if size < MICROS_PER_DAY => {
                moments::timestamp(local.checked_sub(offset)?)
            }
            _ => zone.instant(local),
        });
        cut.map(Some).ok_or_else(|| out_of_range("timestamp out of range".to_owned()))
    });
    let cut = rows.collect::<Result<TimestampMicrosecondArray>>()?;
    Ok(Arc::new(cut.with_timezone("+00:00")))
}

fn cut_moment(micros: i64, unit: Unit) -> Option<i64> {
    let days = micros.div_euclid(MICROS_PER_DAY);
    let (year, month, _) = civil(days);
    let days = match unit {
        Unit::Micros(unit) => {
            return moments::timestamp(micros.checked_sub(micros.rem_euclid(unit))?);
        }
        // 1970-01-01 was a Thursday.
        Unit::Week => days - (days + 3).rem_euclid(7),
        Unit::Months(months) => days_of(year, month - (month - 1) % months, 1)?,
        Unit::Years(1) => days_of(year, 1, 1)?,
        Unit::Years(10) => days_of(year - year.rem_euclid(10), 1, 1)?,
        // 1 to 100 is the first century, and 1 BC, year 0, of the one before.
        Unit::Years(years) => days_of((year - 1).div_euclid(years) * years + 1, 1, 1)?,
    };
    moments::on_day(days, 0)
}

fn cut_intervals(args: &[ArrayRef]) -> Result<ArrayRef> {
    let values = args[1].as_primitive::<IntervalMonthDayNanoType>();
    let mut unit = units(args[0].as_string_view(), "interval");
    let rows = (0..values.len()).map(|row| {
        if is_null(args, row) {
            return Ok(None);
        }
        let value = values.value(row);
        Ok(Some(match unit(row)? {
            Unit::Micros(MICROS_PER_DAY) => IntervalMonthDayNano::new(value.months, value.days, 0),
            Unit::Micros(unit) => {
                let unit = unit * NANOS_PER_MICRO;
                let nanos = value.nanoseconds - value.nanoseconds % unit;
                IntervalMonthDayNano::new(value.months, value.days, nanos)
            }
            Unit::Week => {
                let message = "unit \"week\" not supported for type interval";
                let detail = "Months usually have fractional weeks.";
                let error = Error::new(SqlState::FeatureNotSupported, message);
                return Err(error.with_detail(detail));
            }
            Unit::Months(months) => whole_months(value.months, months),
            Unit::Years(years) => whole_months(value.months, years * 12),
        }))
    });
    Ok(Arc::new(rows.collect::<Result<IntervalMonthDayNanoArray>>()?))
}

/// Months are cut within their year, years by themselves.
fn whole_months(months: i32, unit: i64) -> IntervalMonthDayNano {
    let months = i64::from(months);
    let cut = months - months % unit;
    IntervalMonthDayNano::new(i32::try_from(cut).unwrap_or(0), 0, 0)
}

/// A stride, a moment and an origin.
fn bin_types(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let is_plain = |of: &DataType| matches!(of, DataType::Timestamp(_, None));
    let of = match types {
        [_, source, origin] if is_plain(source) || source.is_string() && is_plain(origin) => {
            TIMESTAMP
        }
        [_, _, _] => zoned(),
        _ => {
            let message = format!("function date_bin does not take {} arguments", types.len());
            return Err(Error::new(SqlState::UndefinedFunction, message));
        }
    };
    Ok((vec![INTERVAL, of.clone(), of.clone()], of))
}

fn date_bin(args: &[ArrayRef]) -> Result<ArrayRef> {
    let strides = args[0].as_primitive::<IntervalMonthDayNanoType>();
    let values = args[1].as_primitive::<TimestampMicrosecondType>();
    let origins = args[2].as_primitive::<TimestampMicrosecondType>();
    let rows = (0..values.len()).map(|row| {
        if is_null(args, row) {
            return Ok(None);
        }
        let (value, origin) = (values.value(row), origins.value(row));
        if moments::is_infinite(value) {
            return Ok(Some(value));
        }
        if moments::is_infinite(origin) {
            return Err(out_of_range("origin out of range".to_owned()));
        }
        let stride = strides.value(row);
        if stride.months != 0 {
            let message = "timestamps cannot be binned into intervals containing months or years";
            return Err(Error::unsupported(message));
        }
        let interval = || out_of_range("interval out of range".to_owned());
        let days = i64::from(stride.days).checked_mul(MICROS_PER_DAY);
        let stride = days.and_then(|days| days.checked_add(stride.nanoseconds / NANOS_PER_MICRO));
        let stride = stride.ok_or_else(interval)?;
        if stride <= 0 {
            return Err(out_of_range("stride must be greater than zero".to_owned()));
        }
        let since = value.checked_sub(origin).ok_or_else(interval)?;
        let bin = value.checked_sub(since.rem_euclid(stride)).and_then(moments::timestamp);
        bin.map(Some).ok_or_else(|| out_of_range("timestamp out of range".to_owned()))
    });
    let bins = rows.collect::<Result<TimestampMicrosecondArray>>()?;
    Ok(Arc::new(bins.with_timezone_opt(values.timezone().map(Arc::<str>::from))))
}
