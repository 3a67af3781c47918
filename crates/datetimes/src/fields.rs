//! The fields of dates, times, timestamps and intervals, as EXTRACT gives them.

use crate::calendar::{civil, days_of};
pub use crate::interval::Interval;
use crate::moments::is_infinite;

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_HOUR: i64 = 3600 * MICROS_PER_SECOND;
const MICROS_PER_DAY: i64 = 24 * MICROS_PER_HOUR;

/// A field of a date, a time, a timestamp or an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Microseconds with the seconds, below a minute.
    Microseconds,
    /// Milliseconds with the seconds, below a minute.
    Milliseconds,
    /// Seconds with a fraction.
    Second,
    /// Minutes.
    Minute,
    /// Hours.
    Hour,
    /// The day of the month, or the days of an interval.
    Day,
    /// From Sunday, 0.
    DayOfWeek,
    /// From Monday, 1.
    IsoDayOfWeek,
    /// From 1.
    DayOfYear,
    /// The week of the ISO year.
    Week,
    /// The year of the ISO week.
    IsoYear,
    /// From 1, or the months of an interval below a year.
    Month,
    /// From 1.
    Quarter,
    /// The year, negative before Christ.
    Year,
    /// Tens of years.
    Decade,
    /// From 1.
    Century,
    /// From 1.
    Millennium,
    /// Seconds since 1970, or of an interval.
    Epoch,
    /// The Julian day.
    Julian,
    /// The offset of the time zone.
    TimeZone,
}

impl Field {
    /// The field of a name.
    pub fn named(name: &str) -> Option<Self> {
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

    /// Whether it grows with time without an end, and is infinite for infinite values.
    pub fn grows(self) -> bool {
        use Field::{Century, Decade, Epoch, IsoYear, Julian, Millennium, Year};
        matches!(self, Year | Decade | Century | Millennium | Julian | IsoYear | Epoch)
    }

    /// Whether it is one of a time of day.
    pub fn is_of_time(self) -> bool {
        use Field::{Epoch, Hour, Microseconds, Milliseconds, Minute, Second};
        matches!(self, Microseconds | Milliseconds | Second | Minute | Hour | Epoch)
    }
}

/// A field of a value.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// In millionths.
    Finite(i128),
    /// A Julian day, and microseconds since its midnight.
    Julian(i64, i64),
    /// Of an infinite value, which is positive or negative.
    Infinite(bool),
}

/// A field of a timestamp given in days since 1970 and microseconds since midnight, in millionths.
pub fn of_moment(field: Field, days: i64, time: i64) -> i128 {
    let second = time % (60 * MICROS_PER_SECOND);
    let date = || civil(days);
    let whole = match field {
        Field::Microseconds => second,
        Field::Milliseconds => return i128::from(second) * 1000,
        Field::Second => return second.into(),
        Field::Epoch => return i128::from(days) * i128::from(MICROS_PER_DAY) + i128::from(time),
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
        // Julian days are numbers of their own.
        Field::Julian | Field::TimeZone => 0,
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

/// A field of an interval, in millionths; `None` for one that intervals do not have.
pub fn of_interval(field: Field, value: Interval) -> Option<i128> {
    let (months, micros) = (i64::from(value.months), value.micros);
    let second = micros % (60 * MICROS_PER_SECOND);
    let whole = match field {
        Field::Microseconds => second,
        Field::Milliseconds => return Some(i128::from(second) * 1000),
        Field::Second => return Some(second.into()),
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
            return Some(i128::from(quarter_days) * quarter_day + i128::from(micros));
        }
        _ => return None,
    };
    Some(i128::from(whole) * 1_000_000)
}

/// The time between two timestamps in years, months, days and a time; `None` if it is out of range.
pub fn age(end: i64, start: i64) -> Option<Interval> {
    if is_infinite(end) || is_infinite(start) {
        return None;
    }
    let sign = if end < start { -1 } else { 1 };
    let fields =
        |micros: i64| (civil(micros.div_euclid(MICROS_PER_DAY)), micros.rem_euclid(MICROS_PER_DAY));
    let (((end_year, end_month, end_day), end_time), ((year, month, day), time)) =
        (fields(end), fields(start));
    let mut time = (end_time - time) * sign;
    let mut days = (end_day - day) * sign;
    let mut months = ((end_year - year) * 12 + end_month - month) * sign;
    if time < 0 {
        (time, days) = (time + MICROS_PER_DAY, days - 1);
    }
    // An incomplete month counts in days of the earlier month.
    let (year, month) = if sign < 0 { (end_year, end_month) } else { (year, month) };
    let length = (28..=31).rev().find(|day| days_of(year, month, *day).is_some())?;
    while days < 0 {
        (days, months) = (days + length, months - 1);
    }
    let (months, days) = (i32::try_from(months * sign).ok()?, i32::try_from(days * sign).ok()?);
    Some(Interval { months, days, micros: time * sign })
}
