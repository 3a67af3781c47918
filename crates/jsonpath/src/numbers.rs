//! Numbers as `numeric` has them: their digits, and what operators and methods make of them.

use std::cmp::Ordering;
use values::error::{Error, Result, SqlState};
use values::json::normal;
use values::json::number;

/// The least number of significant digits of a quotient.
const QUOTIENT_DIGITS: i64 = 16;
/// The most digits of a quotient behind the point.
const QUOTIENT_SCALE_MAX: i64 = 1000;

/// A number of a path, as `numeric` writes it.
pub(crate) fn written(text: &str) -> Result<String> {
    // JSON has digits on both sides of the point.
    let (digits, exponent) = match text.find(['e', 'E']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let before = if digits.starts_with('.') { "0" } else { "" };
    normal::of_json(&format!("{before}{}{exponent}", digits.strip_suffix('.').unwrap_or(digits)))
}

pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    number::compare(left, right)
}

/// A number with at most 38 digits.
#[derive(Debug, Clone, Copy)]
struct Decimal {
    digits: i128,
    scale: u32,
}

impl Decimal {
    fn of(text: &str) -> Result<Self> {
        let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let digits: String = text.chars().filter(|c| *c != '.').collect();
        match (digits.parse(), u32::try_from(scale)) {
            (Ok(digits), Ok(scale)) => Ok(Self { digits, scale }),
            _ => Err(too_long()),
        }
    }

    /// The digits with more places behind the point.
    fn at_scale(self, scale: u32) -> Result<i128> {
        let factor = 10_i128.checked_pow(scale - self.scale);
        factor.and_then(|factor| self.digits.checked_mul(factor)).ok_or_else(too_long)
    }

    fn text(self) -> String {
        let places = self.scale as usize;
        let digits = self.digits.unsigned_abs().to_string();
        // A width of `format!` has 16 bits only.
        let digits = "0".repeat((places + 1).saturating_sub(digits.len())) + &digits;
        with_point(self.digits < 0, digits, places)
    }

    /// The place of the first of its digits to base 10,000, and that digit.
    fn first_digit(self) -> (i64, u128) {
        let digits = self.digits.unsigned_abs();
        let Some(places) = digits.checked_ilog10() else { return (0, 0) };
        let exponent = i64::from(places) - i64::from(self.scale);
        let weight = exponent.div_euclid(4);
        // The digits up to the end of that place.
        let shift = i64::from(self.scale) + 4 * weight;
        let ten = |power: i64| 10_u128.saturating_pow(u32::try_from(power).unwrap_or(u32::MAX));
        let first =
            if shift >= 0 { digits / ten(shift) } else { digits.saturating_mul(ten(-shift)) };
        (weight, first)
    }
}

fn with_point(negative: bool, mut digits: String, places: usize) -> String {
    if places > 0 {
        digits.insert(digits.len() - places, '.');
    }
    let is_zero = !digits.bytes().any(|b| matches!(b, b'1'..=b'9'));
    if negative && !is_zero { format!("-{digits}") } else { digits }
}

fn too_long() -> Error {
    Error::unsupported(
        "numbers of more than 38 digits in the arithmetic of JSON paths are not supported",
    )
}

/// The result of an operator.
///
/// # Errors
/// 22012: division by zero. 0A000: more digits than can be held.
pub(crate) fn computed(operator: char, left: &str, right: &str) -> Result<String> {
    let (a, b) = (Decimal::of(left)?, Decimal::of(right)?);
    if matches!(operator, '/' | '%') && b.digits == 0 {
        return Err(Error::new(SqlState::DivisionByZero, "division by zero"));
    }
    if operator == '/' {
        return quotient(a, b);
    }
    let scale = if operator == '*' { a.scale + b.scale } else { a.scale.max(b.scale) };
    let digits = match operator {
        '*' => a.digits.checked_mul(b.digits),
        '+' => a.at_scale(scale)?.checked_add(b.at_scale(scale)?),
        '-' => a.at_scale(scale)?.checked_sub(b.at_scale(scale)?),
        _ => a.at_scale(scale)?.checked_rem(b.at_scale(scale)?),
    };
    Ok(Decimal { digits: digits.ok_or_else(too_long)?, scale }.text())
}

/// A quotient with as many digits as `numeric` has of it.
fn quotient(a: Decimal, b: Decimal) -> Result<String> {
    let ((weight_a, first_a), (weight_b, first_b)) = (a.first_digit(), b.first_digit());
    let weight = weight_a - weight_b - i64::from(first_a <= first_b);
    let scale = (QUOTIENT_DIGITS - 4 * weight)
        .max(i64::from(a.scale.max(b.scale)))
        .clamp(0, QUOTIENT_SCALE_MAX);
    let shifted = |value: Decimal, scale: u32| {
        let factor = 10_u128.checked_pow(scale);
        factor
            .and_then(|factor| value.digits.unsigned_abs().checked_mul(factor))
            .ok_or_else(too_long)
    };
    let common = a.scale.min(b.scale);
    let (above, below) = (shifted(a, b.scale - common)?, shifted(b, a.scale - common)?);
    let mut digits = (above / below).to_string();
    let mut rest = above % below;
    for _ in 0..scale {
        rest = rest.checked_mul(10).ok_or_else(too_long)?;
        digits.push(char::from(b'0' + (rest / below) as u8));
        rest %= below;
    }
    if rest >= below - rest {
        digits = one_more(digits);
    }
    Ok(with_point((a.digits < 0) != (b.digits < 0), digits, scale as usize))
}

/// The next whole number.
fn one_more(digits: String) -> String {
    let mut bytes = digits.into_bytes();
    for byte in bytes.iter_mut().rev() {
        if *byte != b'9' {
            *byte += 1;
            return bytes.into_iter().map(char::from).collect();
        }
        *byte = b'0';
    }
    std::iter::once('1').chain(bytes.into_iter().map(char::from)).collect()
}

pub(crate) fn negated(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(positive) => positive.to_owned(),
        None if compare(number, "0").is_eq() => number.to_owned(),
        None => format!("-{number}"),
    }
}

pub(crate) fn absolute(number: &str) -> String {
    number.strip_prefix('-').unwrap_or(number).to_owned()
}

/// The nearest whole number that is not greater; not less if `up`.
pub(crate) fn whole(number: &str, up: bool) -> Result<String> {
    let decimal = Decimal::of(number)?;
    let unit = 10_i128.checked_pow(decimal.scale).ok_or_else(too_long)?;
    let floor = decimal.digits.div_euclid(unit);
    let digits = floor + i128::from(up && decimal.digits.rem_euclid(unit) != 0);
    Ok(Decimal { digits, scale: 0 }.text())
}

/// A number without what is behind the point, as an index.
pub(crate) fn index(number: &str) -> Option<i32> {
    number.split('.').next().and_then(|whole| whole.parse().ok())
}

/// A floating-point number as `numeric`: with 15 digits.
pub(crate) fn of_float(value: f64) -> Result<String> {
    let text = format!("{value:.14e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    };
    written(&format!("{digits}e{exponent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_have_the_digits_of_numeric() {
        for (left, operator, right, expected) in [
            ("1.50", '+', "2.5", "4.00"),
            ("1", '-', "1.0", "0.0"),
            ("1.5", '*', "-2.50", "-3.750"),
            ("1", '/', "3", "0.33333333333333333333"),
            ("10", '/', "4", "2.5000000000000000"),
            ("100000000", '/', "3", "33333333.333333333333"),
            ("-1", '/', "3", "-0.33333333333333333333"),
            ("2", '/', "0.0001", "20000.000000000000"),
            ("7.5", '%', "-2", "1.5"),
            ("0", '/', "5", "0.00000000000000000000"),
        ] {
            assert_eq!(
                computed(operator, left, right).as_deref(),
                Ok(expected),
                "{left} {operator} {right}"
            );
        }
        let zero = format!("0.{}", "0".repeat(40_000));
        assert_eq!(computed('*', &zero, &zero), Ok(format!("0.{}", "0".repeat(80_000))));
        assert!(computed('/', "1", "0").is_err());
        assert!(computed('*', &"9".repeat(30), &"9".repeat(30)).is_err());
    }

    #[test]
    fn numbers_become_whole() {
        for (number, floor, ceiling) in [("1.5", "1", "2"), ("-1.5", "-2", "-1"), ("3", "3", "3")] {
            assert_eq!(whole(number, false).as_deref(), Ok(floor));
            assert_eq!(whole(number, true).as_deref(), Ok(ceiling));
        }
        assert_eq!(index("-1.9"), Some(-1));
        assert_eq!(of_float(1.5e300).map(|text| text.len()), Ok(301));
        assert_eq!(of_float(0.1).as_deref(), Ok("0.1"));
    }
}
