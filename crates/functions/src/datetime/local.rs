//! Timestamps with time zone in the zone of the session: as local times, with intervals added, cut to a unit.

use super::intervals::{INTERVAL, negated};
use super::making;
use super::zones::out_of_range;
use columnar::zoned::zoned;
use datafusion::arrow::array::{ArrayRef, AsArray, Int32Array, TimestampMicrosecondArray};
use datafusion::arrow::datatypes::{
    DataType, IntervalMonthDayNano, IntervalMonthDayNanoType, TimeUnit, TimestampMicrosecondType,
};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::Result;
use values::moments::{is_infinite, on_day, timestamp};
use values::text::{civil, days_of};
use values::zone::Zone;

const MICROS_PER_DAY: i64 = 86_400_000_000;
const NANOS_PER_MICRO: i64 = 1000;
const TIMESTAMP: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

fn moment() -> DataType {
    SqlType::TimestampTz.arrow()
}

/// The local time of a timestamp with time zone.
pub fn local_time(zone: Zone) -> ScalarUDF {
    zoned(
        "local_time",
        zone,
        |_| Ok((vec![moment()], TIMESTAMP)),
        |args, zone| each(args, None, |micros| zone.local(micros)),
    )
}

/// The timestamp with time zone of a local time.
pub fn instant(zone: Zone) -> ScalarUDF {
    zoned(
        "instant",
        zone,
        |_| Ok((vec![TIMESTAMP], moment())),
        |args, zone| each(args, Some("+00:00"), |micros| zone.instant(micros)),
    )
}

/// The offset of the zone at a timestamp with time zone, in seconds.
pub fn offset(zone: Zone) -> ScalarUDF {
    zoned(
        "zone_offset",
        zone,
        |_| Ok((vec![moment()], DataType::Int32)),
        |args, zone| {
            let moments = args[0].as_primitive::<TimestampMicrosecondType>().iter();
            let finite = moments.map(|micros| micros.filter(|micros| !is_infinite(*micros)));
            let offsets = finite.map(|micros| i32::try_from(zone.offset_at(micros?)).ok());
            Ok(Arc::new(offsets.collect::<Int32Array>()))
        },
    )
}

/// A timestamp with time zone some interval later: months and days are those of the zone's calendar.
pub fn later(zone: Zone) -> ScalarUDF {
    zoned(
        "local_plus",
        zone,
        |_| Ok((vec![moment(), INTERVAL], moment())),
        |args, zone| shifted(args, zone, Some),
    )
}

/// A timestamp with time zone some interval earlier.
pub fn earlier(zone: Zone) -> ScalarUDF {
    zoned(
        "local_minus",
        zone,
        |_| Ok((vec![moment(), INTERVAL], moment())),
        |args, zone| shifted(args, zone, negated),
    )
}

/// A timestamp with time zone cut to a unit of the zone's calendar.
pub fn truncated(zone: Zone) -> ScalarUDF {
    let types = |_: &[DataType]| Ok((vec![DataType::Utf8View, moment()], moment()));
    zoned("local_trunc", zone, types, making::cut_in_zone)
}

fn each(
    args: &[ArrayRef],
    zone: Option<&str>,
    change: impl Fn(i64) -> Option<i64>,
) -> Result<ArrayRef> {
    let values = args[0].as_primitive::<TimestampMicrosecondType>().iter();
    let values = values
        .map(|micros| micros.map(|micros| change(micros).ok_or_else(out_of_range)).transpose());
    let values = values.collect::<Result<TimestampMicrosecondArray>>()?;
    Ok(Arc::new(values.with_timezone_opt(zone)))
}

/// Timestamps plus intervals, to which a sign is given first.
pub(super) fn shifted(
    args: &[ArrayRef],
    zone: Zone,
    sign: fn(IntervalMonthDayNano) -> Option<IntervalMonthDayNano>,
) -> Result<ArrayRef> {
    let moments = args[0].as_primitive::<TimestampMicrosecondType>();
    let intervals = args[1].as_primitive::<IntervalMonthDayNanoType>();
    let sums = moments.iter().zip(intervals).map(|pair| {
        let (Some(micros), Some(interval)) = pair else { return Ok(None) };
        let sum = sign(interval).and_then(|interval| plus(micros, interval, zone));
        sum.map(Some).ok_or_else(out_of_range)
    });
    let sums = sums.collect::<Result<TimestampMicrosecondArray>>()?;
    Ok(Arc::new(sums.with_timezone_opt(moments.timezone().map(Arc::<str>::from))))
}

/// A moment plus an interval: its months, then its days, then its time. `None` beyond the range of timestamps; infinite
/// moments stay what they are.
pub(crate) fn plus(micros: i64, interval: IntervalMonthDayNano, zone: Zone) -> Option<i64> {
    if is_infinite(micros) {
        return Some(micros);
    }
    let mut micros = micros;
    if interval.months != 0 {
        let local = zone.local(micros)?;
        let (year, month, day) = civil(local.div_euclid(MICROS_PER_DAY));
        let months = year * 12 + month - 1 + i64::from(interval.months);
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        // The day of a month that is shorter is its last.
        let days = (1..=day).rev().find_map(|day| days_of(year, month, day))?;
        let time = local.rem_euclid(MICROS_PER_DAY);
        micros = zone.instant(on_day(days, time)?)?;
    }
    if interval.days != 0 {
        let local = zone.local(micros)?;
        let day = local.div_euclid(MICROS_PER_DAY) + i64::from(interval.days);
        micros = zone.instant(on_day(day, local.rem_euclid(MICROS_PER_DAY))?)?;
    }
    timestamp(micros.checked_add(interval.nanoseconds / NANOS_PER_MICRO)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_23_to_25_hours_and_months_end_early() {
        let paris = Zone::named("Europe/Paris").expect("a zone");
        let hour = 3_600_000_000;
        // 2024-03-30 12:00 +01, before the change to summer time.
        let before = 19_812 * MICROS_PER_DAY + 11 * hour;
        let day = IntervalMonthDayNano::new(0, 1, 0);
        assert_eq!(plus(before, day, paris), Some(before + 23 * hour));
        let hours = IntervalMonthDayNano::new(0, 0, 24 * 3_600_000_000_000);
        assert_eq!(plus(before, hours, paris), Some(before + 24 * hour));
        // 2024-01-31 plus a month is 2024-02-29.
        let january = 19_753 * MICROS_PER_DAY;
        let month = IntervalMonthDayNano::new(1, 0, 0);
        assert_eq!(plus(january, month, Zone::UTC), Some(19_782 * MICROS_PER_DAY));
    }
}
