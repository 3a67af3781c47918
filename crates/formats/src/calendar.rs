//! Moments taken apart, and weeks of the ISO calendar.

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{
    DataType, IntervalMonthDayNanoType, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};
use store::catalog::SqlType;
use values::moments;
use values::text::{civil, days_of};
use values::zone::Zone;

pub(super) const MICROS_PER_SECOND: i64 = 1_000_000;
pub(super) const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
const NANOS_PER_MICRO: i64 = 1000;
const DAYS_PER_MONTH: i64 = 30;

/// Julian day of 1970-01-01.
pub(super) const JULIAN_1970: i64 = 2_440_588;

/// A timestamp or an interval, field by field. Year 0 is 1 BC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) micros: i64,
    /// From 1; for intervals the length in days of months and days.
    pub(super) day_of_year: i64,
    /// From Sunday, 0.
    pub(super) day_of_week: i64,
    /// The zone of a timestamp with time zone.
    pub(super) zone: Option<ZoneTime>,
    pub(super) is_interval: bool,
}

/// A zone at a moment: the abbreviation of its time, and its offset in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ZoneTime {
    pub(super) name: String,
    pub(super) offset: i64,
}

impl Moment {
    /// The moment at a row of a column of timestamps, intervals or times; `None` for NULL and infinity. A timestamp with time zone is
    /// told in a zone.
    pub(super) fn at(column: &ArrayRef, row: usize, zone: Zone) -> Option<Self> {
        if column.is_null(row) {
            return None;
        }
        Some(match column.data_type() {
            DataType::Timestamp(TimeUnit::Microsecond, of_zone) => {
                let micros = column.as_primitive::<TimestampMicrosecondType>().value(row);
                if moments::is_infinite(micros) {
                    return None;
                }
                match of_zone {
                    None => Self::of_timestamp(micros, None),
                    Some(_) => {
                        let (name, offset) = (zone.abbreviation_at(micros), zone.offset_at(micros));
                        let local = zone.local(micros).unwrap_or(micros);
                        Self::of_timestamp(local, Some(ZoneTime { name, offset }))
                    }
                }
            }
            DataType::Time64(_) => {
                Self::of_interval(0, 0, column.as_primitive::<Time64MicrosecondType>().value(row))
            }
            of => {
                debug_assert_eq!(*of, SqlType::Interval.arrow());
                let value = column.as_primitive::<IntervalMonthDayNanoType>().value(row);
                let micros = value.nanoseconds / NANOS_PER_MICRO;
                Self::of_interval(value.months.into(), value.days.into(), micros)
            }
        })
    }

    fn of_timestamp(micros: i64, zone: Option<ZoneTime>) -> Self {
        let days = micros.div_euclid(MICROS_PER_DAY);
        let (year, month, day) = civil(days);
        let day_of_year = days - days_of(year, 1, 1).unwrap_or(days) + 1;
        let day_of_week = day_of_week(days);
        let clock = Self::of_interval(0, 0, micros.rem_euclid(MICROS_PER_DAY));
        Self { year, month, day, day_of_year, day_of_week, zone, is_interval: false, ..clock }
    }

    fn of_interval(months: i64, days: i64, micros: i64) -> Self {
        let seconds = micros / MICROS_PER_SECOND;
        Self {
            year: months / 12,
            month: months % 12,
            day: days,
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            micros: micros % MICROS_PER_SECOND,
            day_of_year: months * DAYS_PER_MONTH + days,
            is_interval: true,
            ..Self::default()
        }
    }

    /// Days since 1970. The months and days of an interval are no date: the count goes on beyond the calendar.
    pub(super) fn days(&self) -> i64 {
        // A year from March on, with 30.6 days a month.
        let (year, month) = match self.month {
            month if month > 2 => (self.year + 4800, month + 1),
            month => (self.year + 4799, month + 13),
        };
        let leap_days = year / 4 - year / 100 + year / 400;
        year * 365 - 32_167 + leap_days + 7834 * month / 256 + self.day - JULIAN_1970
    }

    /// Year, week and day of the year of the ISO calendar.
    pub(super) fn iso(&self) -> (i64, i64, i64) {
        let days = self.days();
        let year = (self.year - 1..=self.year + 1).rev().find(|year| first_monday(*year) <= days);
        let year = year.unwrap_or(self.year);
        let day = days - first_monday(year);
        (year, day / 7 + 1, day + 1)
    }
}

/// From Sunday, 0, to Saturday, 6.
pub(super) fn day_of_week(days: i64) -> i64 {
    // 1970-01-01 was a Thursday.
    (days + 4).rem_euclid(7)
}

/// The Monday of the first week of a year of the ISO calendar, in days since 1970: the week of the 4th of January.
pub(super) fn first_monday(year: i64) -> i64 {
    let fourth = days_of(year, 1, 4).unwrap_or(0);
    fourth - (day_of_week(fourth) + 6) % 7
}
