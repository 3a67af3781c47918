//! `date`, `time` and `timestamp` from text: `2024-02-29 +00`, `Jan 5 2024`, `0044-03-15 BC`, `24:00`, `epoch`,
//! `20240229T101500Z`, `J2451187`.
//!
//! The text is cut into tokens, and each is decoded by what the ones before it have given. A [`Reading`] says in
//! which order fields like `1/5/2024` are, and in which zone a time without one is.

mod complete;
mod decode;
mod numbers;
mod offset;

use crate::clock::MICROS_PER_SECOND;
use crate::moments;
use crate::zone::Zone;
use crate::{DateOrder, DatetimeError};
use decode::{Moment, parse};

/// Microseconds per day.
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// How a session reads texts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// The order of fields like `1/5/2024`.
    pub order: DateOrder,
    /// The zone of a time without one.
    pub zone: Zone,
}

/// Parses a date: days since 1970. A time and a zone after it are ignored.
///
/// # Errors
/// The text is no date, or it is out of range.
pub fn date(text: &str, reading: Reading) -> Result<i32, DatetimeError> {
    let fields = parse(text, reading, false)?;
    match fields.moment {
        Some(Moment::Epoch) => Ok(0),
        Some(Moment::Infinity(true)) => Ok(moments::LAST_DATE),
        Some(Moment::Infinity(false)) => Ok(moments::FIRST_DATE),
        Some(Moment::Now(now)) => {
            Ok(moments::date_of(reading.zone.local(now).ok_or(DatetimeError::Range)?))
        }
        None => moments::date(fields.days()?).ok_or(DatetimeError::Range),
    }
}

/// Parses a timestamp: microseconds since 1970. For a type without zone, a zone is ignored.
///
/// # Errors
/// The text is no timestamp, or it is out of range.
pub fn timestamp(text: &str, with_zone: bool, reading: Reading) -> Result<i64, DatetimeError> {
    let fields = parse(text, reading, false)?;
    match fields.moment {
        // The epoch is the same number in both types.
        Some(Moment::Epoch) => return Ok(0),
        Some(Moment::Infinity(true)) => return Ok(moments::LAST_TIMESTAMP),
        Some(Moment::Infinity(false)) => return Ok(moments::FIRST_TIMESTAMP),
        Some(Moment::Now(now)) if with_zone => return Ok(now),
        Some(Moment::Now(now)) => return reading.zone.local(now).ok_or(DatetimeError::Range),
        None => {}
    }
    let local = i128::from(fields.days()?) * i128::from(MICROS_PER_DAY) + i128::from(fields.time());
    if moments::is_unheld(local) {
        return Err(DatetimeError::UnheldMoment);
    }
    let local = i64::try_from(local).ok();
    let moment = match with_zone {
        false => local.and_then(moments::timestamp),
        true => local.and_then(|local| fields.zone_or_session().instant(local)),
    };
    moment.filter(|moment| !moments::is_infinite(*moment)).ok_or(DatetimeError::Range)
}

/// Parses a time of day: microseconds since midnight.
///
/// # Errors
/// The text is no time.
pub fn time(text: &str, reading: Reading) -> Result<i64, DatetimeError> {
    let fields = parse(text, reading, true)?;
    match fields.moment {
        Some(Moment::Now(now)) => {
            let local = reading.zone.local(now).ok_or(DatetimeError::Range)?;
            Ok(local.rem_euclid(MICROS_PER_DAY))
        }
        _ => Ok(fields.time()),
    }
}

/// Whether a text may be a moment that depends on the time of the transaction.
pub fn is_of_transaction(text: &str) -> bool {
    const WORDS: [&str; 4] = ["now", "today", "tomorrow", "yesterday"];
    WORDS.iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Result<i32, DatetimeError> {
        super::date(text, Reading::default())
    }

    fn timestamp(text: &str, with_zone: bool) -> Result<i64, DatetimeError> {
        super::timestamp(text, with_zone, Reading::default())
    }

    fn time(text: &str) -> Result<i64, DatetimeError> {
        super::time(text, Reading::default())
    }

    #[test]
    fn dates_in_their_forms() {
        for text in ["2024-02-29", "2024-02-29 +00", "20240229", "Feb 29, 2024", "2/29/2024"] {
            assert_eq!(date(text), Ok(19_782), "{text}");
        }
        for text in ["29-Feb-2024", "2024-2-29 10:00:00", "Thu 29 Feb 2024", "2024-02-29T10:00Z"] {
            assert_eq!(date(text), Ok(19_782), "{text}");
        }
        assert_eq!(date("0001-01-01 BC"), Ok(-719_528));
        assert_eq!(date("2024-02-30"), Err(DatetimeError::Field));
        assert_eq!(date("2024-02-29 CET"), Ok(19_782), "a zone is ignored");
        assert_eq!(date("2024-060"), Ok(19_782));
        assert_eq!(date("J2460370"), Ok(19_782));
        assert_eq!(date("Feb-29-2024"), Ok(19_782));
        assert_eq!(date("2001-02-03 epoch"), Ok(0));
        assert_eq!(date("May 6, 44 BC"), date("0044-05-06 BC"));
        for text in ["", "x", "2024-02-29 x", "2024-02", "2024-02-29 10:00 11:00", "10:00"] {
            assert_eq!(date(text), Err(DatetimeError::Syntax), "{text}");
        }
    }

    #[test]
    fn zones_are_applied_or_ignored() {
        let noon = 19_782 * MICROS_PER_DAY + MICROS_PER_DAY / 2;
        assert_eq!(timestamp("2024-02-29 12:00+02", false), Ok(noon));
        assert_eq!(timestamp("2024-02-29 14:00+02", true), Ok(noon));
        assert_eq!(timestamp("2024-02-29T17:30:00+0530", true), Ok(noon));
        assert_eq!(timestamp("20240229T120000Z", true), Ok(noon));
        assert_eq!(timestamp("2024-02-29 07:00:00 America/New_York", true), Ok(noon));
        assert_eq!(timestamp("2024-02-29 24:00", false), Ok(noon + MICROS_PER_DAY / 2));
        assert_eq!(timestamp("2024-02-29 12:00 PM", false), Ok(noon));
        assert_eq!(timestamp("infinity", false), Ok(moments::LAST_TIMESTAMP));
        assert_eq!(timestamp("-infinity", true), Ok(moments::FIRST_TIMESTAMP));
        assert_eq!(timestamp("294277-01-01", false), Err(DatetimeError::Range));
        assert_eq!(timestamp("4714-11-23 BC", false), Err(DatetimeError::Range));
        assert_eq!(timestamp("J2460370.5", false), Ok(noon));
        let zone = DatetimeError::Zone("mars/olympus".to_owned());
        assert_eq!(timestamp("2024-02-29 Mars/Olympus", false), Err(zone));
        assert_eq!(timestamp("2024-02-29 10:00 +99", true), Err(DatetimeError::Displacement));
    }

    #[test]
    fn the_style_has_an_order_and_a_zone() {
        let style = Reading { order: DateOrder::Dmy, ..Reading::default() };
        assert_eq!(super::date("29/2/2024", style), Ok(19_782));
        let style = Reading { order: DateOrder::Ymd, ..Reading::default() };
        assert_eq!(super::date("24/2/29", style), Ok(19_782));
        let style = Reading { zone: Zone::Offset(3600), ..Reading::default() };
        let local = super::timestamp("2024-02-29 01:00", true, style);
        assert_eq!(local, Ok(19_782 * MICROS_PER_DAY));
    }

    #[test]
    fn times_end_at_midnight() {
        assert_eq!(time("24:00:00"), Ok(MICROS_PER_DAY));
        assert_eq!(time("23:59:60"), Ok(MICROS_PER_DAY));
        assert_eq!(time("10:11:12.5"), Ok(36_672_500_000));
        assert_eq!(time("101112"), Ok(36_672_000_000));
        assert_eq!(time("T101112.5"), Ok(36_672_500_000));
        assert_eq!(time("allballs"), Ok(0));
        assert_eq!(time("1 10:11"), Err(DatetimeError::Syntax));
        assert_eq!(time("10:11 America/New_York"), Err(DatetimeError::Syntax));
        assert_eq!(time("23:59:59.9999999"), Ok(MICROS_PER_DAY));
        assert_eq!(time("00:00:00.1234565"), Ok(123_456));
        assert_eq!(time("24:00:01"), Err(DatetimeError::Field));
        assert_eq!(time("23:59:60.01"), Err(DatetimeError::Field));
        assert_eq!(time("24:00:00.01"), Err(DatetimeError::Field));
        assert_eq!(time("10:60"), Err(DatetimeError::Field));
        assert_eq!(time("x"), Err(DatetimeError::Syntax));
    }
}
