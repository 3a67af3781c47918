//! Dates and timestamps as numbers: their ranges, their infinities, and how one type becomes another.
//!
//! A date counts days and a timestamp microseconds, both from 1970. The largest and the smallest number of each type are
//! `infinity` and `-infinity`. They stay what they are in all conversions and sums, and have no fields.

/// Microseconds per day.
const MICROS_PER_DAY: i64 = 86_400_000_000;

/// `infinity` as a date.
pub const LAST_DATE: i32 = i32::MAX;
/// `-infinity` as a date.
pub const FIRST_DATE: i32 = i32::MIN;
/// `infinity` as a timestamp.
pub const LAST_TIMESTAMP: i64 = i64::MAX;
/// `-infinity` as a timestamp.
pub const FIRST_TIMESTAMP: i64 = i64::MIN;

/// The finite dates: from 4714-11-24 BC to 5874897-12-31.
const DATES: std::ops::Range<i64> = -2_440_588..2_145_042_906;
/// The finite timestamps: from 4714-11-24 BC on, as many as the type can count.
const TIMESTAMPS: std::ops::Range<i64> = DATES.start * MICROS_PER_DAY..LAST_TIMESTAMP;

/// The end of PostgreSQL's timestamps: 294277-01-01.
const END_OF_POSTGRESQL: i128 = 9_224_318_016_000_000_000;

/// Whether PostgreSQL has a timestamp of a number of microseconds, which the type cannot count.
pub(crate) fn is_unheld(micros: i128) -> bool {
    (i128::from(LAST_TIMESTAMP)..END_OF_POSTGRESQL).contains(&micros)
}

/// Whether a date is `infinity` or `-infinity`.
pub fn is_infinite_date(days: i32) -> bool {
    days == LAST_DATE || days == FIRST_DATE
}

/// Whether a timestamp is `infinity` or `-infinity`.
pub fn is_infinite(micros: i64) -> bool {
    micros == LAST_TIMESTAMP || micros == FIRST_TIMESTAMP
}

/// The finite date of a number of days; `None` if it is out of range.
pub fn date(days: i64) -> Option<i32> {
    i32::try_from(days).ok().filter(|_| DATES.contains(&days))
}

/// The finite timestamp of a number of microseconds; `None` if it is out of range.
pub fn timestamp(micros: i64) -> Option<i64> {
    TIMESTAMPS.contains(&micros).then_some(micros)
}

/// The finite timestamp of a day and a number of microseconds from its midnight on; `None` if it is out of range.
pub fn on_day(days: i64, micros: i64) -> Option<i64> {
    timestamp(days.checked_mul(MICROS_PER_DAY)?.checked_add(micros)?)
}

/// The timestamp of a date's midnight; `None` if it is out of range.
pub fn midnight(days: i32) -> Option<i64> {
    match days {
        LAST_DATE => Some(LAST_TIMESTAMP),
        FIRST_DATE => Some(FIRST_TIMESTAMP),
        days => on_day(days.into(), 0),
    }
}

/// The date of a timestamp.
pub fn date_of(micros: i64) -> i32 {
    match micros {
        LAST_TIMESTAMP => LAST_DATE,
        FIRST_TIMESTAMP => FIRST_DATE,
        // The days of all microseconds are fewer than those of dates.
        micros => i32::try_from(micros.div_euclid(MICROS_PER_DAY)).unwrap_or(LAST_DATE),
    }
}

/// Whether a timestamp is the beginning of its date, as infinite ones are.
pub fn is_midnight(micros: i64) -> bool {
    is_infinite(micros) || micros.rem_euclid(MICROS_PER_DAY) == 0
}

/// The time of day of a timestamp, in microseconds; `None` if it is infinite.
pub fn time_of(micros: i64) -> Option<i64> {
    (!is_infinite(micros)).then_some(micros.rem_euclid(MICROS_PER_DAY))
}

/// The text of an infinite number, which is positive or negative.
pub fn infinity(is_positive: bool) -> &'static str {
    if is_positive { "infinity" } else { "-infinity" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinities_stay_what_they_are() {
        assert_eq!(midnight(LAST_DATE), Some(LAST_TIMESTAMP));
        assert_eq!(midnight(FIRST_DATE), Some(FIRST_TIMESTAMP));
        assert_eq!(date_of(LAST_TIMESTAMP), LAST_DATE);
        assert_eq!(date_of(FIRST_TIMESTAMP), FIRST_DATE);
        assert_eq!(time_of(LAST_TIMESTAMP), None);
        assert_eq!(timestamp(LAST_TIMESTAMP), None);
    }

    #[test]
    fn ranges_begin_at_the_first_julian_day() {
        assert_eq!(date(-2_440_588), Some(-2_440_588));
        assert_eq!(date(-2_440_589), None);
        assert_eq!(date(2_145_042_906), None);
        assert_eq!(on_day(-2_440_588, -1), None);
        assert_eq!(midnight(2_145_042_905), None, "timestamps end before dates");
        assert!(is_unheld(106_762_940 * 86_400_000_000 - 1));
        assert!(!is_unheld(106_762_940 * 86_400_000_000), "294277-01-01");
        assert_eq!(time_of(-1), Some(MICROS_PER_DAY - 1));
        assert_eq!(date_of(-1), -1);
    }
}
