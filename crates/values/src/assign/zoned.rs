//! Conversions between dates, times and timestamps, in the zone of a session.

use crate::error::{Error, Result, SqlState};
use crate::moments;
use crate::zone::Zone;
use datafusion::arrow::array::{
    ArrayRef, AsArray, Date32Array, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, Date32Type, TimeUnit, TimestampMicrosecondType};
use std::sync::Arc;

/// Dates and timestamps as another of these types, or as times of day; `None` for other types.
///
/// # Errors
/// 22008: a value is out of range.
pub(super) fn between(array: &ArrayRef, to: &DataType, zone: Zone) -> Result<Option<ArrayRef>> {
    use DataType::{Date32, Time64, Timestamp};
    let to_zone = match to {
        Timestamp(TimeUnit::Microsecond, to_zone) => to_zone.clone(),
        _ => None,
    };
    Ok(Some(match (array.data_type(), to) {
        (Date32, Timestamp(TimeUnit::Microsecond, _)) => {
            let dates = array.as_primitive::<Date32Type>().iter();
            let is_local = to_zone.is_some();
            let moments = dates.map(|days| {
                let Some(days) = days else { return Ok(None) };
                let midnight = moments::midnight(days);
                let midnight =
                    midnight.ok_or_else(|| out_of_range("date out of range for timestamp"))?;
                let moment = if is_local { zone.instant(midnight) } else { Some(midnight) };
                moment.map(Some).ok_or_else(|| out_of_range("timestamp out of range"))
            });
            let moments = moments.collect::<Result<TimestampMicrosecondArray>>()?;
            Arc::new(moments.with_timezone_opt(to_zone))
        }
        (Timestamp(_, from_zone), Date32 | Time64(TimeUnit::Microsecond)) => {
            let of_zone = from_zone.is_some();
            let local = micros(array)?;
            let local = local.as_primitive::<TimestampMicrosecondType>().iter().map(|micros| {
                let Some(micros) = micros else { return Ok(None) };
                let local = if of_zone { zone.local(micros) } else { Some(micros) };
                local.map(Some).ok_or_else(|| out_of_range("timestamp out of range"))
            });
            let local = local.collect::<Result<Vec<Option<i64>>>>()?.into_iter();
            match to {
                Date32 => {
                    let dates = local.map(|micros| micros.map(moments::date_of));
                    Arc::new(dates.collect::<Date32Array>())
                }
                _ => {
                    let times = local.map(|micros| micros.and_then(moments::time_of));
                    Arc::new(times.collect::<Time64MicrosecondArray>())
                }
            }
        }
        (Timestamp(_, from_zone), Timestamp(TimeUnit::Microsecond, _)) => {
            let is_moment = from_zone.is_some();
            let values = micros(array)?;
            let values = values.as_primitive::<TimestampMicrosecondType>().clone();
            let values = match (is_moment, to_zone.is_some()) {
                (true, false) => changed(&values, |micros| zone.local(micros))?,
                (false, true) => changed(&values, |micros| zone.instant(micros))?,
                _ => values,
            };
            Arc::new(values.with_timezone_opt(to_zone))
        }
        _ => return Ok(None),
    }))
}

/// Timestamps of any unit in microseconds.
fn micros(array: &ArrayRef) -> Result<ArrayRef> {
    let DataType::Timestamp(_, zone) = array.data_type() else { return Ok(Arc::clone(array)) };
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let unit = DataType::Timestamp(TimeUnit::Microsecond, zone.clone());
    Ok(cast_with_options(array, &unit, &options)?)
}

fn changed(
    values: &TimestampMicrosecondArray,
    change: impl Fn(i64) -> Option<i64>,
) -> Result<TimestampMicrosecondArray> {
    let values = values.iter().map(|micros| {
        let moved = micros
            .map(|micros| change(micros).ok_or_else(|| out_of_range("timestamp out of range")));
        moved.transpose()
    });
    values.collect()
}

fn out_of_range(message: &str) -> Error {
    Error::new(SqlState::DatetimeFieldOverflow, message)
}
