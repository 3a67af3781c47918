//! Intervals in the styles `postgres_verbose`, `iso_8601` and `sql_standard`.

use super::clock::{push, write_fraction};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// The parts of an interval. The parts of the time have the same sign, and so have years and months.
struct Parts {
    years: i64,
    months: i64,
    days: i64,
    hours: i64,
    minutes: i64,
    seconds: i64,
    micros: i64,
}

impl Parts {
    fn new(months: i32, days: i32, micros: i64) -> Self {
        let seconds = micros / MICROS_PER_SECOND;
        Self {
            years: i64::from(months / 12),
            months: i64::from(months % 12),
            days: days.into(),
            hours: seconds / 3600,
            minutes: seconds / 60 % 60,
            seconds: seconds % 60,
            micros: micros % MICROS_PER_SECOND,
        }
    }

    fn all(&self) -> [i64; 7] {
        let Self { years, months, days, hours, minutes, seconds, micros } = *self;
        [years, months, days, hours, minutes, seconds, micros]
    }

    fn write_seconds(&self, width: usize, out: &mut String) {
        push(out, format_args!("{:0width$}", self.seconds.abs()));
        write_fraction(self.micros.abs(), out);
    }
}

/// `@ 1 year 2 mons 3 days 4 hours 5 mins 6.7 secs ago`
pub fn write_verbose(months: i32, days: i32, micros: i64, out: &mut String) {
    let parts = Parts::new(months, days, micros);
    let named = [
        (parts.years, "year"),
        (parts.months, "mon"),
        (parts.days, "day"),
        (parts.hours, "hour"),
        (parts.minutes, "min"),
    ];
    // The first part has no sign: if it is negative, all signs are inverted and `ago` follows.
    let mut inverted = None;
    out.push('@');
    for (count, unit) in named.into_iter().filter(|(count, _)| *count != 0) {
        let inverted = *inverted.get_or_insert(count < 0);
        let count = if inverted { -count } else { count };
        push(out, format_args!(" {count} {unit}{}", if count == 1 { "" } else { "s" }));
    }
    if parts.seconds != 0 || parts.micros != 0 {
        let negative = parts.seconds < 0 || parts.micros < 0;
        out.push(' ');
        if negative != *inverted.get_or_insert(negative) {
            out.push('-');
        }
        parts.write_seconds(1, out);
        let one = parts.seconds.abs() == 1 && parts.micros == 0;
        out.push_str(if one { " sec" } else { " secs" });
    }
    match inverted {
        None => out.push_str(" 0"),
        Some(true) => out.push_str(" ago"),
        Some(false) => {}
    }
}

/// `P1Y2M3DT4H5M6.7S`
pub fn write_iso(months: i32, days: i32, micros: i64, out: &mut String) {
    let parts = Parts::new(months, days, micros);
    if parts.all().iter().all(|part| *part == 0) {
        return out.push_str("PT0S");
    }
    let letters = |parts: &[(i64, char)], out: &mut String| {
        for (count, letter) in parts.iter().filter(|(count, _)| *count != 0) {
            push(out, format_args!("{count}{letter}"));
        }
    };
    out.push('P');
    letters(&[(parts.years, 'Y'), (parts.months, 'M'), (parts.days, 'D')], out);
    if micros == 0 {
        return;
    }
    out.push('T');
    letters(&[(parts.hours, 'H'), (parts.minutes, 'M')], out);
    if parts.seconds != 0 || parts.micros != 0 {
        if micros < 0 {
            out.push('-');
        }
        parts.write_seconds(1, out);
        out.push('S');
    }
}

/// `+1-2 +3 +4:05:06.7`. An interval of only years and months, or only days and a time, all of one sign, is shorter:
/// `1-2`, `-3 4:05:06.7`.
pub fn write_standard(months: i32, days: i32, micros: i64, out: &mut String) {
    let parts = Parts::new(months, days, micros);
    let all = parts.all();
    let (negative, positive) = (all.iter().any(|p| *p < 0), all.iter().any(|p| *p > 0));
    let (has_months, has_days) = (months != 0, days != 0 || micros != 0);
    if !negative && !positive {
        return out.push('0');
    }
    if negative && positive || has_months && has_days {
        let sign = |negative| if negative { '-' } else { '+' };
        let (years, months) = (parts.years.abs(), parts.months.abs());
        push(out, format_args!("{}{years}-{months} ", sign(parts.years < 0 || parts.months < 0)));
        push(out, format_args!("{}{} ", sign(days < 0), parts.days.abs()));
        push(
            out,
            format_args!("{}{}:{:02}:", sign(micros < 0), parts.hours.abs(), parts.minutes.abs()),
        );
        return parts.write_seconds(2, out);
    }
    if negative {
        out.push('-');
    }
    if has_months {
        return push(out, format_args!("{}-{}", parts.years.abs(), parts.months.abs()));
    }
    if days != 0 {
        push(out, format_args!("{} ", parts.days.abs()));
    }
    push(out, format_args!("{}:{:02}:", parts.hours.abs(), parts.minutes.abs()));
    parts.write_seconds(2, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: fn(i32, i32, i64, &mut String), interval: (i32, i32, i64)) -> String {
        let mut out = String::new();
        write(interval.0, interval.1, interval.2, &mut out);
        out
    }

    const MIXED: (i32, i32, i64) = (14, 3, 14_706_789_000);
    const NEGATIVE_MONTH: (i32, i32, i64) = (-1, 1, 0);

    #[test]
    fn each_style_is_postgresqls() {
        let verbose = "@ 1 year 2 mons 3 days 4 hours 5 mins 6.789 secs";
        assert_eq!(written(write_verbose, MIXED), verbose);
        assert_eq!(written(write_verbose, (0, 0, 0)), "@ 0");
        assert_eq!(written(write_verbose, (0, -1, 0)), "@ 1 day ago");
        assert_eq!(written(write_verbose, NEGATIVE_MONTH), "@ 1 mon -1 days ago");
        assert_eq!(written(write_iso, MIXED), "P1Y2M3DT4H5M6.789S");
        assert_eq!(written(write_iso, (0, 0, 0)), "PT0S");
        assert_eq!(written(write_iso, NEGATIVE_MONTH), "P-1M1D");
        assert_eq!(written(write_iso, (0, 0, -500_000)), "PT-0.5S");
        assert_eq!(written(write_standard, MIXED), "+1-2 +3 +4:05:06.789");
        assert_eq!(written(write_standard, NEGATIVE_MONTH), "-0-1 +1 +0:00:00");
        assert_eq!(written(write_standard, (0, -1, 0)), "-1 0:00:00");
        assert_eq!(written(write_standard, (14, 0, 0)), "1-2");
        assert_eq!(written(write_standard, (0, 0, 3_600_000_000)), "1:00:00");
        assert_eq!(written(write_standard, (0, 0, 0)), "0");
    }
}
