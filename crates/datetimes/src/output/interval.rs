//! Intervals in the `postgres` style: `1 year 2 mons -3 days +04:05:06`.
//!
//! Zero parts are omitted, a positive part after a negative one has a plus sign, and the empty
//! interval is `00:00:00`.

use super::clock::{push, write_clock};

const MICROS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// Appends an interval.
pub fn write(months: i32, days: i32, micros: i64, out: &mut String) {
    let mut parts = Parts { out, any: false, after_negative: false };
    parts.write(i64::from(months / 12), "year");
    parts.write(i64::from(months % 12), "mon");
    parts.write(i64::from(days), "day");
    parts.finish(micros);
}

/// Appends a duration as days and a time below 24 hours, like a difference of timestamps. It is in whole seconds,
/// rounded down, and microseconds from 0 to 999,999.
pub fn write_duration(mut seconds: i64, mut micros: i64, out: &mut String) {
    if seconds < 0 && micros > 0 {
        seconds += 1;
        micros -= MICROS_PER_SECOND;
    }
    let mut parts = Parts { out, any: false, after_negative: false };
    parts.write(seconds / SECONDS_PER_DAY, "day");
    parts.finish(seconds % SECONDS_PER_DAY * MICROS_PER_SECOND + micros);
}

struct Parts<'a> {
    out: &'a mut String,
    any: bool,
    after_negative: bool,
}

impl Parts<'_> {
    fn write(&mut self, count: i64, unit: &str) {
        if count == 0 {
            return;
        }
        self.separate(count < 0);
        let plural = if count == 1 { "" } else { "s" };
        push(self.out, format_args!("{count} {unit}{plural}"));
        self.after_negative = count < 0;
    }

    /// Appends the time unless it is zero and there are other parts.
    fn finish(mut self, micros: i64) {
        if micros == 0 && self.any {
            return;
        }
        self.separate(micros < 0);
        if micros < 0 {
            self.out.push('-');
        }
        let seconds = (micros / MICROS_PER_SECOND).abs();
        write_clock(seconds, (micros % MICROS_PER_SECOND).abs(), self.out);
    }

    fn separate(&mut self, negative: bool) {
        if self.any {
            self.out.push(' ');
        }
        if self.after_negative && !negative {
            self.out.push('+');
        }
        self.any = true;
    }
}
