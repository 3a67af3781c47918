//! Dates, times of day and timestamps in ISO format.
//!
//! The calendar arithmetic covers every value that Arrow can hold, including years of six digits
//! and years BC, which calendar crates do not.

use super::push;
use crate::zone::{Zone, write_offset};

const SECONDS_PER_DAY: i64 = 86_400;
const MICROS_PER_SECOND: i64 = 1_000_000;

/// Seconds (since 1970, since midnight, or of a duration) and microseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) seconds: i64,
    /// From 0 to 999,999.
    pub(super) micros: i64,
}

impl Moment {
    /// From a count of a unit of which a second has `per_second`. Fractions of microseconds are dropped.
    pub(super) fn new(count: i64, per_second: i64) -> Self {
        let fraction = count.rem_euclid(per_second);
        let micros = if per_second > MICROS_PER_SECOND {
            fraction / (per_second / MICROS_PER_SECOND)
        } else {
            fraction * (MICROS_PER_SECOND / per_second)
        };
        Self { seconds: count.div_euclid(per_second), micros }
    }

    /// Whole days since 1970.
    pub(super) fn days(self) -> i64 {
        self.seconds.div_euclid(SECONDS_PER_DAY)
    }

    /// Appends a time of day.
    pub(super) fn write_time(self, out: &mut String) {
        write_clock(self.seconds, self.micros, out);
    }

    /// Appends a timestamp without time zone.
    pub(super) fn write_timestamp(self, out: &mut String) {
        let era = self.write_local(out);
        out.push_str(era);
    }

    /// Appends a timestamp with time zone, as the local time of a zone.
    pub(super) fn write_instant(self, zone: Zone, out: &mut String) {
        let instant = self.seconds.saturating_mul(MICROS_PER_SECOND);
        let offset = zone.offset_at(instant);
        let local = Self { seconds: self.seconds.saturating_add(offset), ..self };
        let era = local.write_local(out);
        write_offset(offset, out);
        out.push_str(era);
    }

    /// Appends a date and a time of day. Returns the era, which comes last in the text.
    fn write_local(self, out: &mut String) -> &'static str {
        let era = write_day(self.days(), out);
        out.push(' ');
        write_clock(self.seconds.rem_euclid(SECONDS_PER_DAY), self.micros, out);
        era
    }
}

/// Appends a date, given in days since 1970.
pub(super) fn write_date(days: i64, out: &mut String) {
    let era = write_day(days, out);
    out.push_str(era);
}

/// Appends `03:04:05.06`: at least two digits each, the fraction without trailing zeros.
pub(super) fn write_clock(seconds: i64, micros: i64, out: &mut String) {
    push(out, format_args!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60));
    write_fraction(micros, out);
}

/// Appends `.06`: microseconds without trailing zeros, nothing for zero.
pub(super) fn write_fraction(micros: i64, out: &mut String) {
    if micros != 0 {
        push(out, format_args!(".{micros:06}"));
        out.truncate(out.trim_end_matches('0').len());
    }
}

/// Appends year, month and day. Returns the era, which comes last in the text.
fn write_day(days: i64, out: &mut String) -> &'static str {
    let (year, month, day) = civil(days);
    let (year, era) = if year > 0 { (year, "") } else { (1 - year, " BC") };
    push(out, format_args!("{year:04}-{month:02}-{day:02}"));
    era
}

/// The Gregorian date of a day counted from 1970-01-01; year 0 is 1 BC.
///
/// Computes in cycles of 400 years (146,097 days) from 1 March, so that the leap day is the last day
/// of its year.
pub fn civil(days: i64) -> (i64, i64, i64) {
    const DAYS_PER_CYCLE: i64 = 146_097;
    const FROM_MARCH_OF_YEAR_ZERO: i64 = 719_468;
    let days = days + FROM_MARCH_OF_YEAR_ZERO;
    let cycle = days.div_euclid(DAYS_PER_CYCLE);
    let day_of_cycle = days.rem_euclid(DAYS_PER_CYCLE);
    let leap_days = day_of_cycle / 1_460 - day_of_cycle / 36_524 + day_of_cycle / 146_096;
    let year_of_cycle = (day_of_cycle - leap_days) / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = cycle * 400 + year_of_cycle + i64::from(month <= 2);
    (year, month, day)
}

/// The days from 1970-01-01 to a Gregorian date; year 0 is 1 BC. `None` if there is no such date.
pub fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    const BEFORE: [i64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
    const TO_1970: i64 = 719_162;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let month = usize::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
    let leap_day = i64::from(is_leap);
    let length = BEFORE[month] - BEFORE[month - 1] + if month == 2 { leap_day } else { 0 };
    if !(1..=length).contains(&day) {
        return None;
    }
    let before = year - 1;
    let leap_days = before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400);
    let in_year = BEFORE[month - 1] + if month > 2 { leap_day } else { 0 } + day - 1;
    Some(before * 365 + leap_days - TO_1970 + in_year)
}
