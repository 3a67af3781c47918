//! `date`, `time` and `timestamp` from text: `2024-02-29 +00`, `Jan 5 2024`, `0044-03-15 BC`,
//! `24:00`, `epoch`, `20240229T101500Z`.
//!
//! Fields are in the order of DateStyle `MDY`: `1/5/2024` is the fifth of January.

use crate::text::days_of;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, TimestampMicrosecondArray};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, TimeUnit, TimestampMicrosecondType};
use std::sync::Arc;

const MICROS_PER_SECOND: i64 = 1_000_000;
/// Microseconds per day.
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// Why a text is no date or time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatetimeError {
    /// Invalid syntax.
    Syntax,
    /// A field is out of range.
    Range,
    /// `infinity`, which is not supported.
    Infinite,
}

/// The fields of a date or time, as far as the text has them.
#[derive(Debug, Default)]
struct Fields {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    is_before_christ: bool,
    /// Microseconds since midnight.
    time: Option<i64>,
    is_afternoon: Option<bool>,
    zone: Option<Zone>,
}

#[derive(Debug, PartialEq)]
enum Zone {
    /// Seconds east of Greenwich.
    Offset(i64),
    Named(String),
}

/// Parses a date: days since 1970. A time and a zone after it are ignored.
pub(crate) fn date(text: &str) -> Result<i32, DatetimeError> {
    let days = match special(text)? {
        Some(micros) => micros.div_euclid(MICROS_PER_DAY),
        None => parse(text)?.days()?,
    };
    i32::try_from(days).map_err(|_| DatetimeError::Range)
}

/// Parses a timestamp: microseconds since 1970. For a type without zone, a zone is ignored.
pub(crate) fn timestamp(text: &str, with_zone: bool) -> Result<i64, DatetimeError> {
    if let Some(micros) = special(text)? {
        return Ok(micros);
    }
    let fields = parse(text)?;
    let time = fields.time()?;
    let local = fields.days()?.checked_mul(MICROS_PER_DAY).and_then(|day| day.checked_add(time));
    let local = local.ok_or(DatetimeError::Range)?;
    match &fields.zone {
        Some(Zone::Offset(seconds)) if with_zone => {
            local.checked_sub(seconds * MICROS_PER_SECOND).ok_or(DatetimeError::Range)
        }
        Some(Zone::Named(name)) if with_zone => in_zone(local, name),
        _ => Ok(local),
    }
}

/// Parses a time of day: microseconds since midnight.
pub(crate) fn time(text: &str) -> Result<i64, DatetimeError> {
    let fields = parse(text)?;
    match fields.time {
        Some(_) => fields.time(),
        None => Err(DatetimeError::Syntax),
    }
}

/// The special values (`epoch`, `now`, `today`, ...): microseconds since 1970.
fn special(text: &str) -> Result<Option<i64>, DatetimeError> {
    let now = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.ok().and_then(|since| i64::try_from(since.as_micros()).ok()).unwrap_or(0)
    };
    let today = || now().div_euclid(MICROS_PER_DAY) * MICROS_PER_DAY;
    Ok(Some(match text.trim().to_ascii_lowercase().as_str() {
        "epoch" => 0,
        "now" => now(),
        "today" => today(),
        "tomorrow" => today() + MICROS_PER_DAY,
        "yesterday" => today() - MICROS_PER_DAY,
        "infinity" | "+infinity" | "-infinity" => return Err(DatetimeError::Infinite),
        _ => return Ok(None),
    }))
}

impl Fields {
    fn days(&self) -> Result<i64, DatetimeError> {
        let (Some(year), Some(month), Some(day)) = (self.year, self.month, self.day) else {
            return Err(DatetimeError::Syntax);
        };
        let year = match (self.is_before_christ, year) {
            (_, 0) => return Err(DatetimeError::Range),
            (true, year) => 1 - year,
            (false, year) => year,
        };
        days_of(year, month, day).ok_or(DatetimeError::Range)
    }

    fn time(&self) -> Result<i64, DatetimeError> {
        const HOUR: i64 = 3600 * MICROS_PER_SECOND;
        let time = self.time.unwrap_or(0);
        let time = match (self.is_afternoon, time / HOUR) {
            (None, _) => time,
            (Some(_), 0 | 13..) => return Err(DatetimeError::Range),
            (Some(afternoon), 12) => time - if afternoon { 0 } else { 12 * HOUR },
            (Some(afternoon), _) => time + if afternoon { 12 * HOUR } else { 0 },
        };
        if time > MICROS_PER_DAY { Err(DatetimeError::Range) } else { Ok(time) }
    }

    /// Parses one word of the text.
    fn word(&mut self, word: &str) -> Result<(), DatetimeError> {
        match word {
            "bc" => self.is_before_christ = true,
            "ad" => {}
            "am" => self.is_afternoon = Some(false),
            "pm" => self.is_afternoon = Some(true),
            "z" | "utc" | "gmt" | "zulu" => self.zone = Some(Zone::Offset(0)),
            "t" => {}
            word if is_weekday(word) => {}
            word if word.starts_with(['+', '-']) => self.zone = Some(offset(word)?),
            word if word.starts_with(|c: char| c.is_ascii_digit()) => {
                if word.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(':') {
                    self.clock(word)?
                } else {
                    self.numbers(word)?
                }
            }
            word => match month_named(word) {
                Some(month) if self.month.is_none() => self.month = Some(month),
                _ if self.zone.is_none() && self.day.is_some() => {
                    self.zone = Some(Zone::Named(word.to_owned()));
                }
                _ => return Err(DatetimeError::Syntax),
            },
        }
        Ok(())
    }

    /// `10:11`, `10:11:12.5+02`, `10:11pm`.
    fn clock(&mut self, word: &str) -> Result<(), DatetimeError> {
        let end = word.find(|c: char| !matches!(c, '0'..='9' | ':' | '.')).unwrap_or(word.len());
        let (clock, rest) = word.split_at(end);
        let mut fields = clock.split(':');
        let hours = number(fields.next().unwrap_or(""))?;
        let minutes = number(fields.next().ok_or(DatetimeError::Syntax)?)?;
        let micros = fields.next().map_or(Ok(0), seconds)?;
        if fields.next().is_some() || self.time.is_some() {
            return Err(DatetimeError::Syntax);
        }
        if minutes > 59 || micros > 60 * MICROS_PER_SECOND || hours > 24 {
            return Err(DatetimeError::Range);
        }
        self.time = Some((hours * 60 + minutes) * 60 * MICROS_PER_SECOND + micros);
        if rest.is_empty() { Ok(()) } else { self.word(rest) }
    }

    /// `2024-02-29`, `20240229`, `1/5/2024`, `5`; a time or a zone may follow a date.
    fn numbers(&mut self, word: &str) -> Result<(), DatetimeError> {
        let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
        let (first, rest) = word.split_at(end);
        let Some(separator) = rest.chars().next() else { return self.lone_number(first) };
        if separator == 't' || separator == 'z' || separator == '+' {
            self.lone_number(first)?;
            return self.word(rest.strip_prefix('t').filter(|r| !r.is_empty()).unwrap_or(rest));
        }
        if !matches!(separator, '-' | '/' | '.') || self.day.is_some() {
            return Err(DatetimeError::Syntax);
        }
        let mut fields = rest[1..].splitn(2, separator);
        let (second, third) =
            (fields.next().unwrap_or(""), fields.next().ok_or(DatetimeError::Syntax)?);
        let end = third.find(|c: char| !c.is_ascii_digit()).unwrap_or(third.len());
        let (third, after) = third.split_at(end);
        let middle = month_named(second).map_or_else(|| number(second), Ok)?;
        let (year, month, day) = match (first.len() > 2, month_named(second).is_some()) {
            (true, _) => (year(first)?, middle, number(third)?),
            (false, true) => (year(third)?, middle, number(first)?),
            (false, false) => (year(third)?, number(first)?, middle),
        };
        (self.year, self.month, self.day) = (Some(year), Some(month), Some(day));
        match after {
            "" => Ok(()),
            after => self.word(after.strip_prefix('t').unwrap_or(after)),
        }
    }

    /// A number alone: a date or a time without separators, or the day or year next to a month's name.
    fn lone_number(&mut self, digits: &str) -> Result<(), DatetimeError> {
        match digits.len() {
            8 if self.day.is_none() => {
                self.year = Some(number(&digits[..4])?);
                self.month = Some(number(&digits[4..6])?);
                self.day = Some(number(&digits[6..])?);
            }
            6 if self.day.is_some() && self.time.is_none() => {
                let clock = format!("{}:{}:{}", &digits[..2], &digits[2..4], &digits[4..]);
                return self.clock(&clock);
            }
            1 | 2 if self.day.is_none() => self.day = Some(number(digits)?),
            _ if self.year.is_none() => self.year = Some(year(digits)?),
            _ => return Err(DatetimeError::Syntax),
        }
        Ok(())
    }
}

fn parse(text: &str) -> Result<Fields, DatetimeError> {
    let lower = text.trim().to_ascii_lowercase().replace(',', " ");
    let mut fields = Fields::default();
    if lower.is_empty() {
        return Err(DatetimeError::Syntax);
    }
    for word in lower.split_ascii_whitespace() {
        fields.word(word)?;
    }
    Ok(fields)
}

fn number(digits: &str) -> Result<i64, DatetimeError> {
    if digits.bytes().all(|b| b.is_ascii_digit()) && (1..=9).contains(&digits.len()) {
        digits.parse().map_err(|_| DatetimeError::Syntax)
    } else {
        Err(DatetimeError::Syntax)
    }
}

/// A year. Years of two digits are in 1970 to 2069.
fn year(digits: &str) -> Result<i64, DatetimeError> {
    let year = number(digits)?;
    Ok(match digits.len() {
        1 | 2 if year < 70 => 2000 + year,
        1 | 2 => 1900 + year,
        _ => year,
    })
}

/// Seconds with a fraction, in microseconds.
fn seconds(text: &str) -> Result<i64, DatetimeError> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return Err(DatetimeError::Syntax);
    }
    let digits: String = fraction.chars().chain("0000000".chars()).take(7).collect();
    let tenths = number(&digits)?;
    Ok(number(whole)? * MICROS_PER_SECOND + (tenths + 5) / 10)
}

/// `+02`, `-0530`, `+02:00`.
fn offset(zone: &str) -> Result<Zone, DatetimeError> {
    let (sign, rest) = zone.split_at(1);
    let fields: Vec<&str> = rest.split(':').collect();
    let seconds = match fields[..] {
        [hours] if hours.len() <= 2 => number(hours)? * 3600,
        [both] if both.len() == 4 => number(&both[..2])? * 3600 + number(&both[2..])? * 60,
        [hours, minutes] => number(hours)? * 3600 + number(minutes)? * 60,
        [hours, minutes, seconds] => {
            number(hours)? * 3600 + number(minutes)? * 60 + number(seconds)?
        }
        _ => return Err(DatetimeError::Syntax),
    };
    if seconds >= 16 * 3600 {
        return Err(DatetimeError::Range);
    }
    Ok(Zone::Offset(if sign == "-" { -seconds } else { seconds }))
}

fn month_named(word: &str) -> Option<i64> {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let word = word.trim_end_matches('.');
    let place = NAMES.iter().position(|name| {
        *name == word
            || word.len() == 3 && name.starts_with(word)
            || word == "sept" && *name == "september"
    })?;
    i64::try_from(place + 1).ok()
}

fn is_weekday(word: &str) -> bool {
    const NAMES: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    NAMES.iter().any(|name| *name == word || word.len() == 3 && name.starts_with(word))
}

/// The timestamp in UTC of a local time in a named zone.
fn in_zone(local: i64, name: &str) -> Result<i64, DatetimeError> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let array: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![local]));
    // The text was lowered; zone names are capitalized.
    let capital = |part: &str| {
        let mut letters = part.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    let parts = |separator: char, name: &str| {
        name.split(separator).map(capital).collect::<Vec<_>>().join(&separator.to_string())
    };
    let name = parts('_', &parts('/', name));
    for name in [name.to_ascii_uppercase(), name] {
        let zone = DataType::Timestamp(TimeUnit::Microsecond, Some(name.as_str().into()));
        if let Ok(array) = cast_with_options(&array, &zone, &options)
            && array.is_valid(0)
        {
            return Ok(array.as_primitive::<TimestampMicrosecondType>().value(0));
        }
    }
    Err(DatetimeError::Syntax)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_their_forms() {
        for text in ["2024-02-29", "2024-02-29 +00", "20240229", "Feb 29, 2024", "2/29/2024"] {
            assert_eq!(date(text), Ok(19_782), "{text}");
        }
        for text in ["29-Feb-2024", "2024-2-29 10:00:00", "Thu 29 Feb 2024", "2024-02-29T10:00Z"] {
            assert_eq!(date(text), Ok(19_782), "{text}");
        }
        assert_eq!(date("0001-01-01 BC"), Ok(-719_528));
        assert_eq!(date("2024-02-30"), Err(DatetimeError::Range));
        assert_eq!(date("2024-02-29 x"), Ok(19_782), "a zone is ignored");
        for text in ["", "x", "2024-02", "2024-02-29 10:00 11:00", "10:00"] {
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
        assert_eq!(timestamp("infinity", false), Err(DatetimeError::Infinite));
    }

    #[test]
    fn times_end_at_midnight() {
        assert_eq!(time("24:00:00"), Ok(MICROS_PER_DAY));
        assert_eq!(time("23:59:60"), Ok(MICROS_PER_DAY));
        assert_eq!(time("10:11:12.5"), Ok(36_672_500_000));
        assert_eq!(time("24:00:01"), Err(DatetimeError::Range));
        assert_eq!(time("10:60"), Err(DatetimeError::Range));
        assert_eq!(time("x"), Err(DatetimeError::Syntax));
    }
}
