//! `date`, `time` and `timestamp` from text: `2024-02-29 +00`, `Jan 5 2024`, `0044-03-15 BC`,
//! `24:00`, `epoch`, `20240229T101500Z`.
//!
//! The session's style says in which order fields like `1/5/2024` are, and in which zone a time without one is.

use crate::style::{DateOrder, Style};
use crate::text::{civil, days_of};
use crate::zone::Zone;

const MICROS_PER_SECOND: i64 = 1_000_000;
/// Microseconds per day.
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
/// The Julian day of 1970-01-01.
const JULIAN_1970: i64 = 2_440_588;
/// The days of type `date`, counted from 1970: from 4714-11-24 BC to 5874897-12-31.
const DAYS: std::ops::Range<i64> = -JULIAN_1970..2_147_483_494 - JULIAN_1970;

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
    style: Style,
    /// Whether a number alone is a time of day.
    is_time: bool,
    year: Option<i64>,
    /// Whether the year has two digits, and is one of this or the last century unless it is before Christ.
    is_short_year: bool,
    month: Option<i64>,
    day: Option<i64>,
    is_before_christ: bool,
    /// Days since 1970, if the text does not give year, month and day.
    whole_days: Option<i64>,
    /// Microseconds since midnight.
    time: Option<i64>,
    is_afternoon: Option<bool>,
    zone: Option<Zone>,
    /// Microseconds since 1970, if the text is a word for a moment.
    moment: Option<i64>,
}

/// Parses a date: days since 1970. A time and a zone after it are ignored.
pub(crate) fn date(text: &str, style: Style) -> Result<i32, DatetimeError> {
    let fields = parse(text, style, false)?;
    let days = match fields.moment {
        Some(0) => 0,
        Some(micros) => style.zone.local(micros).unwrap_or(micros).div_euclid(MICROS_PER_DAY),
        None => fields.days()?,
    };
    if !DAYS.contains(&days) {
        return Err(DatetimeError::Range);
    }
    i32::try_from(days).map_err(|_| DatetimeError::Range)
}

/// Parses a timestamp: microseconds since 1970. For a type without zone, a zone is ignored.
pub(crate) fn timestamp(text: &str, with_zone: bool, style: Style) -> Result<i64, DatetimeError> {
    let fields = parse(text, style, false)?;
    match fields.moment {
        // The epoch is the same number in both types.
        Some(0) => return Ok(0),
        Some(micros) if with_zone => return Ok(micros),
        Some(micros) => return style.zone.local(micros).ok_or(DatetimeError::Range),
        None => {}
    }
    let time = fields.time()?;
    let local = fields.days()?.checked_mul(MICROS_PER_DAY).and_then(|day| day.checked_add(time));
    let local = local.ok_or(DatetimeError::Range)?;
    if !with_zone {
        return Ok(local);
    }
    fields.zone.unwrap_or(style.zone).instant(local).ok_or(DatetimeError::Range)
}

/// Parses a time of day: microseconds since midnight.
pub(crate) fn time(text: &str, style: Style) -> Result<i64, DatetimeError> {
    let fields = parse(text, style, true)?;
    if let Some(micros) = fields.moment.filter(|micros| *micros != 0) {
        let local = style.zone.local(micros).ok_or(DatetimeError::Range)?;
        return Ok(local.rem_euclid(MICROS_PER_DAY));
    }
    let date = [fields.year, fields.month, fields.day];
    let has_date = date.iter().all(Option::is_some) || fields.whole_days.is_some();
    let has_part = date.iter().any(Option::is_some) && !has_date;
    // The offset of a zone with rules depends on the day.
    let is_open = matches!(fields.zone, Some(Zone::Named(_))) && !has_date;
    match fields.time {
        Some(_) if !has_part && !is_open => fields.time(),
        _ => Err(DatetimeError::Syntax),
    }
}

/// Microseconds since 1970.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.ok().and_then(|since| i64::try_from(since.as_micros()).ok()).unwrap_or(0)
}

impl Fields {
    fn days(&self) -> Result<i64, DatetimeError> {
        if let Some(days) = self.whole_days {
            return Ok(days);
        }
        let (Some(year), Some(month), Some(day)) = (self.year, self.month, self.day) else {
            return Err(DatetimeError::Syntax);
        };
        let year = match (self.is_before_christ, year) {
            (_, 0) if !self.is_short_year => return Err(DatetimeError::Range),
            (true, year) => 1 - year,
            (false, year) if self.is_short_year && year < 70 => 2000 + year,
            (false, year) if self.is_short_year => 1900 + year,
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
            "z" | "utc" | "gmt" | "zulu" => self.zone = Some(Zone::UTC),
            "t" => {}
            "allballs" if self.time.is_none() => self.time = Some(0),
            word if self.is_time
                && word.starts_with('t')
                && word[1..].starts_with(|c: char| c.is_ascii_digit()) =>
            {
                return self.word(&word[1..]);
            }
            "epoch" => self.moment = Some(0),
            "now" => self.moment = Some(now()),
            "today" => self.on_day(0),
            "tomorrow" => self.on_day(1),
            "yesterday" => self.on_day(-1),
            "infinity" | "+infinity" | "-infinity" => return Err(DatetimeError::Infinite),
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
                _ if self.day.is_none() && self.whole_days.is_none() && !self.is_time => {
                    return self.other(word);
                }
                _ if self.zone.is_none() => {
                    self.zone = Some(Zone::named(word).ok_or(DatetimeError::Syntax)?);
                }
                _ => return Err(DatetimeError::Syntax),
            },
        }
        Ok(())
    }

    /// A month's name with numbers, as in `jan-08-1999`, or a Julian day.
    fn other(&mut self, word: &str) -> Result<(), DatetimeError> {
        if let Some(digits) = word.strip_prefix('j') {
            self.whole_days = Some(number(digits)? - JULIAN_1970);
            return Ok(());
        }
        let mut parts = word.split('-');
        let (Some(month), Some(day), Some(year), None) =
            (parts.next().and_then(month_named), parts.next(), parts.next(), parts.next())
        else {
            return Err(DatetimeError::Syntax);
        };
        (self.month, self.day) = (Some(month), Some(number(day)?));
        self.set_year(year)
    }

    /// The day some days after today.
    fn on_day(&mut self, days: i64) {
        let local = self.style.zone.local(now()).unwrap_or_default();
        self.whole_days = Some(local.div_euclid(MICROS_PER_DAY) + days);
    }

    fn set_year(&mut self, digits: &str) -> Result<(), DatetimeError> {
        self.year = Some(number(digits)?);
        self.is_short_year = digits.len() <= 2;
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
        if self.is_time && separator == '.' && first.len() == 6 && self.time.is_none() {
            let clock = format!("{}:{}:{}{rest}", &first[..2], &first[2..4], &first[4..]);
            return self.clock(&clock);
        }
        if !matches!(separator, '-' | '/' | '.') || self.day.is_some() {
            return Err(DatetimeError::Syntax);
        }
        let mut fields = rest[1..].splitn(2, separator);
        let second = fields.next().unwrap_or("");
        let Some(third) = fields.next() else { return self.day_of_year(first, second) };
        let end = third.find(|c: char| !c.is_ascii_digit()).unwrap_or(third.len());
        let (third, after) = third.split_at(end);
        let middle = month_named(second).map_or_else(|| number(second), Ok)?;
        let is_first_year = first.len() > 2 || self.style.date == DateOrder::Ymd;
        let is_day_first = month_named(second).is_some() || self.style.date == DateOrder::Dmy;
        let (year, month, day) = match (is_first_year, is_day_first) {
            (true, _) => (first, middle, number(third)?),
            (false, true) => (third, middle, number(first)?),
            (false, false) => (third, number(first)?, middle),
        };
        (self.month, self.day) = (Some(month), Some(day));
        self.set_year(year)?;
        match after {
            "" => Ok(()),
            after => self.word(after.strip_prefix('t').unwrap_or(after)),
        }
    }

    /// `2020-060`: a year, and a day in it.
    fn day_of_year(&mut self, year: &str, day: &str) -> Result<(), DatetimeError> {
        if year.len() < 4 || day.len() != 3 {
            return Err(DatetimeError::Syntax);
        }
        let (year, day) = (number(year)?, number(day)?);
        let first = days_of(year, 1, 1).ok_or(DatetimeError::Range)?;
        let days = first + day - 1;
        if civil(days).0 != year {
            return Err(DatetimeError::Range);
        }
        self.whole_days = Some(days);
        Ok(())
    }

    /// A number alone: a date or a time without separators, or the day or year next to a month's name.
    fn lone_number(&mut self, digits: &str) -> Result<(), DatetimeError> {
        match digits.len() {
            4 if self.is_time && self.time.is_none() => {
                return self.clock(&format!("{}:{}", &digits[..2], &digits[2..]));
            }
            6 if self.is_time && self.time.is_none() => {
                let clock = format!("{}:{}:{}", &digits[..2], &digits[2..4], &digits[4..]);
                return self.clock(&clock);
            }
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
            _ if self.year.is_none() => self.set_year(digits)?,
            _ => return Err(DatetimeError::Syntax),
        }
        Ok(())
    }
}

fn parse(text: &str, style: Style, is_time: bool) -> Result<Fields, DatetimeError> {
    let lower = text.trim().to_ascii_lowercase().replace(',', " ");
    let mut fields = Fields { style, is_time, ..Fields::default() };
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

/// Seconds with a fraction, in microseconds.
fn seconds(text: &str) -> Result<i64, DatetimeError> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return Err(DatetimeError::Syntax);
    }
    // As PostgreSQL rounds: what is in the middle as a floating-point number goes to the even number.
    let fraction: f64 = format!("0.{fraction}0").parse().map_err(|_| DatetimeError::Syntax)?;
    let micros = (fraction * MICROS_PER_SECOND as f64).round_ties_even();
    Ok(number(whole)? * MICROS_PER_SECOND + micros as i64)
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
    let seconds = i32::try_from(seconds).map_err(|_| DatetimeError::Range)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Result<i32, DatetimeError> {
        super::date(text, Style::default())
    }

    fn timestamp(text: &str, with_zone: bool) -> Result<i64, DatetimeError> {
        super::timestamp(text, with_zone, Style::default())
    }

    fn time(text: &str) -> Result<i64, DatetimeError> {
        super::time(text, Style::default())
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
        assert_eq!(date("2024-02-30"), Err(DatetimeError::Range));
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
        assert_eq!(timestamp("infinity", false), Err(DatetimeError::Infinite));
    }

    #[test]
    fn the_style_has_an_order_and_a_zone() {
        let style = Style { date: DateOrder::Dmy, ..Style::default() };
        assert_eq!(super::date("29/2/2024", style), Ok(19_782));
        let style = Style { date: DateOrder::Ymd, ..Style::default() };
        assert_eq!(super::date("24/2/29", style), Ok(19_782));
        let style = Style { zone: Zone::Offset(3600), ..Style::default() };
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
        assert_eq!(time("24:00:01"), Err(DatetimeError::Range));
        assert_eq!(time("10:60"), Err(DatetimeError::Range));
        assert_eq!(time("x"), Err(DatetimeError::Syntax));
    }
}
