//! Numbers as fields of a date or time: by what is known already, and several in one.

use super::decode::{Fields, field};
use crate::digits::{integer, micros};
use crate::words::{Word, of_date};
use crate::{DateOrder, DatetimeError};

impl Fields {
    /// The fields of a date between delimiters.
    pub(super) fn delimited(&mut self, text: &str) -> Result<u32, DatetimeError> {
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
    pub(super) fn single(
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
    pub(super) fn run_together(&mut self, text: &str, seen: u32) -> Result<u32, DatetimeError> {
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
}
