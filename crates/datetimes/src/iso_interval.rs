//! Intervals in the forms of ISO 8601: with letters as in `P1Y2M3DT4H5M6S`, and like a date and a time as in
//! `P0001-02-03T04:05:06` and `P00010203T040506`.

use crate::DatetimeError;
use crate::interval_parts::Parts;
use crate::words::Unit;

/// The largest size of a number.
const NUMBER_MAX: f64 = 1.0e15;

/// Parses an interval.
///
/// # Errors
/// The text has another form, or a number is out of range.
pub(crate) fn parse(text: &str) -> Result<Parts, DatetimeError> {
    let mut reader = Reader {
        rest: text.strip_prefix('P').ok_or(DatetimeError::Syntax)?,
        parts: Parts::default(),
    };
    if reader.rest.is_empty() {
        return Err(DatetimeError::Syntax);
    }
    let mut in_time = false;
    let mut has_field = false;
    while !reader.rest.is_empty() {
        if reader.take('T') {
            (in_time, has_field) = (true, false);
            continue;
        }
        let start = reader.rest;
        let number = reader.number()?;
        let letter = reader.rest.chars().next();
        let unit = match (in_time, letter) {
            (false, Some('Y')) => Unit::Year,
            (false, Some('M')) => Unit::Month,
            (false, Some('W')) => Unit::Week,
            (false, Some('D')) => Unit::Day,
            (true, Some('H')) => Unit::Hour,
            (true, Some('M')) => Unit::Minute,
            (true, Some('S')) => Unit::Second,
            (false, None | Some('T' | '-')) if !has_field => {
                let is_packed = letter != Some('-') && width(start) == 8;
                reader.date(number, is_packed)?;
                continue;
            }
            (true, None | Some(':')) if !has_field => {
                let is_packed = letter.is_none() && width(start) == 6;
                reader.time(number, is_packed)?;
                return Ok(reader.parts);
            }
            _ => return Err(DatetimeError::Syntax),
        };
        reader.rest = &reader.rest[1..];
        reader.add(number, unit)?;
        has_field = true;
    }
    Ok(reader.parts)
}

/// The digits before anything else.
fn width(text: &str) -> usize {
    let text = text.strip_prefix('-').unwrap_or(text);
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// A number and its fraction, of the same sign.
type Number = (i64, f64);

struct Reader<'a> {
    rest: &'a str,
    parts: Parts,
}

impl Reader<'_> {
    fn take(&mut self, letter: char) -> bool {
        let rest = self.rest.strip_prefix(letter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn add(&mut self, (whole, part): Number, unit: Unit) -> Result<(), DatetimeError> {
        self.parts.add(whole, part, unit)
    }

    /// The rest of `0001-02-03`, or all of `00010203`, up to the end or a `T`.
    fn date(&mut self, number: Number, is_packed: bool) -> Result<(), DatetimeError> {
        let (whole, part) = number;
        if is_packed {
            self.add((whole / 10_000, 0.0), Unit::Year)?;
            self.add((whole / 100 % 100, 0.0), Unit::Month)?;
            return self.add((whole % 100, part), Unit::Day);
        }
        self.add(number, Unit::Year)?;
        for unit in [Unit::Month, Unit::Day] {
            if !self.take('-') {
                break;
            }
            let number = self.number()?;
            self.add(number, unit)?;
        }
        if self.rest.is_empty() || self.rest.starts_with('T') {
            return Ok(());
        }
        Err(DatetimeError::Syntax)
    }

    /// The rest of `04:05:06`, or all of `040506`, up to the end.
    fn time(&mut self, number: Number, is_packed: bool) -> Result<(), DatetimeError> {
        let (whole, part) = number;
        if is_packed {
            self.add((whole / 10_000, 0.0), Unit::Hour)?;
            self.add((whole / 100 % 100, 0.0), Unit::Minute)?;
            self.add((whole % 100, 0.0), Unit::Second)?;
            return self.parts.add_part(part, 1).ok_or(DatetimeError::Field);
        }
        self.add(number, Unit::Hour)?;
        for unit in [Unit::Minute, Unit::Second] {
            if !self.take(':') {
                break;
            }
            let number = self.number()?;
            self.add(number, unit)?;
        }
        if self.rest.is_empty() { Ok(()) } else { Err(DatetimeError::Syntax) }
    }

    /// A floating-point number, cut into its whole part and its fraction.
    fn number(&mut self) -> Result<Number, DatetimeError> {
        let length = float_length(self.rest).ok_or(DatetimeError::Syntax)?;
        let (number, rest) = self.rest.split_at(length);
        let number: f64 = number.parse().map_err(|_| DatetimeError::Syntax)?;
        if !(-NUMBER_MAX..=NUMBER_MAX).contains(&number) {
            return Err(DatetimeError::Field);
        }
        self.rest = rest;
        Ok((number.trunc() as i64, number - number.trunc()))
    }
}

/// The length of a floating-point number at the beginning of a text; `None` if there is none.
fn float_length(text: &str) -> Option<usize> {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = usize::from(text.starts_with('-'));
    let whole = digits(end);
    end += whole;
    let mut has_digits = whole > 0;
    if text[end..].starts_with('.') {
        let after = digits(end + 1);
        if !has_digits && after == 0 {
            return None;
        }
        end += 1 + after;
        has_digits |= after > 0;
    }
    if !has_digits {
        return None;
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    Some(end)
}
