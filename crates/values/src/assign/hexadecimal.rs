//! Floating-point numbers that C reads and the engine does not: `0x1.8p3` and `nan(1)`.

use super::rewrite::rewrite;
use crate::error::{Error, Result, SqlState};
use datafusion::arrow::array::{ArrayRef, AsArray};
use std::borrow::Cow;
use store::catalog::SqlType;

/// A binary format of numbers.
struct Format {
    /// The number of binary digits.
    digits: i64,
    /// The exponent of the last digit of the smallest numbers.
    least: i64,
    /// The exponent of the first digit of the largest numbers.
    most: i64,
}

const DOUBLE: Format = Format { digits: 53, least: -1074, most: 1023 };
const REAL: Format = Format { digits: 24, least: -149, most: 127 };

/// The text of a hexadecimal number: `digits * 2^exponent`, and whether there are digits of a smaller value.
struct Hexadecimal {
    is_negative: bool,
    digits: u64,
    has_rest: bool,
    exponent: i64,
}

/// Texts of `real` or `double precision`, those in another form than the decimal one as decimal ones.
///
/// # Errors
/// 22003: a number is too large or too small.
pub(super) fn in_decimal(texts: ArrayRef, sql_type: &SqlType) -> Result<ArrayRef> {
    let is_other = |text: &str| text.bytes().any(|byte| matches!(byte, b'x' | b'X' | b'('));
    if !texts.as_string_view().iter().flatten().any(is_other) {
        return Ok(texts);
    }
    let format = if *sql_type == SqlType::Real { REAL } else { DOUBLE };
    rewrite(texts, |text| {
        let number = text.trim_matches(|letter: char| matches!(letter, ' ' | '\t'..='\r'));
        if is_numbered_nan(number) {
            return Ok(Cow::Borrowed("NaN"));
        }
        let Some(read) = read(number) else { return Ok(Cow::Borrowed(text)) };
        match rounded(&read, &format) {
            Some(value) if read.is_negative => Ok(Cow::Owned(format!("-{value:e}"))),
            Some(value) => Ok(Cow::Owned(format!("{value:e}"))),
            None => {
                let message = format!("\"{number}\" is out of range for type {sql_type}");
                let error = Error::new(SqlState::NumericValueOutOfRange, message);
                Err(error.at_literal(text))
            }
        }
    })
}

fn without_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Whether a text is `nan(...)`, with letters and digits between.
fn is_numbered_nan(text: &str) -> bool {
    let (_, text) = without_sign(text);
    let inner = text.get(..4).filter(|name| name.eq_ignore_ascii_case("nan("));
    inner.and(text.get(4..)).and_then(|rest| rest.strip_suffix(')')).is_some_and(|number| {
        number.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Reads a hexadecimal number. `None` for other texts.
fn read(text: &str) -> Option<Hexadecimal> {
    let (is_negative, text) = without_sign(text);
    let text = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let (significand, exponent) = match text.split_once(['p', 'P']) {
        Some((significand, exponent)) => (significand, decimal(exponent)?),
        None => (text, 0),
    };
    let (whole, fraction) = significand.split_once('.').unwrap_or((significand, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut number = Hexadecimal { is_negative, digits: 0, has_rest: false, exponent };
    for (at, letter) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = u64::from(letter.to_digit(16)?);
        let is_kept = number.digits.leading_zeros() >= 4;
        match is_kept {
            true => number.digits = number.digits << 4 | digit,
            false => number.has_rest |= digit != 0,
        }
        let is_fraction = at >= whole.len();
        let step = i64::from(!is_kept) - i64::from(is_fraction);
        number.exponent = number.exponent.saturating_add(4 * step);
    }
    Some(number)
}

/// A whole number with a sign; one that is too large is the largest.
fn decimal(text: &str) -> Option<i64> {
    let (is_negative, digits) = without_sign(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = digits.bytes().fold(0_i64, |value, digit| {
        value.saturating_mul(10).saturating_add(i64::from(digit - b'0'))
    });
    // Sums with what digits add stay in range.
    let value = value.min(i64::MAX / 4);
    Some(if is_negative { -value } else { value })
}

/// The size of the nearest number of a format; of two, the one whose last digit is even. `None` if it is too large or too
/// small.
fn rounded(number: &Hexadecimal, format: &Format) -> Option<f64> {
    if number.digits == 0 {
        return Some(0.0);
    }
    let first = number.exponent + i64::from(number.digits.ilog2());
    if first > format.most {
        return None;
    }
    let last = (first - format.digits + 1).max(format.least);
    let dropped = last - number.exponent;
    if dropped <= 0 {
        return Some(scaled(number.digits, number.exponent));
    }
    // The number is below half of the smallest one.
    if dropped > 64 {
        return None;
    }
    let (digits, half) = (u128::from(number.digits), 1_u128 << (dropped - 1));
    let (kept, rest) = (digits >> dropped, digits & (2 * half - 1));
    let is_above = rest > half || rest == half && number.has_rest;
    let is_up = is_above || rest == half && kept % 2 == 1;
    let kept = kept as u64 + u64::from(is_up);
    let is_in_range = kept > 0 && last + i64::from(kept.ilog2()) <= format.most;
    is_in_range.then(|| scaled(kept, last))
}

/// `digits * 2^exponent`, which a number has exactly.
fn scaled(digits: u64, exponent: i64) -> f64 {
    // Both factors are in the range of usual numbers.
    let half = exponent / 2;
    digits as f64 * power_of_two(half) * power_of_two(exponent - half)
}

fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, format: &Format) -> Option<f64> {
        let number = read(text).expect("a number");
        rounded(&number, format).map(|value| if number.is_negative { -value } else { value })
    }

    #[test]
    fn numbers_are_those_of_c() {
        for (text, expected) in [
            ("0x1p3", Some(8.0)),
            ("-0X1.8p-2", Some(-0.375)),
            ("0x.8", Some(0.5)),
            ("0x1.p3", Some(8.0)),
            ("0x1e5", Some(485.0)),
            ("0x1p-1074", Some(5e-324)),
            ("0x1.8p-1075", Some(5e-324)),
            ("0x1p-1075", None),
            ("0x1.fffffffffffff8p0", Some(2.0)),
            ("0x1.fffffffffffff7ffp1023", Some(f64::MAX)),
            ("0x1.fffffffffffff8p1023", None),
            ("0x1p1024", None),
            ("0x0p99999999999999999999", Some(0.0)),
            ("0x1p99999999999999999999", None),
            ("0x1p-99999999999999999999", None),
            ("0x1234567890abcdef1234567890abcdef", Some(2.4197857200151253e37)),
        ] {
            assert_eq!(value(text, &DOUBLE), expected, "{text}");
        }
        assert_eq!(value("0x1.ffffff7p127", &REAL), None);
        assert_eq!(value("0x1.fffffep127", &REAL), Some(f32::MAX.into()));
        assert_eq!(value("0x1p-149", &REAL), Some(f32::from_bits(1).into()));
        assert_eq!(value("0x1p-150", &REAL), None);
    }

    #[test]
    fn other_texts_are_left() {
        for text in ["0x", "0x1p", "0xg", "0x.p3", "x", "1", "0x1p3x"] {
            assert!(read(text).is_none(), "{text}");
        }
        assert!(
            is_numbered_nan("-NaN(12)") && !is_numbered_nan("nan") && !is_numbered_nan("nan(-)")
        );
    }
}
