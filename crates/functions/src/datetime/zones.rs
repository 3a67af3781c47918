//! `AT TIME ZONE`: conversion between timestamps in UTC and the local time of a zone.

use columnar::function;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, TimestampMicrosecondArray};
use datafusion::arrow::datatypes::{
    DataType, IntervalMonthDayNanoType, TimeUnit, TimestampMicrosecondType,
};
use datafusion::logical_expr::ScalarUDF;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};
use values::input::unknown_zone;
use values::zone::Zone;

/// The name of the function. Its arguments are a zone and a timestamp with or without time zone.
pub const AT_TIME_ZONE: &str = "timezone";

const NANOS_PER_SECOND: i64 = 1_000_000_000;

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
    let mut zones_seen: HashMap<&str, Zone> = HashMap::new();
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
            let seconds = i32::try_from(interval.nanoseconds / NANOS_PER_SECOND);
            let zone = Zone::Offset(seconds.map_err(|_| out_of_range())?);
            let moved = if to_local { zone.local(value) } else { zone.instant(value) };
            result.push(Some(moved.ok_or_else(out_of_range)?));
            continue;
        }
        let name = zones.as_string_view().value(row);
        let zone = *match zones_seen.entry(name) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(named(name)?),
        };
        let moved = if to_local { zone.local(value) } else { zone.instant(value) };
        result.push(Some(moved.ok_or_else(out_of_range)?));
    }
    let zone = (!to_local).then_some("+00:00");
    let result = TimestampMicrosecondArray::from(result);
    Ok(Arc::new(result.with_timezone_opt(zone)))
}

pub(super) fn out_of_range() -> Error {
    Error::new(SqlState::DatetimeFieldOverflow, "timestamp out of range")
}

/// A zone by its name or abbreviation, or by its offset in POSIX notation: `+02` is two hours west of Greenwich.
pub(super) fn named(name: &str) -> Result<Zone> {
    Zone::named(name).ok_or_else(|| unknown_zone(name))
}
