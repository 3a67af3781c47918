//! Dates, times of day and timestamps in the formats of `datestyle`.
//!
//! Years of six digits and years BC are written, too.

use super::push;
use crate::calendar::civil;
use crate::style::{DateFormat, DateOrder, Style};
use crate::zone::write_offset;
use datetimes::output::clock::write_clock;
use datetimes::output::interval;

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

    /// Appends a duration as days and a time below 24 hours.
    pub(super) fn write_duration(self, out: &mut String) {
        interval::write_duration(self.seconds, self.micros, out);
    }

    /// Appends a timestamp without time zone.
    pub(super) fn write_timestamp(self, style: Style, out: &mut String) {
        let era = self.write_local(style, out);
        out.push_str(era);
    }

    /// Appends a timestamp with time zone, as the local time of the style's zone.
    pub(super) fn write_instant(self, style: Style, out: &mut String) {
        let instant = self.seconds.saturating_mul(MICROS_PER_SECOND);
        let offset = style.zone.offset_at(instant);
        let local = Self { seconds: self.seconds.saturating_add(offset), ..self };
        let era = local.write_local(style, out);
        match style.date_format {
            DateFormat::Iso => write_offset(offset, out),
            _ => push(out, format_args!(" {}", style.zone.abbreviation_at(instant))),
        }
        out.push_str(era);
    }

    /// Appends a date and a time of day. Returns the era, which comes last in the text.
    fn write_local(self, style: Style, out: &mut String) -> &'static str {
        let clock = |out: &mut String| {
            write_clock(self.seconds.rem_euclid(SECONDS_PER_DAY), self.micros, out);
        };
        if style.date_format != DateFormat::Postgres {
            let era = write_day(self.days(), style, out);
            out.push(' ');
            clock(out);
            return era;
        }
        let (year, month, day) = civil(self.days());
        // 1970-01-01 was a Thursday.
        let weekday = named(&WEEKDAYS, self.days() + 3);
        let month = named(&MONTHS, month - 1);
        push(out, format_args!("{weekday} "));
        match style.date {
            DateOrder::Dmy => push(out, format_args!("{day:02} {month} ")),
            DateOrder::Mdy | DateOrder::Ymd => push(out, format_args!("{month} {day:02} ")),
        }
        clock(out);
        let (year, era) = of_era(year);
        push(out, format_args!(" {year:04}"));
        era
    }
}

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The name of a number, which counts on from the first name.
fn named<const N: usize>(names: &[&'static str; N], number: i64) -> &'static str {
    let index = number.rem_euclid(N as i64);
    names[index as usize]
}

/// Appends a date, given in days since 1970.
pub(super) fn write_date(days: i64, style: Style, out: &mut String) {
    let era = write_day(days, style, out);
    out.push_str(era);
}

/// Appends year, month and day. Returns the era, which comes last in the text.
fn write_day(days: i64, style: Style, out: &mut String) -> &'static str {
    let (year, month, day) = civil(days);
    let (year, era) = of_era(year);
    let (first, second) = match style.date {
        DateOrder::Dmy => (day, month),
        DateOrder::Mdy | DateOrder::Ymd => (month, day),
    };
    match style.date_format {
        DateFormat::Iso => push(out, format_args!("{year:04}-{month:02}-{day:02}")),
        DateFormat::German => push(out, format_args!("{day:02}.{month:02}.{year:04}")),
        DateFormat::Sql => push(out, format_args!("{first:02}/{second:02}/{year:04}")),
        DateFormat::Postgres => push(out, format_args!("{first:02}-{second:02}-{year:04}")),
    }
    era
}

/// The number of a year in its era, and the era's name.
fn of_era(year: i64) -> (i64, &'static str) {
    if year > 0 { (year, "") } else { (1 - year, " BC") }
}
