//! Quotients of constants, with as many digits as PostgreSQL gives them.

use datafusion::arrow::datatypes::i256;
use datafusion::common::ScalarValue;

/// The significant digits of a quotient, at least.
const DIGITS_MIN: i32 = 16;
/// PostgreSQL counts digits in groups of four.
const GROUP: i32 = 4;
/// The digits that a value can have.
const DIGITS_MAX: u32 = 38;

/// The quotient of two numerics; `None` if one is NULL, the second is 0, or the digits are too many.
pub(super) fn of_constants(left: &ScalarValue, right: &ScalarValue) -> Option<ScalarValue> {
    let (ScalarValue::Decimal128(Some(left), _, left_scale), (Some(right), right_scale)) =
        (left, number(right)?)
    else {
        return None;
    };
    if right == 0 {
        return None;
    }
    let (left, left_scale, right_scale) = (*left, i32::from(*left_scale), i32::from(right_scale));
    let ((left_weight, left_first), (right_weight, right_first)) =
        (leading(left, left_scale), leading(right, right_scale));
    let weight = left_weight - right_weight - i32::from(left_first <= right_first);
    let scale = (DIGITS_MIN - weight * GROUP).max(left_scale).max(right_scale).max(0);
    let shift = u32::try_from(scale + right_scale - left_scale).ok()?;
    let ten = |power: u32| i256::from_i128(10).checked_pow(power);
    let dividend = i256::from_i128(left).checked_mul(ten(shift)?)?;
    let divisor = i256::from_i128(right);
    // Half away from zero.
    let half = divisor.wrapping_abs().checked_div(i256::from_i128(2))?;
    let dividend = match dividend.is_negative() {
        true => dividend.checked_sub(half)?,
        false => dividend.checked_add(half)?,
    };
    let quotient = dividend.checked_div(divisor)?.to_i128()?;
    let fits = quotient.unsigned_abs() < 10_u128.pow(DIGITS_MAX);
    let scale =
        i8::try_from(scale).ok().filter(|scale| u32::from(scale.unsigned_abs()) <= DIGITS_MAX)?;
    fits.then_some(ScalarValue::Decimal128(Some(quotient), DIGITS_MAX as u8, scale))
}

fn number(value: &ScalarValue) -> Option<(Option<i128>, i8)> {
    match value {
        ScalarValue::Decimal128(number, _, scale) => Some((*number, *scale)),
        _ => None,
    }
}

/// The place of the first group of four digits of a number, counted from the point, and the group.
fn leading(number: i128, scale: i32) -> (i32, u128) {
    let number = number.unsigned_abs();
    let Some(exponent) = number.checked_ilog10() else { return (0, 0) };
    let digits = i32::try_from(exponent).unwrap_or_default() + 1;
    let place = digits - 1 - scale;
    let shown = place.rem_euclid(GROUP) + 1;
    let first = match u32::try_from(digits - shown) {
        Ok(cut) => number / 10_u128.pow(cut),
        Err(_) => number * 10_u128.pow((shown - digits).unsigned_abs()),
    };
    (place.div_euclid(GROUP), first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_have_the_digits_that_postgresql_gives_them() {
        let of = |left: (i128, i8), right: (i128, i8)| {
            let decimal = |(number, scale)| ScalarValue::Decimal128(Some(number), 38, scale);
            of_constants(&decimal(left), &decimal(right))
        };
        let is = |number, scale| Some(ScalarValue::Decimal128(Some(number), 38, scale));
        assert_eq!(of((1, 0), (3, 0)), is(33_333_333_333_333_333_333, 20));
        assert_eq!(of((-2, 0), (30, 1)), is(-66_666_666_666_666_666_667, 20));
        assert_eq!(of((10, 0), (4, 0)), is(25_000_000_000_000_000, 16));
        assert_eq!(of((100_000_000_000_000_000_000, 0), (3, 0)), is(33_333_333_333_333_333_333, 0));
        assert_eq!(of((1, 6), (3, 0)), is(333_333_333_333_333_333, 24));
        assert_eq!(of((1, 0), (0, 0)), None);
    }
}
