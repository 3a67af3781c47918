//! Powers of ten, and quotients by them that are rounded as PostgreSQL rounds: halves away from zero.

use std::borrow::Cow;
use std::sync::LazyLock;

use num_bigint::{BigInt, BigUint, Sign};

/// The greatest exponent whose power of ten fits 128 bits with a sign.
pub(crate) const SMALL_MAX: u32 = 38;

const SMALL: [i128; SMALL_MAX as usize + 1] = {
    let mut powers = [1i128; SMALL_MAX as usize + 1];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// 10 to the power of `exponent`, where it fits.
pub(crate) fn small(exponent: u32) -> Option<i128> {
    SMALL.get(exponent as usize).copied()
}

/// Powers that are computed once: those of most numbers beyond 128 bits, and of steps of roots and logarithms.
static KEPT: LazyLock<Vec<BigUint>> = LazyLock::new(|| {
    let next = |power: &BigUint| Some(power * 10u8);
    std::iter::successors(Some(BigUint::from(1u8)), next).take(KEPT_COUNT).collect()
});

const KEPT_COUNT: usize = 256;

/// 10 to the power of `exponent`.
pub(crate) fn large(exponent: u32) -> Cow<'static, BigUint> {
    match KEPT.get(exponent as usize) {
        Some(power) => Cow::Borrowed(power),
        None => Cow::Owned(BigUint::from(5u8).pow(exponent) << exponent),
    }
}

/// `value` times 10 to the power of `exponent`, where it fits.
pub(crate) fn scale_small(value: i128, exponent: u32) -> Option<i128> {
    match exponent {
        0 => Some(value),
        _ if value == 0 => Some(0),
        _ => value.checked_mul(small(exponent)?),
    }
}

/// `value` times 10 to the power of `exponent`.
pub(crate) fn scale_large(value: BigInt, exponent: u32) -> BigInt {
    if exponent == 0 || value.sign() == Sign::NoSign {
        return value;
    }
    let (sign, magnitude) = value.into_parts();
    BigInt::from_biguint(sign, magnitude * large(exponent).as_ref())
}

/// The quotient, rounded to the nearest integer, halves away from zero. `divisor` is not zero.
pub(crate) fn rounded_small(value: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (value / divisor, value % divisor);
    let (rest, size) = (rest.unsigned_abs(), divisor.unsigned_abs());
    if rest < size - rest {
        return quotient;
    }
    // The quotient of a divisor that leaves a rest is at most half of the value.
    if (value < 0) == (divisor < 0) { quotient + 1 } else { quotient - 1 }
}

/// The quotient, rounded to the nearest integer, halves away from zero. `divisor` is not zero.
pub(crate) fn rounded_large(value: &BigInt, divisor: &BigInt) -> BigInt {
    rounded_magnitude(value.sign() * divisor.sign(), value.magnitude(), divisor.magnitude())
}

fn rounded_magnitude(sign: Sign, value: &BigUint, divisor: &BigUint) -> BigInt {
    // With half of the divisor more, what is cut off is at most half of it.
    let mut quotient = divisor >> 1u8;
    quotient += value;
    quotient /= divisor;
    match sign {
        Sign::Minus => BigInt::from_biguint(Sign::Minus, quotient),
        _ => BigInt::from(quotient),
    }
}

/// `value` divided by 10 to the power of `exponent`, rounded to the nearest integer, halves away from zero.
pub(crate) fn shrink_small(value: i128, exponent: u32) -> i128 {
    match small(exponent) {
        _ if exponent == 0 => value,
        Some(divisor) => rounded_small(value, divisor),
        // No half of such a power fits 128 bits.
        None => 0,
    }
}

/// `value` divided by 10 to the power of `exponent`, rounded to the nearest integer, halves away from zero.
pub(crate) fn shrink_large(value: &BigInt, exponent: u32) -> BigInt {
    rounded_magnitude(value.sign(), value.magnitude(), &large(exponent))
}

/// `value` divided by 10 to the power of `exponent`, without what is behind the point.
pub(crate) fn cut_large(value: &BigInt, exponent: u32) -> BigInt {
    match value.sign() {
        Sign::Minus => {
            BigInt::from_biguint(Sign::Minus, value.magnitude() / large(exponent).as_ref())
        }
        _ => BigInt::from(value.magnitude() / large(exponent).as_ref()),
    }
}

/// How many decimal digits `value` has; 0 has none.
pub(crate) fn digits_small(value: u128) -> u32 {
    value.checked_ilog10().map_or(0, |log| log + 1)
}

/// How many decimal digits `value` has; 0 has none.
pub(crate) fn digits_large(value: &BigUint) -> u32 {
    if let Ok(value) = u128::try_from(value) {
        return digits_small(value);
    }
    // 30103/100000 is a little more than log10(2), so that the estimate is right or one too many; for more than the
    // bits that a number can have, by a few.
    let mut digits = (value.bits() * 30103 / 100_000) as u32 + 1;
    while digits > 1 && value < large(digits - 1).as_ref() {
        digits -= 1;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_away_from_zero() {
        for (value, divisor, expected) in [
            (5, 10, 1),
            (-5, 10, -1),
            (4, 10, 0),
            (15, 10, 2),
            (-14, 10, -1),
            (5, -10, -1),
            (7, 2, 4),
            (-7, -2, 4),
        ] {
            assert_eq!(rounded_small(value, divisor), expected, "{value} / {divisor}");
            assert_eq!(
                rounded_large(&BigInt::from(value), &BigInt::from(divisor)),
                BigInt::from(expected)
            );
        }
        assert_eq!(rounded_small(i128::MAX, i128::MAX), 1);
        assert_eq!(rounded_small(i128::MIN, 1), i128::MIN);
    }

    #[test]
    fn digits_are_counted_at_the_borders_of_powers() {
        for exponent in [1, 5, 37, 38, 39, 100, 999, 20_000] {
            assert_eq!(digits_large(&large(exponent)), exponent + 1);
            assert_eq!(digits_large(&(large(exponent).as_ref() - 1u8)), exponent);
        }
        assert_eq!(digits_large(&BigUint::from(0u8)), 0);
    }
}
