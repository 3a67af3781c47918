//! `AT TIME ZONE`: conversion between timestamps in UTC and the local time of a zone.

use crate::columnar::function;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, TimestampMicrosecondArray};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{
    DataType, IntervalMonthDayNanoType, TimeUnit, TimestampMicrosecondType,
};
use datafusion::logical_expr::ScalarUDF;
use std::collections::HashMap;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The name of the function. Its arguments are a zone and a timestamp with or without time zone.
pub const AT_TIME_ZONE: &str = "timezone";

const MICROS_PER_SECOND: i64 = 1_000_000;

/// The function.
pub(super) fn at_time_zone() -> ScalarUDF {
    function(AT_TIME_ZONE, types, shifted)
}

fn moment(zone: Option<&str>) -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, zone.map(Into::into))
}

fn types(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let [zone, of] = types else {
        let message = "timezone takes a zone and a timestamp";
        return Err(Error::new(SqlState::UndefinedFunction, message));
    };
    let zone = match zone {
        DataType::Interval(_) => zone.clone(),
        _ => DataType::Utf8View,
    };
    Ok(match of {
        DataType::Timestamp(_, None) => (vec![zone, moment(None)], moment(Some("+00:00"))),
        _ => (vec![zone, moment(Some("+00:00"))], moment(None)),
    })
}

pub(super) fn shifted(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (zones, moments) = (&args[0], &args[1]);
    let to_local = matches!(moments.data_type(), DataType::Timestamp(_, Some(_)));
    let values = moments.as_primitive::<TimestampMicrosecondType>();
    let mut zones_seen = HashMap::new();
    let mut result = Vec::with_capacity(values.len());
    for row in 0..values.len() {
        if values.is_null(row) || zones.is_null(row) {
            result.push(None);
            continue;
        }
        let value = values.value(row);
        if let Some(intervals) = zones.as_primitive_opt::<IntervalMonthDayNanoType>() {
            let interval = intervals.value(row);
            if interval.months != 0 || interval.days != 0 {
                let message = "interval time zone must not include months or days";
                return Err(Error::new(SqlState::InvalidParameterValue, message));
            }
            let offset = interval.nanoseconds / 1000;
            result.push(Some(if to_local { value + offset } else { value - offset }));
            continue;
        }
        let name = zones.as_string_view().value(row);
        let zone = zones_seen.entry(name).or_insert_with(|| zone_of(name));
        let shift = match zone.as_ref().map_err(Error::clone)? {
            Zone::Offset(seconds) => seconds * MICROS_PER_SECOND,
            Zone::Named(zone) if to_local => offset_at(value, zone)?,
            Zone::Named(zone) => value - from_local(value, zone)?,
        };
        result.push(Some(if to_local { value + shift } else { value - shift }));
    }
    let zone = (!to_local).then_some("+00:00");
    let result = TimestampMicrosecondArray::from(result);
    Ok(Arc::new(result.with_timezone_opt(zone)))
}

enum Zone {
    /// Seconds east of Greenwich.
    Offset(i64),
    Named(DataType),
}

/// A zone by its name, or by its offset in POSIX notation: `+02` is two hours west of Greenwich.
fn zone_of(name: &str) -> Result<Zone> {
    let unknown = || {
        let message = format!("time zone \"{name}\" not recognized");
        Error::new(SqlState::InvalidParameterValue, message)
    };
    let trimmed = name.trim();
    if matches!(trimmed.to_ascii_uppercase().as_str(), "UTC" | "GMT" | "Z" | "ZULU" | "UCT") {
        return Ok(Zone::Offset(0));
    }
    if let Some(hours) = abbreviation(&trimmed.to_ascii_uppercase()) {
        return Ok(Zone::Offset(hours * 3600));
    }
    if let Some((sign, rest)) = trimmed.split_at_checked(1).filter(|(s, _)| matches!(*s, "+" | "-"))
    {
        let mut fields = rest.split(':').map(str::parse::<i64>);
        let hours = fields.next().and_then(Result::ok).ok_or_else(unknown)?;
        let minutes = fields.next().map_or(Some(0), Result::ok).ok_or_else(unknown)?;
        let seconds = hours * 3600 + minutes * 60;
        return Ok(Zone::Offset(if sign == "+" { -seconds } else { seconds }));
    }
    let zone = moment(Some(trimmed));
    from_local(0, &zone).map_err(|_| unknown())?;
    Ok(Zone::Named(zone))
}

/// The hours east of Greenwich of a zone without rules. Abbreviations go before names: CET has no summer time.
fn abbreviation(name: &str) -> Option<i64> {
    Some(match name {
        "WET" => 0,
        "CET" | "MET" | "MEZ" | "WEST" | "BST" => 1,
        "CEST" | "MEST" | "MESZ" | "EET" | "SAST" => 2,
        "EEST" | "MSK" => 3,
        "MSD" => 4,
        "JST" | "KST" => 9,
        "EDT" => -4,
        "EST" | "CDT" => -5,
        "CST" | "MDT" => -6,
        "MST" | "PDT" => -7,
        "PST" | "AKDT" => -8,
        "AKST" => -9,
        "HST" => -10,
        _ => return None,
    })
}

/// The timestamp in UTC of a local time in a zone.
fn from_local(local: i64, zone: &DataType) -> Result<i64> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let array: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![local]));
    let array = cast_with_options(&array, zone, &options)?;
    Ok(array.as_primitive::<TimestampMicrosecondType>().value(0))
}

/// The offset of a zone's local time from UTC at a timestamp, in microseconds.
fn offset_at(instant: i64, zone: &DataType) -> Result<i64> {
    let near = instant - from_local(instant, zone)?;
    let local = instant + near;
    Ok(local - from_local(local, zone)?)
}
