//! Numbers as text: digits, blanks, signs and points, one field of the pattern after the other.

use super::number_pattern::{Anchor, Digit, Pattern};
use super::numerals::{Number, Numeral};
use super::pattern::{Letters, Part, ordinal};
use values::error::{Error, Result, SqlState};

/// Columns of a Roman numeral.
const ROMAN_WIDTH: usize = 15;

/// A number by a pattern.
///
/// # Errors
/// 22003: the number is out of range.
pub(super) fn write(pattern: &Pattern, number: Number) -> Result<String> {
    let numeral = number.numeral(pattern)?;
    if pattern.is_scientific {
        return Ok(numeral.digits);
    }
    let mut writer = Writer::new(pattern, &numeral);
    for (part, character) in &pattern.parts {
        if writer.is_cut {
            break;
        }
        match part {
            Part::Field(digit, _) => writer.field(*digit)?,
            _ => writer.out.extend(character),
        }
    }
    Ok(writer.out)
}

/// What has been written, and what stands next.
struct Writer<'a> {
    pattern: &'a Pattern,
    number: &'a [u8],
    is_negative: bool,
    blanks: usize,
    has_brackets: bool,
    anchor: Option<Anchor>,
    /// The next digit of the number.
    at: usize,
    /// The next digit of the pattern.
    position: usize,
    /// Digits behind the point.
    after: usize,
    /// The last digit of the pattern; -1 if it has none.
    last: i64,
    /// With `FM`, the last digit behind the point that is not cut off, or the point.
    last_relevant: Option<usize>,
    is_sign_written: bool,
    /// Whether a digit of the number stands before.
    is_in_number: bool,
    /// PostgreSQL writes a zero byte for a digit behind the number's end, and its text ends there.
    is_cut: bool,
    out: String,
}

impl<'a> Writer<'a> {
    fn new(pattern: &'a Pattern, numeral: &'a Numeral) -> Self {
        let number = numeral.digits.as_bytes();
        let (is_negative, blanks) = (numeral.is_negative, numeral.blanks);
        let has_own_sign = pattern.has_plus || pattern.has_minus;
        let is_sign_written = if has_own_sign {
            pattern.has_minus
        } else {
            !is_negative && pattern.fills && pattern.anchor.is_none()
        };
        let ends_with_sign = pattern.anchor == Some(Anchor::Before)
            && numeral.before == pattern.before_anchor
            && !has_own_sign;
        let last_relevant = if pattern.fills && pattern.has_point {
            last_relevant(number, pattern.zeros_to.checked_sub(blanks).filter(|zeros| *zeros > 0))
        } else {
            None
        };
        let digits = (numeral.after + numeral.before) as i64;
        Self {
            pattern,
            number,
            is_negative,
            blanks,
            has_brackets: pattern.has_brackets && (is_negative || !pattern.fills),
            anchor: if ends_with_sign { Some(Anchor::After) } else { pattern.anchor },
            at: 0,
            position: 0,
            after: numeral.after,
            last: digits - 1 + i64::from(!is_sign_written && blanks == 0),
            last_relevant,
            is_sign_written,
            is_in_number: false,
            is_cut: false,
            out: String::new(),
        }
    }

    fn field(&mut self, digit: Digit) -> Result<()> {
        let is_roman = self.pattern.is_roman;
        let fills = self.pattern.fills;
        let blank = if fills { "" } else { " " };
        match digit {
            Digit::Nine | Digit::Zero | Digit::Point => self.digit(digit),
            Digit::Comma | Digit::Group => {
                self.out.push_str(if self.is_in_number { "," } else { blank });
            }
            Digit::Currency => self.out.push(' '),
            Digit::Roman(letters) => {
                let numeral = String::from_utf8_lossy(self.number);
                let numeral = match letters {
                    Letters::Lower => numeral.to_lowercase(),
                    _ => numeral.into_owned(),
                };
                let width = if fills { 0 } else { ROMAN_WIDTH };
                self.out.push_str(&format!("{numeral:>width$}"));
            }
            Digit::Ordinal(letters) => self.ordinal(letters)?,
            Digit::Minus => self.out.push_str(if self.is_negative { "-" } else { blank }),
            Digit::Plus if is_roman || self.is_negative => self.out.push_str(blank),
            Digit::Plus => self.out.push('+'),
            // Roman numerals have no sign, whose place is the text's end.
            Digit::Sign if is_roman => self.is_cut = true,
            Digit::Sign => self.out.push(if self.is_negative { '-' } else { '+' }),
            Digit::Whole(_) => (),
        }
        Ok(())
    }

    fn ordinal(&mut self, letters: Letters) -> Result<()> {
        let pattern = self.pattern;
        let has_none = pattern.is_roman || self.number.starts_with(b"#") || self.is_negative;
        if has_none || pattern.has_point {
            return Ok(());
        }
        let number = String::from_utf8_lossy(self.number);
        if !number.ends_with(|last: char| last.is_ascii_digit()) {
            let message = format!("\"{number}\" is not a number");
            return Err(Error::new(SqlState::InvalidTextRepresentation, message));
        }
        self.out.push_str(ordinal(&number, letters));
        Ok(())
    }

    fn is_relevant_point(&self) -> bool {
        self.last_relevant.is_some_and(|last| self.number[last] == b'.')
    }

    /// Whether the zero before the point is left out.
    fn is_zero_before_point(&self) -> bool {
        let is_zero = self.at == 0 && self.number.first() == Some(&b'0');
        self.pattern.zeros_from.is_none() && is_zero && self.after != 0
    }

    fn digit(&mut self, digit: Digit) {
        if self.pattern.is_roman {
            return;
        }
        self.is_in_number = false;
        self.sign_before();
        let is_before_number = self.position < self.blanks;
        let is_zero = self.pattern.zeros_from.is_some_and(|from| from <= self.position);
        match (is_before_number, is_zero) {
            (true, false) if self.pattern.fills => (),
            (true, false) => self.out.push(' '),
            (true, true) => {
                self.out.push('0');
                self.is_in_number = true;
            }
            (false, _) => self.number_digit(digit),
        }
        self.sign_after();
        self.position += 1;
    }

    /// Writes the next character of the number, or what stands for it.
    fn number_digit(&mut self, digit: Digit) {
        let fills = self.pattern.fills;
        let next = self.number.get(self.at).copied();
        if next == Some(b'.') {
            if !self.is_relevant_point() || fills {
                self.out.push('.');
            }
        } else if self.last_relevant.is_some_and(|last| self.at > last) && digit != Digit::Zero {
            // Cut off.
        } else if self.is_zero_before_point() {
            if !fills {
                self.out.push(' ');
            } else if self.is_relevant_point() {
                self.out.push('0');
            }
        } else if let Some(next) = next {
            self.out.push(char::from(next));
            self.is_in_number = true;
        } else {
            self.is_cut = true;
        }
        self.at += usize::from(next.is_some());
    }

    /// Writes the sign where the number begins.
    fn sign_before(&mut self) {
        let begins = self.position >= self.blanks || self.pattern.zeros_from == Some(self.position);
        let waits = self.is_zero_before_point() && !self.is_relevant_point();
        if self.is_sign_written || !begins || waits {
            return;
        }
        match self.anchor {
            Some(Anchor::Before) => self.out.push(if self.is_negative { '-' } else { '+' }),
            Some(Anchor::After) => return,
            None if self.has_brackets => self.out.push(if self.is_negative { '<' } else { ' ' }),
            None if self.is_negative => self.out.push('-'),
            None if self.pattern.fills => (),
            None => self.out.push(' '),
        }
        self.is_sign_written = true;
    }

    /// Writes what of the sign stands behind the last digit.
    fn sign_after(&mut self) {
        let point = i64::from(self.pattern.has_point);
        let end = self.last + i64::from(self.blanks > 0) + point;
        // Where digits are cut off there is no sign behind them.
        if self.last_relevant == Some(self.at) || self.position as i64 + 1 != end {
            return;
        }
        if self.is_sign_written && self.has_brackets {
            self.out.push(if self.is_negative { '>' } else { ' ' });
        } else if self.anchor == Some(Anchor::After) {
            self.out.push(if self.is_negative { '-' } else { '+' });
        }
    }
}

/// The last digit that is not zero behind the point, or the point. `zeros` are digits that are kept.
fn last_relevant(number: &[u8], zeros: Option<usize>) -> Option<usize> {
    let point = number.iter().position(|byte| *byte == b'.')?;
    let last = number.iter().rposition(|byte| *byte != b'0').unwrap_or(point).max(point);
    Some(zeros.map_or(last, |zeros| last.max(zeros.min(number.len() - 1))))
}
