//! Text as a number by a pattern.

use super::number_pattern::{Digit, Pattern};
use super::pattern::Part;
use values::error::{Error, Result, SqlState};

/// Characters that belong to numbers: currency and ordinals do not skip them.
const DATA: &str = "0123456789.,+-";

/// The digits of a number with sign and point.
#[derive(Debug)]
pub(super) struct Digits {
    /// As the text of a number.
    pub(super) text: String,
    /// Digits behind the point.
    pub(super) scale: usize,
}

/// Reads a number.
///
/// # Errors
/// 0A000: the pattern is only for writing.
pub(super) fn read(pattern: &Pattern, text: &str) -> Result<Digits> {
    for (is_used, name) in [(pattern.is_scientific, "EEEE"), (pattern.is_roman, "RN")] {
        if is_used {
            let message = format!("\"{name}\" not supported for input");
            return Err(Error::new(SqlState::FeatureNotSupported, message));
        }
    }
    let mut reader = Reader {
        pattern,
        text: text.as_bytes(),
        at: 0,
        sign: None,
        number: String::new(),
        before: 0,
        after: 0,
        has_point: false,
    };
    for (part, _) in &pattern.parts {
        if reader.is_over() {
            break;
        }
        match part {
            Part::Field(digit, _) => reader.field(*digit),
            _ => reader.skip_character(),
        }
    }
    let sign = if reader.sign == Some(b'-') { "-" } else { "" };
    let number = reader.number.strip_suffix('.').unwrap_or(&reader.number);
    Ok(Digits { text: format!("{sign}{number}"), scale: reader.after })
}

struct Reader<'a> {
    pattern: &'a Pattern,
    text: &'a [u8],
    at: usize,
    sign: Option<u8>,
    number: String,
    /// Digits that were read before and behind the point.
    before: usize,
    after: usize,
    has_point: bool,
}

impl Reader<'_> {
    fn is_over(&self) -> bool {
        self.at >= self.text.len()
    }

    fn next(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_character(&mut self) {
        self.at += 1;
        while self.next().is_some_and(|byte| byte & 0xC0 == 0x80) {
            self.at += 1;
        }
    }

    /// Skips characters that are no part of a number.
    fn skip_others(&mut self, count: usize) {
        for _ in 0..count {
            if self.next().is_none_or(|byte| DATA.as_bytes().contains(&byte)) {
                break;
            }
            self.skip_character();
        }
    }

    fn field(&mut self, digit: Digit) {
        match digit {
            Digit::Nine | Digit::Zero | Digit::Point => {
                self.digit(digit);
                self.at += 1;
            }
            Digit::Comma | Digit::Group => {
                // No digit counts as read before: with FM a separator is not looked for.
                if !self.pattern.fills && self.next() == Some(b',') {
                    self.at += 1;
                }
            }
            Digit::Currency => self.skip_others(1),
            Digit::Ordinal(_) => {
                if !self.pattern.has_point {
                    self.skip_others(2);
                }
            }
            Digit::Minus => self.sign(b"-"),
            Digit::Plus => self.sign(b"+"),
            Digit::Sign => self.sign(b"-+"),
            Digit::Roman(_) | Digit::Whole(_) => (),
        }
    }

    fn sign(&mut self, signs: &[u8]) {
        match self.next() {
            Some(next) if signs.contains(&next) => {
                self.sign = Some(next);
                self.at += 1;
            }
            _ => self.skip_others(1),
        }
    }

    /// Reads a digit or the point, with a sign around it. The caller goes on by one character.
    fn digit(&mut self, digit: Digit) {
        if self.next() == Some(b' ') {
            self.at += 1;
        }
        if self.is_over() {
            return;
        }
        if self.sign.is_none() && digit != Digit::Point && self.before + self.after == 0 {
            self.sign_before();
        }
        let Some(next) = self.next() else { return };
        let mut is_read = false;
        if next.is_ascii_digit() {
            if self.has_point && self.after == self.pattern.after {
                return;
            }
            self.number.push(char::from(next));
            if self.has_point {
                self.after += 1;
            } else {
                self.before += 1;
            }
            is_read = true;
        } else if next == b'.' && self.pattern.has_point && !self.has_point {
            self.number.push('.');
            self.has_point = true;
            is_read = true;
        }
        if self.sign.is_none() && self.before + self.after > 0 {
            self.sign_after(is_read);
        }
    }

    fn sign_before(&mut self) {
        let sign = match self.next() {
            Some(sign @ (b'-' | b'+')) => sign,
            Some(b'<') if self.pattern.has_brackets => b'-',
            _ => return,
        };
        self.sign = Some(sign);
        self.at += 1;
    }

    /// An anchored sign stands directly behind a digit; others where no digit was found.
    fn sign_after(&mut self, is_read: bool) {
        if self.pattern.anchor.is_some() && is_read {
            if let Some(sign @ (b'-' | b'+')) = self.text.get(self.at + 1) {
                self.sign = Some(*sign);
                self.at += 1;
            }
        } else if !is_read
            && self.pattern.anchor.is_none()
            && (self.pattern.has_plus || self.pattern.has_minus)
            && let Some(sign @ (b'-' | b'+')) = self.next()
        {
            self.sign = Some(sign);
        }
    }
}
