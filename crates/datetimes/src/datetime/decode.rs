//! The fields of a date or time, decoded token by token.

use super::offset::{named, offset};
use super::{MICROS_PER_DAY, Reading};
use crate::DatetimeError;
use crate::calendar::civil;
use crate::clock::Clock;
use crate::digits::{fraction, integer, micros};
use crate::tokens::{Kind, Token, tokens};
use crate::words::{Label, Special, Word, of_date};
use crate::zone::Zone;

/// The Julian day of 1970-01-01.
const JULIAN_1970: i64 = 2_440_588;

/// Which fields a text has given, as bits.
pub(super) mod field {
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
pub(super) enum Moment {
    Epoch,
    /// Whether it is positive.
    Infinity(bool),
    /// Microseconds since 1970.
    Now(i64),
}

/// Microseconds since 1970.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.ok().and_then(|since| i64::try_from(since.as_micros()).ok()).unwrap_or(0)
}

/// The fields of a date or time, as far as the text has given them.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) reading: Reading,
    /// Whether it is a time of day alone.
    pub(super) is_time: bool,
    /// The bits of the fields that are known.
    pub(super) seen: u32,
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) day_of_year: i64,
    pub(super) clock: Clock,
    pub(super) has_month_name: bool,
    /// Whether the date comes from a Julian day, whose year 0 is 1 BC.
    pub(super) is_julian: bool,
    /// Whether the year has two digits, and is one of this or the last century unless it is before Christ.
    pub(super) is_short_year: bool,
    pub(super) is_before_christ: bool,
    pub(super) is_afternoon: Option<bool>,
    pub(super) zone: Option<Zone>,
    pub(super) moment: Option<Moment>,
    /// The label of the next number.
    pub(super) label: Option<Label>,
}

pub(super) fn parse(text: &str, reading: Reading, is_time: bool) -> Result<Fields, DatetimeError> {
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
    pub(super) fn has(&self, fields: u32) -> bool {
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
}
