//! Operators of decimal numbers. What needs more than 38 digits is left to the engine.

use super::integers::Arithmetic;
use numerics::Numeric;
use std::cmp::Ordering;

/// The most digits.
const DIGITS_MAX: u32 = 38;

/// The digits of a number with more of them behind the point.
fn scaled(digits: i128, from: i8, to: i8) -> Option<i128> {
    let more = u32::try_from(i16::from(to) - i16::from(from)).ok()?;
    digits.checked_mul(10_i128.checked_pow(more)?)
}

/// Both numbers with the same number of digits behind the point.
fn aligned(left: (i128, i8), right: (i128, i8)) -> Option<(i128, i128, i8)> {
    let scale = left.1.max(right.1);
    Some((scaled(left.0, left.1, scale)?, scaled(right.0, right.1, scale)?, scale))
}

/// The result of an operator. `None` for a division by zero, and for too many digits.
pub(super) fn apply(how: Arithmetic, left: (i128, i8), right: (i128, i8)) -> Option<(i128, i8)> {
    let (digits, scale) = match how {
        Arithmetic::Add | Arithmetic::Subtract => {
            let (left, right, scale) = aligned(left, right)?;
            let digits = match how {
                Arithmetic::Add => left.checked_add(right)?,
                _ => left.checked_sub(right)?,
            };
            (digits, scale)
        }
        Arithmetic::Multiply => (left.0.checked_mul(right.0)?, left.1.checked_add(right.1)?),
        Arithmetic::Divide | Arithmetic::Remainder if right.0 == 0 => return None,
        Arithmetic::Divide => parts(number(left).div(&number(right)).ok()?)?,
        Arithmetic::Remainder => parts(number(left).rem(&number(right)).ok()?)?,
    };
    fitting((digits, scale))
}

/// A number, if it has few enough digits.
pub(super) fn fitting((digits, scale): (i128, i8)) -> Option<(i128, i8)> {
    let fits = digits.unsigned_abs() < 10_u128.pow(DIGITS_MAX) && scale <= DIGITS_MAX as i8;
    fits.then_some((digits, scale))
}

/// A number rounded to some digits behind the point. `None` for too many digits.
pub(super) fn rounded(of: (i128, i8), digits: i64) -> Option<(i128, i8)> {
    fitting(parts(number(of).round(i32::try_from(digits).ok()?).ok()?)?)
}

fn number((digits, scale): (i128, i8)) -> Numeric {
    Numeric::from_i128(digits, scale.into())
}

fn parts(of: Numeric) -> Option<(i128, i8)> {
    let (digits, scale) = of.small_parts()?;
    Some((digits, i8::try_from(scale).ok()?))
}

/// The text of a number.
pub(super) fn written(digits: i128, scale: i8) -> String {
    number((digits, scale)).to_string()
}

/// The order of two numbers.
pub(super) fn order(left: (i128, i8), right: (i128, i8)) -> Option<Ordering> {
    aligned(left, right).map(|(left, right, _)| left.cmp(&right))
}

/// The number of a text with digits and at most one point.
pub(super) fn parsed(text: &str) -> Option<(i128, i8)> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || digits.len() > DIGITS_MAX as usize {
        return None;
    }
    Some((sign * digits.parse::<i128>().ok()?, i8::try_from(fraction.len()).ok()?))
}
