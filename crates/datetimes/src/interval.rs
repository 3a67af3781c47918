//! `interval` from text: `1 year 2 mons -3 days +04:05:06`, `1-2 3 4:05`, `3 weeks ago`. The form of ISO 8601 is in
//! `iso_interval`.
//!
//! The words are read from the last to the first, so that a unit is known before its number. A number without a unit has
//! the smallest of the declared fields, or is seconds.

use crate::DatetimeError;
use crate::clock::Clock;
use crate::digits::{fraction, integer, long};
use crate::interval_fields::Fields;
use crate::interval_parts::Parts;
use crate::iso_interval;
use crate::tokens::{Kind, Token, tokens};
use crate::words::{IntervalWord, Unit, of_interval};

const MONTHS_PER_YEAR: i64 = 12;

/// An interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// Months.
    pub months: i32,
    /// Days.
    pub days: i32,
    /// Microseconds.
    pub micros: i64,
}

/// Parses an interval of a type with a modifier, or of any for less than 0. As SQL's standard has it, a sign before the
/// first part alone is that of all parts.
///
/// # Errors
/// The text is no interval, or it is out of range.
pub fn parse(text: &str, modifier: i32, is_standard: bool) -> Result<Interval, DatetimeError> {
    let fields = Fields::of_modifier(modifier);
    let parts = tokens(text).ok_or(DatetimeError::Syntax);
    let parts = match parts.and_then(|tokens| traditional(&tokens, fields, is_standard)) {
        Err(DatetimeError::Syntax) => iso_interval::parse(text)?,
        parts => parts?,
    };
    let months = parts.months().ok_or(DatetimeError::Interval)?;
    Ok(Interval { months, days: parts.days, micros: parts.micros })
}

fn traditional(
    tokens: &[Token],
    fields: Fields,
    is_standard: bool,
) -> Result<Parts, DatetimeError> {
    let is_signed = |token: &Token| token.text.starts_with(['-', '+']);
    let is_negative = is_standard
        && tokens.first().is_some_and(|first| first.text.starts_with('-'))
        && !tokens[1..].iter().any(is_signed);
    let mut reader = Reader { fields, is_negative, unit: None, seen: 0, parts: Parts::default() };
    let mut is_ago = false;
    for token in tokens.iter().rev() {
        match token.kind {
            Kind::Time => reader.clock(&token.text, false)?,
            Kind::Signed if reader.signed_clock(&token.text)? => {}
            Kind::Signed | Kind::Date | Kind::Number => reader.number(&token.text)?,
            Kind::Word | Kind::SignedWord => match of_interval(&token.text) {
                Some(IntervalWord::Unit(unit)) => reader.unit = Some(unit),
                Some(IntervalWord::Ago) => {
                    is_ago = true;
                    reader.unit = Some(Unit::Other);
                }
                None => return Err(DatetimeError::Syntax),
            },
        }
    }
    if reader.seen == 0 {
        return Err(DatetimeError::Syntax);
    }
    if is_ago { reader.parts.negated().ok_or(DatetimeError::Field) } else { Ok(reader.parts) }
}

/// Bits of units, to notice one that is given twice.
mod seen {
    pub(crate) const SECOND: u32 = 1;
    pub(crate) const MILLISECOND: u32 = 2;
    pub(crate) const MICROSECOND: u32 = 4;
    pub(crate) const SECONDS: u32 = SECOND | MILLISECOND | MICROSECOND;
    pub(crate) const MINUTE: u32 = 8;
    pub(crate) const HOUR: u32 = 16;
    pub(crate) const TIME: u32 = SECONDS | MINUTE | HOUR;
    pub(crate) const DAY: u32 = 32;
    pub(crate) const WEEK: u32 = 64;
    pub(crate) const MONTH: u32 = 128;
    pub(crate) const YEAR: u32 = 256;
    pub(crate) const DECADE: u32 = 512;
    pub(crate) const CENTURY: u32 = 1024;
    pub(crate) const MILLENNIUM: u32 = 2048;
}

/// Reads tokens from the last on.
struct Reader {
    fields: Fields,
    /// Whether all parts are negative.
    is_negative: bool,
    /// The unit of the next number, if something has said it.
    unit: Option<Unit>,
    seen: u32,
    parts: Parts,
}

impl Reader {
    fn mark(&mut self, units: u32) -> Result<(), DatetimeError> {
        if self.seen & units != 0 {
            return Err(DatetimeError::Syntax);
        }
        self.seen |= units;
        Ok(())
    }

    /// A time. A number before it is days.
    fn clock(&mut self, text: &str, is_negative: bool) -> Result<(), DatetimeError> {
        let clock = Clock::parse(text, self.fields.are_minutes_and_seconds())?;
        let micros = clock.micros().ok_or(DatetimeError::Field)?;
        let is_negative = is_negative || self.is_negative && micros > 0;
        self.parts.micros = if is_negative { -micros } else { micros };
        self.unit = Some(Unit::Day);
        self.mark(seen::TIME)
    }

    /// Whether a signed text is a time, which is read.
    fn signed_clock(&mut self, text: &str) -> Result<bool, DatetimeError> {
        let unsigned = text.get(1..).unwrap_or_default();
        if !unsigned.contains(':') {
            return Ok(false);
        }
        if Clock::parse(unsigned, self.fields.are_minutes_and_seconds()).is_err() {
            return Ok(false);
        }
        self.clock(unsigned, text.starts_with('-')).map(|()| true)
    }

    fn number(&mut self, text: &str) -> Result<(), DatetimeError> {
        let unit = self.unit.unwrap_or_else(|| self.fields.last_unit());
        self.unit = Some(unit);
        let is_negative = text.starts_with('-');
        let (mut whole, rest) = long(text)?;
        let mut part = 0.0;
        let mut unit = unit;
        if let Some(months) = rest.strip_prefix('-') {
            // Years and months.
            let (months, rest) = integer(months)?;
            if !(0..MONTHS_PER_YEAR).contains(&months) {
                return Err(DatetimeError::Field);
            }
            if !rest.is_empty() {
                return Err(DatetimeError::Syntax);
            }
            let months = if is_negative { -months } else { months };
            let years = whole.checked_mul(MONTHS_PER_YEAR);
            let total = years.and_then(|years| years.checked_add(months));
            whole = total.ok_or(DatetimeError::Field)?;
            unit = Unit::Month;
            self.unit = Some(unit);
        } else if rest.starts_with('.') {
            part = fraction(rest)?;
            part = if is_negative { -part } else { part };
        } else if !rest.is_empty() {
            return Err(DatetimeError::Syntax);
        }
        if self.is_negative {
            whole = if whole > 0 { -whole } else { whole };
            part = -part.abs();
        }
        self.parts.add(whole, part, unit)?;
        if unit == Unit::Hour {
            self.unit = Some(Unit::Day);
        }
        self.mark(match unit {
            Unit::Microsecond => seen::MICROSECOND,
            Unit::Millisecond => seen::MILLISECOND,
            Unit::Second if part != 0.0 => seen::SECONDS,
            Unit::Second => seen::SECOND,
            Unit::Minute => seen::MINUTE,
            Unit::Hour => seen::HOUR,
            Unit::Day => seen::DAY,
            Unit::Week => seen::WEEK,
            Unit::Month => seen::MONTH,
            Unit::Year => seen::YEAR,
            Unit::Decade => seen::DECADE,
            Unit::Century => seen::CENTURY,
            Unit::Millennium => seen::MILLENNIUM,
            Unit::Other => 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<(i32, i32, i64), DatetimeError> {
        let interval = parse(text, -1, false)?;
        Ok((interval.months, interval.days, interval.micros / 1000))
    }

    #[test]
    fn what_postgresql_reads() {
        assert_eq!(of("0:00:00"), Ok((0, 0, 0)));
        assert_eq!(of("1 day 02:03:04"), Ok((0, 1, 7_384_000)));
        assert_eq!(of("P1D"), Ok((0, 1, 0)));
        assert_eq!(of("P1"), Ok((12, 0, 0)));
        assert_eq!(of("P1Y2M3DT4H5M6.5S"), Ok((14, 3, 14_706_500)));
        assert_eq!(of("P0001-02-03T04:05:06"), Ok((14, 3, 14_706_000)));
        assert_eq!(of("-1 year -2 mons +3 days -04:05:06"), Ok((-14, 3, -14_706_000)));
        assert_eq!(of("1-2 3 4:05"), Ok((14, 3, 14_700_000)));
        assert_eq!(of("@ 3 weeks ago"), Ok((0, -21, 0)));
        assert_eq!(of("1.5 months"), Ok((1, 15, 0)));
        assert_eq!(of("90"), Ok((0, 0, 90_000)));
        assert_eq!(of("3days"), Ok((0, 3, 0)));
        let standard = parse("-1 2:03", -1, true).expect("an interval");
        assert_eq!((standard.days, standard.micros), (-1, -7_380_000_000));
    }

    #[test]
    fn what_is_refused() {
        let texts = ["", "x", "1 fortnight", "P", "1:2:3:4", "1 -", "1 day 1 day", "123 11"];
        for text in texts {
            assert_eq!(of(text), Err(DatetimeError::Syntax), "{text}");
        }
        for text in ["99999999999 years", "1:70", "2147483648 days"] {
            assert_eq!(of(text), Err(DatetimeError::Field), "{text}");
        }
        assert_eq!(of("2147483647 years"), Err(DatetimeError::Interval));
        assert_eq!(of("2562047789 hours"), Err(DatetimeError::Field));
    }

    #[test]
    fn declared_fields_give_numbers_their_unit() {
        let of = |text: &str, bits: i32| {
            let read = parse(text, bits << 16 | 0xffff, false);
            read.map(|interval| (interval.months, interval.days, interval.micros / 1000))
        };
        assert_eq!(of("90", Fields::DAY), Ok((0, 90, 0)));
        assert_eq!(of("-1", Fields::YEAR | Fields::MONTH), Ok((-1, 0, 0)));
        assert_eq!(of("1.5", Fields::SECOND), Ok((0, 0, 1500)));
        assert_eq!(of("1 day 2 hours", Fields::DAY), Ok((0, 1, 7_200_000)));
        assert_eq!(of("3 4:05", Fields::MINUTE | Fields::SECOND), Ok((0, 3, 245_000)));
        let fields = Fields::DAY | Fields::HOUR | Fields::MINUTE;
        assert_eq!(of("1 2", fields), Err(DatetimeError::Syntax));
    }
}
