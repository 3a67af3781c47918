//! The fields of a text made a date and a time.

use super::calendar::{JULIAN_1970, MICROS_PER_DAY, MICROS_PER_SECOND, first_monday};
use super::moment_fields::Calendar;
use super::read_moment::Fields;
use values::error::{Error, Result, SqlState};
use values::moments;
use values::text::{civil, days_of};
use values::zone::Zone;

const MICROS_PER_MILLI: i64 = 1000;
const MICROS_TO_2000: i64 = 10_957 * MICROS_PER_DAY;
const ZONE_HOURS_MAX: i32 = 15;

/// The first day of PostgreSQL's calendar, 4714-11-24 BC, and its last, in days since 1970.
const DAYS: std::ops::RangeInclusive<i64> = -2_440_588..=2_145_042_905;
/// The last day of timestamps, 294276-12-31.
const TIMESTAMP_DAYS_MAX: i64 = 106_762_939;

/// A date as it is put together.
struct Date {
    year: i64,
    month: i64,
    day: i64,
}

impl Date {
    fn of_days(days: i64) -> Self {
        let (year, month, day) = civil(days);
        Self { year, month, day }
    }
}

/// The day, in days since 1970.
///
/// # Errors
/// 22007, 22008: the fields are no date.
pub(super) fn date(fields: Fields, text: &str, _: Zone) -> Result<i64> {
    time(&fields, text)?;
    zone(&fields, text)?;
    let day = day(fields, text)?;
    if DAYS.contains(&day) { Ok(day) } else { Err(date_out_of_range(text)) }
}

/// The moment, in microseconds since 1970 in UTC. Without a zone in the text it is a local time of a zone.
///
/// # Errors
/// 22007, 22008, 22009: the fields are no moment.
pub(super) fn timestamp(fields: Fields, text: &str, session: Zone) -> Result<i64> {
    let is_local = fields.zone_sign == 0;
    let time = time(&fields, text)?;
    let zone = zone(&fields, text)?;
    let digits = fields.fraction_digits;
    let day = day(fields, text)?;
    let micros = Some(day).filter(|day| (*DAYS.start()..=TIMESTAMP_DAYS_MAX).contains(day));
    let micros = micros.and_then(|day| day.checked_mul(MICROS_PER_DAY)?.checked_add(time - zone));
    let micros = micros.and_then(|micros| {
        if is_local { session.instant(micros) } else { moments::timestamp(micros) }
    });
    let micros = micros
        .ok_or_else(|| Error::new(SqlState::DatetimeFieldOverflow, "timestamp out of range"))?;
    Ok(if digits == 0 { micros } else { rounded(micros, 10_i64.pow(6 - digits as u32)) })
}

/// Rounds to a multiple of a unit, in the middle away from 2000-01-01.
fn rounded(micros: i64, unit: i64) -> i64 {
    let since = micros.saturating_sub(MICROS_TO_2000);
    let half = unit / 2 * since.signum();
    since.saturating_add(half) / unit * unit + MICROS_TO_2000
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(SqlState::InvalidDatetimeFormat, message)
}

fn overflow(text: &str) -> Error {
    let message = format!("date/time field value out of range: \"{text}\"");
    Error::new(SqlState::DatetimeFieldOverflow, message)
}

fn date_out_of_range(text: &str) -> Error {
    Error::new(SqlState::DatetimeFieldOverflow, format!("date out of range: \"{text}\""))
}

/// The time of day in microseconds.
fn time(fields: &Fields, text: &str) -> Result<i64> {
    let or = |value: i32, other: i32| if value != 0 { value } else { other };
    let of_day = fields.second_of_day;
    let mut hour = or(fields.hour, of_day / 3600);
    let (minute, second) = (or(fields.minute, of_day % 3600 / 60), or(fields.second, of_day % 60));
    if fields.has_twelve_hours {
        if !(1..=12).contains(&hour) {
            let message = format!("hour \"{hour}\" is invalid for the 12-hour clock");
            let hint = "Use the 24-hour clock, or give an hour between 1 and 12.";
            return Err(invalid(message).with_hint(hint));
        }
        hour = hour % 12 + if fields.is_afternoon != 0 { 12 } else { 0 };
    }
    let micros = i64::from(fields.millis) * MICROS_PER_MILLI + i64::from(fields.micros);
    let is_time = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    if !is_time || !(0..MICROS_PER_SECOND).contains(&micros) {
        return Err(overflow(text));
    }
    Ok(i64::from(hour * 3600 + minute * 60 + second) * MICROS_PER_SECOND + micros)
}

/// The offset of the time zone in microseconds.
fn zone(fields: &Fields, text: &str) -> Result<i64> {
    let (hours, minutes) = (fields.zone_hours, fields.zone_minutes);
    if fields.zone_sign == 0 {
        return Ok(0);
    }
    if !(0..=ZONE_HOURS_MAX).contains(&hours) || !(0..60).contains(&minutes) {
        let message = format!("time zone displacement out of range: \"{text}\"");
        return Err(Error::new(SqlState::InvalidTimeZoneDisplacement, message));
    }
    Ok(i64::from(fields.zone_sign * (hours * 60 + minutes)) * 60 * MICROS_PER_SECOND)
}

fn day(mut fields: Fields, text: &str) -> Result<i64> {
    let mut date = Date { year: 0, month: 1, day: 1 };
    if fields.year != 0 || fields.century != 0 {
        date.year = year(&fields);
    }
    if fields.julian != 0 {
        date = Date::of_days(i64::from(fields.julian) - JULIAN_1970);
    }
    if fields.week != 0 {
        if fields.calendar == Some(Calendar::IsoWeek) {
            date = Date::of_days(iso_week(date.year, &fields));
        } else {
            fields.day_of_year = fields.week.saturating_sub(1).saturating_mul(7).saturating_add(1);
        }
    }
    if fields.week_of_month != 0 {
        fields.day = fields.week_of_month.saturating_sub(1).saturating_mul(7).saturating_add(1);
    }
    if fields.day != 0 {
        date.day = fields.day.into();
    }
    if fields.month != 0 {
        date.month = fields.month.into();
    }
    if fields.day_of_year != 0 && (date.month <= 1 || date.day <= 1) {
        date = of_day_of_year(date, &fields)?;
    }
    days_of(date.year, date.month, date.day).ok_or_else(|| overflow(text))
}

/// The year: its last two digits are of the century, if there is one.
fn year(fields: &Fields) -> i64 {
    let year = i64::from(fields.year);
    let century = i64::from(fields.century) * if fields.is_before_christ != 0 { -1 } else { 1 };
    if fields.year == 0 {
        // The first year of the century.
        return if century >= 0 { (century - 1) * 100 + 1 } else { century * 100 + 1 };
    }
    if century != 0 && fields.year_digits <= 2 {
        return match (year % 100, century >= 0) {
            (0, true) => century * 100,
            (0, false) => century * 100 + 1,
            (last, true) => last + (century - 1) * 100,
            (last, false) => (century + 1) * 100 - last + 1,
        };
    }
    let year = if fields.is_before_christ != 0 { -year } else { year };
    if year < 0 { year + 1 } else { year }
}

fn iso_week(year: i64, fields: &Fields) -> i64 {
    let monday = first_monday(year) + (i64::from(fields.week) - 1) * 7;
    match fields.day_of_week {
        0 => monday,
        1 => monday + 6,
        day => monday + i64::from(day) - 2,
    }
}

/// Takes month and day, as far as they are missing, from the day of the year.
fn of_day_of_year(date: Date, fields: &Fields) -> Result<Date> {
    if date.year == 0 && fields.is_before_christ == 0 {
        return Err(invalid("cannot calculate day of year without year information"));
    }
    let day = i64::from(fields.day_of_year);
    if fields.calendar == Some(Calendar::IsoWeek) {
        return Ok(Date::of_days(first_monday(date.year) + day - 1));
    }
    // A day that the year does not have is of a thirteenth month.
    let before = |month: i64| {
        let first = |year, month| days_of(year, month, 1).unwrap_or(0);
        match month {
            13 => first(date.year + 1, 1) - first(date.year, 1),
            month => first(date.year, month) - first(date.year, 1),
        }
    };
    let month = (1..=12).find(|month| day <= before(month + 1)).unwrap_or(13);
    Ok(Date {
        year: date.year,
        month: if date.month <= 1 { month } else { date.month },
        day: if date.day <= 1 { day - before(month) } else { date.day },
    })
}
