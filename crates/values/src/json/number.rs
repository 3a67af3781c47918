//! JSON numbers of any number of digits.
//!
//! `write_normal` writes a number in the format of `numeric`, `write_order` writes bytes that sort as
//! the numbers do. Both work on the digits.

use crate::error::{Error, Result, SqlState};

/// PostgreSQL's maximum number of digits of a `numeric` before the point.
const WHOLE_DIGITS_MAX: i64 = 131_072;
/// PostgreSQL's maximum number of digits of a `numeric` after the point.
const FRACTION_DIGITS_MAX: i64 = 16_383;

/// The parts of a number: `whole.fraction * 10^exponent`.
struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: i64,
}

impl<'a> Parts<'a> {
    fn of(number: &'a str) -> Self {
        let (negative, number) = match number.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, number),
        };
        let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let beyond = if exponent.starts_with('-') { -i64::from(i32::MAX) } else { i32::MAX.into() };
        let exponent = exponent.parse().unwrap_or(beyond);
        Self { negative, whole, fraction, exponent }
    }

    fn is_zero(&self) -> bool {
        !self.digits().any(|digit| digit != b'0')
    }

    fn digits(&self) -> impl DoubleEndedIterator<Item = u8> {
        self.whole.bytes().chain(self.fraction.bytes())
    }

    /// The number of digits before the point after applying the exponent.
    fn before_point(&self) -> i64 {
        self.whole.len() as i64 + self.exponent
    }
}

/// Appends a number in the format of `numeric`: without exponent, with its trailing zeros.
///
/// # Errors
/// 22003: `numeric` cannot hold it.
pub(super) fn write_normal(number: &str, out: &mut String) -> Result<()> {
    let parts = Parts::of(number);
    let fraction = (parts.fraction.len() as i64 - parts.exponent).max(0);
    let zero = parts.is_zero();
    let whole = if zero { 0 } else { parts.before_point() };
    if whole > WHOLE_DIGITS_MAX || fraction > FRACTION_DIGITS_MAX {
        return Err(overflow());
    }
    if !number.contains(['e', 'E']) && !zero {
        out.push_str(number);
        return Ok(());
    }
    if parts.negative && !zero {
        out.push('-');
    }
    let point = parts.before_point();
    let mut digits = parts.digits().map(char::from);
    let start = out.len();
    for _ in 0..point {
        let digit = digits.next().unwrap_or('0');
        if digit != '0' || out.len() > start {
            out.push(digit);
        }
        if zero {
            break;
        }
    }
    if out.len() == start {
        out.push('0');
    }
    if fraction > 0 {
        out.push('.');
        let zeros = (-point).clamp(0, fraction);
        out.extend(std::iter::repeat_n('0', zeros as usize));
        let rest = digits.chain(std::iter::repeat('0'));
        out.extend(rest.take((fraction - zeros) as usize));
    }
    Ok(())
}

fn overflow() -> Error {
    Error::new(SqlState::NumericValueOutOfRange, "value overflows numeric format")
}

/// Appends bytes that compare as the numbers do and are self-delimiting.
pub(super) fn write_order(number: &str, out: &mut Vec<u8>) {
    let parts = Parts::of(number);
    if parts.is_zero() {
        return out.push(1);
    }
    let zeros = parts.digits().take_while(|digit| *digit == b'0').count();
    let trailing = parts.digits().rev().take_while(|digit| *digit == b'0').count();
    let count = parts.whole.len() + parts.fraction.len() - zeros - trailing;
    let magnitude = (parts.before_point() - zeros as i64) as i32;
    out.push(if parts.negative { 0 } else { 2 });
    let start = out.len();
    out.extend_from_slice(&(magnitude ^ i32::MIN).to_be_bytes());
    out.extend(parts.digits().skip(zeros).take(count));
    out.push(0);
    if parts.negative {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// Compares two numbers.
pub fn compare(left: &str, right: &str) -> std::cmp::Ordering {
    let key = |number: &str| {
        let mut out = Vec::new();
        write_order(number, &mut out);
        out
    };
    key(left).cmp(&key(right))
}

/// Whether two numbers are equal.
pub(super) fn is_same(left: &str, right: &str) -> bool {
    left == right || compare(left, right).is_eq()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(number: &str) -> String {
        let mut out = String::new();
        write_normal(number, &mut out).expect("a number that fits");
        out
    }

    #[test]
    fn numbers_have_the_format_of_numeric() {
        for (given, expected) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0", "0.0"),
            ("0e5", "0"),
            ("0e-5", "0.00000"),
            ("0.000e2", "0.0"),
            ("1e2", "100"),
            ("1.5e0", "1.5"),
            ("-7E+0", "-7"),
            ("1.50", "1.50"),
            ("1.5e1", "15"),
            ("1.25e1", "12.5"),
            ("100e-2", "1.00"),
            ("1E-3", "0.001"),
            ("-12.5e+2", "-1250"),
            ("0.05e1", "0.5"),
            ("0.05e3", "50"),
            ("123456789012345678901234567890.12", "123456789012345678901234567890.12"),
        ] {
            assert_eq!(normal(given), expected, "{given}");
        }
        for beyond in ["1e131072", "1e-16384", "1e99999999999999999999", "1e-99999999999999999999"]
        {
            assert!(write_normal(beyond, &mut String::new()).is_err(), "{beyond}");
        }
        assert_eq!(normal("1e131071").len(), 131_072);
    }

    #[test]
    fn the_order_is_that_of_numbers() {
        let key = |number: &str| {
            let mut out = Vec::new();
            write_order(number, &mut out);
            out
        };
        let ordered = [
            "-100", "-99.5", "-9", "-0.1", "-0.05", "0", "0.001", "0.01", "1", "1.5", "9", "10",
            "11",
        ];
        for pair in ordered.windows(2) {
            assert!(key(pair[0]) < key(pair[1]), "{} < {}", pair[0], pair[1]);
        }
        assert_eq!(key("1.0"), key("1"));
        assert_eq!(key("100"), key("1e2"));
        assert_eq!(key("-0.0"), key("0"));
    }
}
