//! Assignments between timestamps with time zone and local times, in the zone of a session.

use crate::error::{Error, Result, SqlState};
use crate::zone::Zone;
use datafusion::arrow::array::{ArrayRef, AsArray, TimestampMicrosecondArray};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, TimeUnit, TimestampMicrosecondType};
use std::sync::Arc;

const LOCAL: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

/// Values of which one type has a time zone and the other has not; `None` for other types, and in UTC.
///
/// # Errors
/// 22008: a time is out of range.
pub(super) fn between(array: &ArrayRef, to: &DataType, zone: Zone) -> Result<Option<ArrayRef>> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let is_moment = |of: &DataType| matches!(of, DataType::Timestamp(_, Some(_)));
    let is_local = |of: &DataType| {
        matches!(of, DataType::Timestamp(_, None) | DataType::Date32 | DataType::Time64(_))
    };
    let from = array.data_type();
    if zone.is_utc() {
        return Ok(None);
    }
    if is_moment(from) && is_local(to) {
        let moments = cast_with_options(
            array,
            &DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
            &options,
        )?;
        let local: ArrayRef = Arc::new(changed(&moments, |micros| zone.local(micros))?);
        return Ok(Some(cast_with_options(&local, to, &options)?));
    }
    if is_local(from) && is_moment(to) {
        let local = cast_with_options(array, &LOCAL, &options)?;
        let moments = changed(&local, |micros| zone.instant(micros))?.with_timezone("+00:00");
        return Ok(Some(cast_with_options(&moments, to, &options)?));
    }
    Ok(None)
}

fn changed(
    array: &ArrayRef,
    change: impl Fn(i64) -> Option<i64>,
) -> Result<TimestampMicrosecondArray> {
    let values = array.as_primitive::<TimestampMicrosecondType>().iter().map(|micros| {
        let out_of_range = || Error::new(SqlState::DatetimeFieldOverflow, "timestamp out of range");
        micros.map(|micros| change(micros).ok_or_else(out_of_range)).transpose()
    });
    values.collect()
}
