//! Intervals in keys: by their lengths, with 30 days a month and 24 hours a day.
//!
//! Intervals of the same length are equal, so that a key does not say which of them it is of.

use arrow::datatypes::IntervalMonthDayNano;
use sdds::encoding;

const DAYS_PER_MONTH: i128 = 30;
const NANOS_PER_DAY: i128 = 86_400_000_000_000;
const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// The width of an encoded length in bytes.
pub(super) const WIDTH: usize = 16;

/// Appends the length of an interval.
pub(super) fn encode(interval: IntervalMonthDayNano, out: &mut Vec<u8>) {
    let days = i128::from(interval.months) * DAYS_PER_MONTH + i128::from(interval.days);
    let length = days * NANOS_PER_DAY + i128::from(interval.nanoseconds);
    encoding::integer(&length.to_be_bytes(), out);
}

/// The interval of an encoded length that has as many months and days as possible.
pub(super) fn decode(bytes: [u8; WIDTH]) -> IntervalMonthDayNano {
    let mut bytes = bytes;
    bytes[0] ^= 0x80;
    let length = i128::from_be_bytes(bytes);
    let days = length / NANOS_PER_DAY;
    let months = i32::try_from(days / DAYS_PER_MONTH).unwrap_or(i32::MAX);
    // A remainder is smaller than what it is divided by.
    let (days, rest) = (days % DAYS_PER_MONTH, length % NANOS_PER_DAY);
    IntervalMonthDayNano::new(months, days as i32, rest as i64)
}

/// An interval as PostgreSQL writes it: `1 year 2 mons 3 days 04:05:06`.
pub(super) fn text(interval: IntervalMonthDayNano) -> String {
    let mut parts = Vec::new();
    let mut is_negative = false;
    let units =
        [(interval.months / 12, "year"), (interval.months % 12, "mon"), (interval.days, "day")];
    for (count, unit) in units.into_iter().filter(|(count, _)| *count != 0) {
        let plus = if is_negative && count > 0 { "+" } else { "" };
        let plural = if count == 1 { "" } else { "s" };
        parts.push(format!("{plus}{count} {unit}{plural}"));
        is_negative = count < 0;
    }
    let nanos = i128::from(interval.nanoseconds);
    if nanos != 0 || parts.is_empty() {
        let sign = match nanos {
            nanos if nanos < 0 => "-",
            _ if is_negative => "+",
            _ => "",
        };
        let (seconds, micros) =
            (nanos.abs() / NANOS_PER_SECOND, nanos.abs() % NANOS_PER_SECOND / 1000);
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        let time = format!("{sign}{hours:02}:{minutes:02}:{:02}", seconds % 60);
        let fraction = if micros == 0 { String::new() } else { format!(".{micros:06}") };
        parts.push(time + fraction.trim_end_matches('0'));
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(months: i32, days: i32, nanoseconds: i64) -> Vec<u8> {
        let mut out = Vec::new();
        encode(IntervalMonthDayNano::new(months, days, nanoseconds), &mut out);
        out
    }

    #[test]
    fn equal_intervals_have_one_key() {
        assert_eq!(key(1, 0, 0), key(0, 30, 0));
        assert_eq!(key(0, 1, 0), key(0, 0, 86_400_000_000_000));
        let ordered = [key(-1, 0, 0), key(0, 0, -1), key(0, 0, 0), key(0, 29, 5), key(1, 0, 0)];
        assert!(ordered.is_sorted(), "{ordered:?}");
    }

    #[test]
    fn keys_are_shown_as_intervals() {
        let shown = |months, days, nanos| {
            let bytes = key(months, days, nanos).try_into().expect("16 bytes");
            text(decode(bytes))
        };
        assert_eq!(shown(0, 0, 0), "00:00:00");
        assert_eq!(shown(14, 3, 14_706_500_000_000), "1 year 2 mons 3 days 04:05:06.5");
        assert_eq!(shown(0, 30, 0), "1 mon");
        assert_eq!(shown(0, -1, 0), "-1 days");
        assert_eq!(shown(0, 0, -5_000_000_000), "-00:00:05");
    }
}
