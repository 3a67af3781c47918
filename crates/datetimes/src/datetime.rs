//! `date`, `time` and `timestamp` from text: `2024-02-29 +00`, `Jan 5 2024`, `0044-03-15 BC`, `24:00`, `epoch`,
//! `20240229T101500Z`, `J2451187`.
//!
//! The text is cut into tokens, and each is decoded by what the ones before it have given. A [`Reading`] says in
//! which order fields like `1/5/2024` are, and in which zone a time without one is.

use crate::calendar::{civil, days_of};
use crate::clock::{Clock, MICROS_PER_SECOND};
use crate::digits::{fraction, integer, micros};
use crate::moments;
use crate::tokens::{Kind, Token, tokens};
use crate::words::{Label, Special, Word, of_date};
use crate::zone::Zone;
use crate::{DateOrder, DatetimeError};

/// Microseconds per day.
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
/// The Julian day of 1970-01-01.
const JULIAN_1970: i64 = 2_440_588;
/// The most hours of an offset from UTC.
const OFFSET_HOURS_MAX: i64 = 15;

/// How a session reads texts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// The order of fields like `1/5/2024`.
    pub order: DateOrder,
    /// The zone of a time without one.
    pub zone: Zone,
}

/// Which fields a text has given, as bits.
mod field {
    pub(crate) const YEAR: u32 = 1;
    pub(crate) const MONTH: u32 = 1 << 1;
    pub(crate) const DAY: u32 = 1 << 2;
    pub(crate) const DATE: u32 = YEAR | MONTH | DAY;
    pub(crate) const HOUR: u32 = 1 << 3;
    pub(crate) const MINUTE: u32 = 1 << 4;
    pub(crate) const SECOND: u32 = 1 << 5;
    pub(crate) const FRACTION: u32 = 1 << 6;
    pub(crate) const TIME: u32 = HOUR | MINUTE | SECOND | FRACTION;
    pub(crate) const ZONE: u32 = 1 << 7;
    pub(crate) const DAYLIGHT: u32 = 1 << 8;
    pub(crate) const DAY_OF_YEAR: u32 = 1 << 9;
    pub(crate) const WEEKDAY: u32 = 1 << 10;
    pub(crate) const ERA: u32 = 1 << 11;
    pub(crate) const AFTERNOON: u32 = 1 << 12;
    pub(crate) const SPECIAL: u32 = 1 << 13;
}

/// A moment without fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Epoch,
    /// Whether it is positive.
    Infinity(bool),
    /// Microseconds since 1970.
    Now(i64),
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
    let local = fields.days()?.checked_mul(MICROS_PER_DAY);
    let local = local.and_then(|midnight| midnight.checked_add(fields.time()));
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

/// Microseconds since 1970.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.ok().and_then(|since| i64::try_from(since.as_micros()).ok()).unwrap_or(0)
}

/// The fields of a date or time, as far as the text has given them.
#[derive(Debug, Default)]
struct Fields {
    reading: Reading,
    /// Whether it is a time of day alone.
    is_time: bool,
    /// The bits of the fields that are known.
    seen: u32,
    year: i64,
    month: i64,
    day: i64,
    day_of_year: i64,
    clock: Clock,
    has_month_name: bool,
    /// Whether the date comes from a Julian day, whose year 0 is 1 BC.
    is_julian: bool,
    /// Whether the year has two digits, and is one of this or the last century unless it is before Christ.
    is_short_year: bool,
    is_before_christ: bool,
    is_afternoon: Option<bool>,
    zone: Option<Zone>,
    moment: Option<Moment>,
    /// The label of the next number.
    label: Option<Label>,
}

fn parse(text: &str, reading: Reading, is_time: bool) -> Result<Fields, DatetimeError> {
    let tokens = tokens(text).ok_or(DatetimeError::Syntax)?;
    let mut fields = Fields { reading, is_time, ..Fields::default() };
    for index in 0..tokens.len() {
        let given = fields.token(&tokens, index)?;
        if given & fields.seen != 0 {
            return Err(DatetimeError::Syntax);
        }
        fields.seen |= given;
    }
    if fields.is_time || !matches!(fields.moment, Some(Moment::Epoch | Moment::Infinity(_))) {
        fields.finish()?;
    }
    Ok(fields)
}

impl Fields {
    /// Whether all of some fields are known.
    fn has(&self, fields: u32) -> bool {
        self.seen & fields == fields
    }

    /// The fields that numbers see as known: a time of day has no date, except in front.
    fn seen_by_numbers(&self) -> u32 {
        self.seen | if self.is_time { field::DATE } else { 0 }
    }

    /// Decodes a token. Returns the fields that it gives.
    fn token(&mut self, tokens: &[Token], index: usize) -> Result<u32, DatetimeError> {
        let Token { kind, text } = &tokens[index];
        match kind {
            Kind::Date if self.is_time => self.date_of_time(tokens, index),
            Kind::Date => self.date(text),
            Kind::Time => {
                match self.label.take() {
                    None | Some(Label::Time) => {}
                    Some(_) if self.is_time => {}
                    Some(_) => return Err(DatetimeError::Syntax),
                }
                self.clock = Clock::parse(text, false)?;
                if self.clock.is_over() && !self.is_time {
                    return Err(DatetimeError::Field);
                }
                Ok(field::TIME)
            }
            Kind::Signed => {
                self.zone = Some(offset(text)?);
                Ok(field::ZONE)
            }
            Kind::Number => match self.label.take() {
                Some(label) => self.labelled(label, text),
                None if self.is_time => self.number_of_time(tokens, index),
                None => self.number(text),
            },
            Kind::Word | Kind::SignedWord => self.word(tokens, index),
        }
    }

    /// A date; behind one, a time with a zone, or the name of a zone.
    fn date(&mut self, text: &str) -> Result<u32, DatetimeError> {
        let label = self.label.take();
        if label == Some(Label::Julian) {
            let (days, zone) = integer(text)?;
            self.julian(days)?;
            self.zone = Some(offset(zone)?);
            return Ok(field::DATE | field::TIME | field::ZONE);
        }
        if label.is_none() && !self.has(field::MONTH | field::DAY) {
            return self.delimited(text);
        }
        if label.is_none() && !text.starts_with(|c: char| c.is_ascii_digit()) {
            self.zone = Some(named(text)?);
            return Ok(field::ZONE);
        }
        if label.is_some_and(|label| label != Label::Time) || self.has(field::TIME) {
            return Err(DatetimeError::Syntax);
        }
        self.time_and_offset(text)
    }

    /// `101112-08`
    fn time_and_offset(&mut self, text: &str) -> Result<u32, DatetimeError> {
        let dash = text.find('-').ok_or(DatetimeError::Syntax)?;
        self.zone = Some(offset(&text[dash..])?);
        Ok(self.run_together(&text[..dash], self.seen_by_numbers())? | field::ZONE)
    }

    /// A token that looks like a date, in a time of day: a date in front, a time with a zone, or the name of a zone.
    fn date_of_time(&mut self, tokens: &[Token], index: usize) -> Result<u32, DatetimeError> {
        let text = &tokens[index].text;
        if index == 0
            && tokens.len() >= 2
            && (tokens[tokens.len() - 1].kind == Kind::Date || tokens[1].kind == Kind::Time)
        {
            return self.delimited(text);
        }
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            if self.has(field::TIME) {
                return Err(DatetimeError::Syntax);
            }
            // The `t` before it has said what it is.
            self.label = None;
            return self.time_and_offset(text);
        }
        self.zone = Some(named(text)?);
        Ok(field::ZONE)
    }

    fn number(&mut self, text: &str) -> Result<u32, DatetimeError> {
        let point = text.find('.');
        if point.is_some() && self.seen & field::DATE == 0 {
            return self.delimited(text);
        }
        let is_new = self.seen & field::DATE == 0 || self.seen & field::TIME == 0;
        let is_long = text.len() >= 6 && is_new;
        if point.is_some_and(|point| point > 2) || is_long && point.is_none() {
            return self.run_together(text, self.seen);
        }
        self.single(text, self.has_month_name, self.seen)
    }

    fn number_of_time(&mut self, tokens: &[Token], index: usize) -> Result<u32, DatetimeError> {
        let text = &tokens[index].text;
        let last = tokens.len() - 1;
        match text.find('.') {
            Some(_) if index == 0 && last > 0 && tokens[last].kind == Kind::Date => {
                self.delimited(text)
            }
            Some(point) if point > 2 => self.run_together(text, self.seen_by_numbers()),
            Some(_) => Err(DatetimeError::Syntax),
            None if text.len() > 4 => self.run_together(text, self.seen_by_numbers()),
            None => self.single(text, false, self.seen_by_numbers()),
        }
    }

    /// A number behind its label, as in `y2001m02d04`.
    fn labelled(&mut self, label: Label, text: &str) -> Result<u32, DatetimeError> {
        let (value, rest) = integer(text)?;
        let has_fraction = rest.starts_with('.');
        let takes_fraction = matches!(label, Label::Julian | Label::Time | Label::Second);
        if has_fraction && !takes_fraction || !has_fraction && !rest.is_empty() {
            return Err(DatetimeError::Syntax);
        }
        if !self.is_time {
            self.moment = None;
        }
        let (of, bit) = match label {
            Label::Year => (&mut self.year, field::YEAR),
            // The same letter is that of minutes, behind hours.
            Label::Month if self.seen & field::MONTH != 0 && self.seen & field::HOUR != 0 => {
                (&mut self.clock.minute, field::MINUTE)
            }
            Label::Month => (&mut self.month, field::MONTH),
            Label::Day => (&mut self.day, field::DAY),
            Label::Hour => (&mut self.clock.hour, field::HOUR),
            Label::Minute => (&mut self.clock.minute, field::MINUTE),
            Label::Second => {
                self.clock.second = value;
                if !has_fraction {
                    return Ok(field::SECOND);
                }
                self.clock.micros = micros(rest)?;
                return Ok(field::SECOND | field::FRACTION);
            }
            Label::Julian => {
                self.julian(value)?;
                if !has_fraction {
                    return Ok(field::DATE);
                }
                let time = (fraction(rest)? * MICROS_PER_DAY as f64) as i64;
                self.clock = Clock::of_micros(time);
                return Ok(field::DATE | field::TIME);
            }
            Label::Time => {
                let given = self.run_together(text, self.seen | field::DATE)?;
                return if given == field::TIME { Ok(given) } else { Err(DatetimeError::Syntax) };
            }
            Label::Other => return Err(DatetimeError::Syntax),
        };
        *of = value;
        Ok(bit)
    }

    fn julian(&mut self, days: i64) -> Result<(), DatetimeError> {
        if days < 0 {
            return Err(DatetimeError::Field);
        }
        self.is_julian = true;
        (self.year, self.month, self.day) = civil(days - JULIAN_1970);
        Ok(())
    }

    fn word(&mut self, tokens: &[Token], index: usize) -> Result<u32, DatetimeError> {
        let text = &tokens[index].text;
        if let Some(zone) = Zone::abbreviated(text) {
            // A time of day has no use for it.
            self.zone = Some(if self.is_time { Zone::UTC } else { zone });
            return Ok(field::ZONE);
        }
        match of_date(text) {
            Some(Word::Ignored) => Ok(0),
            Some(Word::Special(special)) => self.special(special),
            Some(Word::Daylight) => {
                if let Some(Zone::Offset(seconds)) = self.zone {
                    self.zone = Some(Zone::Offset(seconds + 3600));
                }
                Ok(field::DAYLIGHT)
            }
            Some(Word::Afternoon(is_afternoon)) => {
                self.is_afternoon = Some(is_afternoon);
                Ok(field::AFTERNOON)
            }
            Some(Word::Era(is_before_christ)) => {
                self.is_before_christ = is_before_christ;
                Ok(field::ERA)
            }
            Some(Word::Label(label)) => {
                self.label = Some(label);
                Ok(0)
            }
            Some(Word::OfTime) => {
                let has_time = tokens
                    .get(index + 1)
                    .is_some_and(|t| matches!(t.kind, Kind::Number | Kind::Time | Kind::Date));
                if !has_time || !self.is_time && !self.has(field::DATE) {
                    return Err(DatetimeError::Syntax);
                }
                self.label = Some(Label::Time);
                Ok(0)
            }
            Some(Word::Month(month)) if !self.is_time => {
                let was = self.month;
                let is_day = self.seen & field::MONTH != 0
                    && !self.has_month_name
                    && self.seen & field::DAY == 0
                    && (1..=31).contains(&was);
                if is_day {
                    self.day = was;
                }
                (self.has_month_name, self.month) = (true, month);
                Ok(if is_day { field::DAY } else { field::MONTH })
            }
            Some(Word::Weekday) if !self.is_time => Ok(field::WEEKDAY),
            Some(_) => Err(DatetimeError::Syntax),
            None => {
                self.zone = Some(Zone::full(text).ok_or(DatetimeError::Syntax)?);
                Ok(field::ZONE)
            }
        }
    }

    fn special(&mut self, special: Special) -> Result<u32, DatetimeError> {
        match special {
            Special::Now => {
                self.moment = Some(Moment::Now(now()));
                Ok(if self.is_time { field::TIME } else { field::DATE | field::TIME | field::ZONE })
            }
            Special::AllBalls => {
                if !self.is_time {
                    self.moment = None;
                }
                self.clock = Clock::default();
                self.zone = Some(Zone::UTC);
                Ok(field::TIME | field::ZONE)
            }
            _ if self.is_time => Err(DatetimeError::Syntax),
            Special::Day(days) => {
                self.moment = None;
                let local = self.reading.zone.local(now()).unwrap_or_default();
                (self.year, self.month, self.day) = civil(local.div_euclid(MICROS_PER_DAY) + days);
                Ok(field::DATE)
            }
            Special::Epoch => {
                self.moment = Some(Moment::Epoch);
                Ok(field::SPECIAL)
            }
            Special::Infinity(is_positive) => {
                self.moment = Some(Moment::Infinity(is_positive));
                Ok(field::SPECIAL)
            }
        }
    }

    /// The fields of a date between delimiters.
    fn delimited(&mut self, text: &str) -> Result<u32, DatetimeError> {
        let mut numbers = Vec::new();
        let (mut given, mut has_month_name) = (0, false);
        let mut rest = text;
        while !rest.is_empty() {
            rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
            let is_part: fn(char) -> bool = match rest.chars().next() {
                None => return Err(DatetimeError::Syntax),
                Some(first) if first.is_ascii_digit() => |c| c.is_ascii_digit(),
                Some(_) => |c| c.is_ascii_alphabetic(),
            };
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            // One delimiter, whatever it is, goes with the field.
            rest = after.get(1..).unwrap_or_default();
            if part.starts_with(|c: char| c.is_ascii_digit()) {
                numbers.push(part);
                continue;
            }
            match of_date(part) {
                Some(Word::Ignored) => {}
                Some(Word::Month(month)) if (self.seen | given) & field::MONTH == 0 => {
                    (self.month, has_month_name) = (month, true);
                    given |= field::MONTH;
                }
                _ => return Err(DatetimeError::Syntax),
            }
        }
        for number in numbers {
            let known = self.seen | given;
            let more = self.single(number, has_month_name, known)?;
            if known & more != 0 {
                return Err(DatetimeError::Syntax);
            }
            given |= more;
        }
        let known = (self.seen | given) & !(field::DAY_OF_YEAR | field::ZONE);
        if known == field::DATE { Ok(given) } else { Err(DatetimeError::Syntax) }
    }

    /// A number that is one field, by what is known already. Behind a date it is a time.
    fn single(
        &mut self,
        text: &str,
        has_month_name: bool,
        seen: u32,
    ) -> Result<u32, DatetimeError> {
        let (value, rest) = integer(text)?;
        if rest.len() == text.len() || !rest.is_empty() && !rest.starts_with('.') {
            return Err(DatetimeError::Syntax);
        }
        if rest.starts_with('.') {
            if text.len() - rest.len() > 2 {
                return self.run_together(text, seen | field::DATE);
            }
            self.clock.micros = micros(rest)?;
        }
        let known = seen & field::DATE;
        if text.len() == 3 && known == field::YEAR && (1..=366).contains(&value) {
            self.day_of_year = value;
            return Ok(field::DAY_OF_YEAR | field::MONTH | field::DAY);
        }
        const YEAR_AND_MONTH: u32 = field::YEAR | field::MONTH;
        const MONTH_AND_DAY: u32 = field::MONTH | field::DAY;
        let is_year = text.len() >= 3 || self.reading.order == DateOrder::Ymd;
        let given = match known {
            0 if is_year => field::YEAR,
            0 if self.reading.order == DateOrder::Dmy => field::DAY,
            0 | field::YEAR | field::DAY => field::MONTH,
            field::MONTH if has_month_name && is_year => field::YEAR,
            field::MONTH => field::DAY,
            YEAR_AND_MONTH if has_month_name && text.len() >= 3 && self.is_short_year => {
                // What was taken for the year is the day.
                (self.day, self.year, self.is_short_year) = (self.year, value, false);
                return Ok(field::DAY);
            }
            YEAR_AND_MONTH => field::DAY,
            MONTH_AND_DAY => field::YEAR,
            field::DATE => return self.run_together(text, seen),
            _ => return Err(DatetimeError::Syntax),
        };
        match given {
            field::YEAR => (self.year, self.is_short_year) = (value, text.len() <= 2),
            field::MONTH => self.month = value,
            _ => self.day = value,
        }
        Ok(given)
    }

    /// Digits of several fields: `20240229`, `240229`, `101112.5`, `1011`.
    fn run_together(&mut self, text: &str, seen: u32) -> Result<u32, DatetimeError> {
        let point = text.find('.');
        let digits = &text[..point.unwrap_or(text.len())];
        if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(DatetimeError::Syntax);
        }
        let number = |digits: &str| integer(digits).map(|(number, _)| number);
        if let Some(point) = point {
            self.clock.micros = micros(&text[point..])?;
        } else if seen & field::DATE != field::DATE && digits.len() >= 6 {
            let (rest, day) = digits.split_at(digits.len() - 2);
            let (year, month) = rest.split_at(rest.len() - 2);
            (self.year, self.month, self.day) = (number(year)?, number(month)?, number(day)?);
            self.is_short_year |= year.len() == 2;
            return Ok(field::DATE);
        }
        if seen & field::TIME == field::TIME || !matches!(digits.len(), 4 | 6) {
            return Err(DatetimeError::Syntax);
        }
        self.clock.hour = number(&digits[..2])?;
        self.clock.minute = number(&digits[2..4])?;
        self.clock.second = if digits.len() == 6 { number(&digits[4..])? } else { 0 };
        Ok(field::TIME)
    }

    /// Checks and completes what all tokens have given.
    fn finish(&mut self) -> Result<(), DatetimeError> {
        let is_now = matches!(self.moment, Some(Moment::Now(_)));
        if !is_now {
            self.check_date()?;
        }
        match (self.is_afternoon, self.clock.hour) {
            (Some(_), 13..) => return Err(DatetimeError::Field),
            (Some(false), 12) => self.clock.hour = 0,
            (Some(true), hour) if hour != 12 => self.clock.hour = hour + 12,
            _ => {}
        }
        if self.is_time && self.clock.is_over() {
            return Err(DatetimeError::Field);
        }
        let needed = if self.is_time { field::TIME } else { field::DATE };
        // A label in front of the seconds gives no fraction.
        let known = self.seen | if self.has(field::SECOND) { field::FRACTION } else { 0 };
        if known & needed != needed {
            return Err(DatetimeError::Syntax);
        }
        if self.has(field::DAYLIGHT) && !matches!(self.zone, Some(Zone::Offset(_))) {
            return Err(DatetimeError::Syntax);
        }
        // The offset of a zone with rules depends on the day.
        if self.is_time && matches!(self.zone, Some(Zone::Named(_))) && !self.has(field::DATE) {
            return Err(DatetimeError::Syntax);
        }
        Ok(())
    }

    fn check_date(&mut self) -> Result<(), DatetimeError> {
        if self.has(field::YEAR) && !self.is_julian {
            let is_short = self.is_short_year && !self.is_before_christ;
            self.year = match self.year {
                year @ 0..70 if is_short => 2000 + year,
                year @ 70..100 if is_short => 1900 + year,
                year if year < 1 => return Err(DatetimeError::Field),
                year if self.is_before_christ => 1 - year,
                year => year,
            };
        }
        if self.has(field::DAY_OF_YEAR) {
            let first = days_of(self.year, 1, 1).ok_or(DatetimeError::Field)?;
            (self.year, self.month, self.day) = civil(first + self.day_of_year - 1);
        }
        if self.has(field::MONTH) && !(1..=12).contains(&self.month)
            || self.has(field::DAY) && !(1..=31).contains(&self.day)
            || self.has(field::DATE) && days_of(self.year, self.month, self.day).is_none()
        {
            return Err(DatetimeError::Field);
        }
        Ok(())
    }

    fn days(&self) -> Result<i64, DatetimeError> {
        days_of(self.year, self.month, self.day).ok_or(DatetimeError::Field)
    }

    /// Microseconds since midnight.
    fn time(&self) -> i64 {
        // The fields are of 32 bits.
        self.clock.micros().unwrap_or_default()
    }

    fn zone_or_session(&self) -> Zone {
        self.zone.unwrap_or(self.reading.zone)
    }
}

/// A zone by its name in the database, or in POSIX notation.
fn named(name: &str) -> Result<Zone, DatetimeError> {
    Zone::full(name).ok_or_else(|| DatetimeError::Zone(name.to_owned()))
}

/// `+02`, `-0530`, `+02:00`, `+02:00:30`.
fn offset(text: &str) -> Result<Zone, DatetimeError> {
    let is_west = match text.as_bytes().first() {
        Some(b'+') => false,
        Some(b'-') => true,
        _ => return Err(DatetimeError::Syntax),
    };
    let number = |text| integer(text).map_err(|_| DatetimeError::Displacement);
    let (mut hours, mut rest) = number(&text[1..])?;
    let (mut minutes, mut seconds) = (0, 0);
    if let Some(after) = rest.strip_prefix(':') {
        (minutes, rest) = number(after)?;
        if let Some(after) = rest.strip_prefix(':') {
            (seconds, rest) = number(after)?;
        }
    } else if rest.is_empty() && text.len() > 3 {
        (hours, minutes) = (hours / 100, hours % 100);
    }
    let is_offset = (0..=OFFSET_HOURS_MAX).contains(&hours)
        && (0..60).contains(&minutes)
        && (0..60).contains(&seconds);
    if !is_offset {
        return Err(DatetimeError::Displacement);
    }
    if !rest.is_empty() {
        return Err(DatetimeError::Syntax);
    }
    let seconds = i32::try_from((hours * 60 + minutes) * 60 + seconds);
    let seconds = seconds.map_err(|_| DatetimeError::Displacement)?;
    Ok(Zone::Offset(if is_west { -seconds } else { seconds }))
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
