//! Dates, times of day and timestamps in ISO format.
//!
//! Years of six digits and years BC are written, too.

use super::push;
use crate::calendar::civil;
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
