//! Decimal digits of numbers: how many there are before the point, and the places that PostgreSQL derives scales from.

use num_bigint::BigUint;

use crate::number::{Numeric, Repr};
use crate::powers_of_ten;

/// PostgreSQL's least number of significant digits of quotients, roots and logarithms.
pub(crate) const SIGNIFICANT_DIGITS_MIN: i32 = 16;

/// The greatest scale that quotients, roots and logarithms are given.
pub(crate) const RESULT_SCALE_MAX: i32 = 1000;

/// The first digit of a number in base 10000, and its place: 0 is before the point. Of zero both are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leading {
    pub(crate) weight: i32,
    pub(crate) digit: u32,
}

impl Numeric {
    /// How many decimal digits are before the point, without zeros in front; for numbers below 0.1 minus the zeros
    /// behind the point. Of zero, NaN and infinities 0.
    pub(crate) fn integer_digits(&self) -> i32 {
        match &self.0 {
            Repr::Small(0, _) | Repr::Nan | Repr::Infinity | Repr::NegativeInfinity => 0,
            Repr::Small(coefficient, scale) => {
                let digits = powers_of_ten::digits_small(coefficient.unsigned_abs());
                digits as i32 - i32::from(*scale)
            }
            Repr::Large(large) => {
                let digits = powers_of_ten::digits_large(large.coefficient.magnitude());
                digits as i32 - i32::from(large.scale)
            }
        }
    }

    /// The place of the first digit that is not zero, in base 10000: 0 is the one before the point. 0 for zero.
    pub(crate) fn weight(&self) -> i32 {
        if self.is_zero() { 0 } else { (self.integer_digits() - 1).div_euclid(4) }
    }

    /// The first digits of a finite number in base 10000, `count` of them or fewer where the others are zeros, as one
    /// integer, and the power of ten that it is multiplied by.
    pub(crate) fn first_digits(&self, count: i32) -> (f64, i32) {
        let (value, scale) = self.parts().unwrap_or_default();
        let own_exponent = -(scale as i32);
        let exponent = 4 * (self.weight() - count + 1);
        let (mut digits, mut exponent) = match exponent - own_exponent {
            cut @ 1.. => {
                (value.magnitude() / powers_of_ten::large(cut.unsigned_abs()).as_ref(), exponent)
            }
            zeros => {
                (value.magnitude() * powers_of_ten::large(zeros.unsigned_abs()).as_ref(), exponent)
            }
        };
        while digits > BigUint::from(9999u32) && &digits % 10_000u32 == BigUint::ZERO {
            digits /= 10_000u32;
            exponent += 4;
        }
        // At most 16 decimal digits.
        (u64::try_from(digits).unwrap_or(0) as f64, exponent)
    }

    /// The first digit in base 10000.
    pub(crate) fn leading(&self) -> Leading {
        match &self.0 {
            Repr::Small(coefficient, scale) => {
                let magnitude = coefficient.unsigned_abs();
                let digits = powers_of_ten::digits_small(magnitude);
                Leading::new(digits, u32::from(*scale), |cut| match powers_of_ten::small(cut) {
                    Some(power) => magnitude / power.unsigned_abs(),
                    None => 0,
                })
            }
            Repr::Large(large) => {
                Leading::of_large(large.coefficient.magnitude(), u32::from(large.scale))
            }
            Repr::Nan | Repr::Infinity | Repr::NegativeInfinity => Leading { weight: 0, digit: 0 },
        }
    }
}

impl Leading {
    /// The first digit of `magnitude` divided by 10 to the power of `scale`.
    pub(crate) fn of_large(magnitude: &BigUint, scale: u32) -> Self {
        Self::new(powers_of_ten::digits_large(magnitude), scale, |cut| {
            u128::try_from(magnitude / powers_of_ten::large(cut).as_ref()).unwrap_or(0)
        })
    }

    /// The first digit of a number of so many decimal digits; `without` gives the number without its last ones.
    fn new(digits: u32, scale: u32, without: impl Fn(u32) -> u128) -> Self {
        if digits == 0 {
            return Self { weight: 0, digit: 0 };
        }
        let integer_digits = digits as i32 - scale as i32;
        let weight = (integer_digits - 1).div_euclid(4);
        // How many decimal digits the first one in base 10000 has: 1 to 4.
        let width = (integer_digits - 4 * weight).unsigned_abs();
        let digit = match digits.checked_sub(width) {
            Some(cut) => without(cut),
            None => without(0) * 10u128.pow(width - digits),
        };
        Self { weight, digit: digit as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_digits_are_those_of_base_10000() {
        for (text, weight, digit) in [
            ("0.0", 0, 0),
            ("1", 0, 1),
            ("9999", 0, 9999),
            ("10000", 1, 1),
            ("123456.7", 1, 12),
            ("0.5", -1, 5000),
            ("0.00012", -1, 1),
            ("0.00001", -2, 1000),
            ("-99990000.000", 1, 9999),
            ("3e100", 25, 3),
            ("34567e100", 26, 3),
        ] {
            let number = Numeric::parse(text).expect(text);
            assert_eq!(number.leading(), Leading { weight, digit }, "{text}");
            assert_eq!(number.weight(), weight, "{text}");
        }
    }
}
