//! Numbers as text, as PostgreSQL reads and writes them.

use std::fmt;

use num_bigint::{BigInt, BigUint, Sign};

use crate::errors::Error;
use crate::number::{INTEGER_DIGITS_MAX, Numeric, Repr, SCALE_MAX};
use crate::powers_of_ten;

/// Exponents from here on are too large whatever the digits are.
const EXPONENT_LIMIT: i64 = (i32::MAX / 2) as i64;

impl Numeric {
    /// Reads a number as `'...'::numeric` does: blanks around it, a sign, digits with or without a point, an exponent;
    /// or `NaN`, `Infinity`, `inf` in any case.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidText`] and [`Error::Overflow`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let invalid = || Error::InvalidText(text.to_string());
        let body = text.trim_matches(is_blank);
        if let Some(special) = special(body) {
            return Ok(special);
        }
        let (negative, unsigned) = match body.as_bytes().first() {
            Some(b'-') => (true, &body[1..]),
            Some(b'+') => (false, &body[1..]),
            _ => (false, body),
        };
        let whole = digits_at_start(unsigned);
        let rest = &unsigned[whole.len()..];
        let fraction = rest.strip_prefix('.').map_or("", digits_at_start);
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let rest = rest.strip_prefix('.').map_or(rest, |rest| &rest[fraction.len()..]);
        let (exponent, rest) = exponent(rest).ok_or_else(invalid)?;
        if exponent.abs() >= EXPONENT_LIMIT {
            return Err(Error::Overflow);
        }
        if !rest.is_empty() {
            return Err(invalid());
        }
        from_digits(negative, whole, fraction, exponent)
    }

    /// Writes the number as PostgreSQL does: with all digits of its scale, without an exponent.
    pub fn write(&self, out: &mut impl fmt::Write) -> fmt::Result {
        match &self.0 {
            Repr::NegativeInfinity => out.write_str("-Infinity"),
            Repr::Infinity => out.write_str("Infinity"),
            Repr::Nan => out.write_str("NaN"),
            Repr::Small(coefficient, scale) => {
                let mut buffer = [0; 39];
                let digits = small_digits(coefficient.unsigned_abs(), &mut buffer);
                write_digits(out, *coefficient < 0, digits, usize::from(*scale))
            }
            Repr::Large(large) => {
                let digits = large.coefficient.magnitude().to_str_radix(10);
                let negative = large.coefficient.sign() == Sign::Minus;
                write_digits(out, negative, &digits, usize::from(large.scale))
            }
        }
    }
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

impl std::str::FromStr for Numeric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

fn special(text: &str) -> Option<Numeric> {
    let is = |names: &[&str]| names.iter().any(|name| text.eq_ignore_ascii_case(name));
    if is(&["nan"]) {
        return Some(Numeric::NAN);
    }
    if is(&["infinity", "inf", "+infinity", "+inf"]) {
        return Some(Numeric::INFINITY);
    }
    is(&["-infinity", "-inf"]).then_some(Numeric::NEGATIVE_INFINITY)
}

fn digits_at_start(text: &str) -> &str {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

/// The exponent at the start of `text`, 0 where none is, and what follows it. As C's `strtol`, which PostgreSQL uses, it
/// skips blanks in front of the sign. What does not fit is `i64::MAX`.
fn exponent(text: &str) -> Option<(i64, &str)> {
    let Some(body) = text.strip_prefix(['e', 'E']) else { return Some((0, text)) };
    let body = body.trim_start_matches(is_blank);
    let digits = digits_at_start(body.strip_prefix(['+', '-']).unwrap_or(body));
    if digits.is_empty() {
        return None;
    }
    let end = body.len() - body.strip_prefix(['+', '-']).unwrap_or(body).len() + digits.len();
    let magnitude = digits.parse::<i64>().unwrap_or(i64::MAX);
    Some((if body.starts_with('-') { -magnitude } else { magnitude }, &body[end..]))
}

fn from_digits(
    negative: bool,
    whole: &str,
    fraction: &str,
    exponent: i64,
) -> Result<Numeric, Error> {
    let scale = (fraction.len() as i64 - exponent).max(0);
    if scale > i64::from(SCALE_MAX) {
        return Err(Error::Overflow);
    }
    let scale = scale as u32;
    let digits = whole.bytes().chain(fraction.bytes()).skip_while(|&byte| byte == b'0');
    let count = digits.clone().count();
    if count == 0 {
        return Ok(Numeric::small(0, scale));
    }
    let integer_digits = count as i64 - fraction.len() as i64 + exponent;
    if integer_digits > i64::from(INTEGER_DIGITS_MAX) {
        return Err(Error::Overflow);
    }
    // Digits end behind the point by `scale`, or before it by zeros that the exponent adds.
    let zeros = (exponent - fraction.len() as i64).max(0) as u32;
    if count <= powers_of_ten::SMALL_MAX as usize {
        let magnitude = digits.fold(0i128, |value, byte| value * 10 + i128::from(byte - b'0'));
        let value = if negative { -magnitude } else { magnitude };
        return match powers_of_ten::scale_small(value, zeros) {
            Some(value) => Ok(Numeric::small(value, scale)),
            None => Numeric::large(powers_of_ten::scale_large(BigInt::from(value), zeros), scale),
        };
    }
    let digits: Vec<u8> = digits.map(|byte| byte - b'0').collect();
    let magnitude = BigUint::from_radix_be(&digits, 10).unwrap_or_default();
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    Numeric::large(powers_of_ten::scale_large(BigInt::from_biguint(sign, magnitude), zeros), scale)
}

/// The decimal digits of `value`, without zeros in front.
fn small_digits(value: u128, buffer: &mut [u8; 39]) -> &str {
    const CHUNK: u128 = 10u128.pow(19);
    let mut at = buffer.len();
    let mut rest = value;
    loop {
        let more = rest > u128::from(u64::MAX);
        let mut chunk = if more { (rest % CHUNK) as u64 } else { rest as u64 };
        let start = at;
        while if more { start - at < 19 } else { chunk > 0 } {
            at -= 1;
            buffer[at] = b'0' + (chunk % 10) as u8;
            chunk /= 10;
        }
        if !more {
            break;
        }
        rest /= CHUNK;
    }
    std::str::from_utf8(&buffer[at..]).unwrap_or_default()
}

/// Writes digits, the last `scale` of them behind the point.
fn write_digits(
    out: &mut impl fmt::Write,
    negative: bool,
    digits: &str,
    scale: usize,
) -> fmt::Result {
    if negative {
        out.write_char('-')?;
    }
    let whole = digits.len().saturating_sub(scale);
    out.write_str(if whole == 0 { "0" } else { &digits[..whole] })?;
    if scale > 0 {
        out.write_char('.')?;
        (digits.len()..scale).try_for_each(|_| out.write_char('0'))?;
        out.write_str(&digits[whole..])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(text: &str, expected: &str) {
        assert_eq!(
            Numeric::parse(text).map(|number| number.to_string()),
            Ok(expected.to_string()),
            "{text}"
        );
    }

    #[test]
    fn numbers_keep_their_scale() {
        for text in [
            "0",
            "0.0",
            "1.50",
            "-1.5",
            "0.001",
            "123456789012345678901234567890.123456789012345678901234567890",
            "18446744073709551616",
            "18446744073709551615",
            "100000000000000000000000000000000000000",
            "-170141183460469231731687303715884105728",
            "340282366920938463463374607431768211456.0",
        ] {
            reads(text, text);
        }
    }

    #[test]
    fn exponents_move_the_point() {
        reads("1.5e1", "15");
        reads("1.5e3", "1500");
        reads("1.5E-3", "0.0015");
        reads("1e 5", "100000");
        reads("15e+0", "15");
        reads("0e-5", "0.00000");
        reads("0e200000", "0");
    }

    #[test]
    fn blanks_and_signs_are_read() {
        reads(" \t\n+.5e3\r ", "500");
        reads("-0.0", "0.0");
        reads("1.", "1");
        reads("iNf", "Infinity");
        reads("+infinity", "Infinity");
        reads(" -INF ", "-Infinity");
        reads("nAn", "NaN");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "", " ", ".", "+", "-", "1 2", "1e", "1e+", "e5", "-nan", "+nan", "infx", "1_000",
            "0x1", "1..2", "--1", "1.5.2", "\u{a0}1",
        ] {
            assert_eq!(Numeric::parse(text), Err(Error::InvalidText(text.to_string())));
        }
    }

    #[test]
    fn too_many_digits_are_refused() {
        for text in ["1e131072", "1e-16384", "0e-16384", "1e99999999999999999999", "1e-1073741823"]
        {
            assert_eq!(Numeric::parse(text), Err(Error::Overflow), "{text}");
        }
        assert_eq!(Numeric::parse("9e131071").map(|number| number.to_string().len()), Ok(131_072));
        assert_eq!(Numeric::parse("1e-16383").map(|number| number.to_string().len()), Ok(16_385));
    }
}
