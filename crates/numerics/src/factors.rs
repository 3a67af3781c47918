//! Common divisors and multiples, and factorials.

use num_bigint::{BigInt, BigUint};

use crate::arithmetic::{aligned_large, aligned_small};
use crate::errors::Error;
use crate::number::Numeric;

/// The greatest number whose factorial has not too many digits.
const FACTORIAL_MAX: u64 = 32_177;

impl Numeric {
    /// The greatest number of which both are multiples, not negative, with the greater one of their scales; NaN unless
    /// both are finite.
    pub fn gcd(&self, other: &Self) -> Result<Self, Error> {
        if let Some((left, right, scale)) = aligned_small(self, other)
            && let Ok(divisor) =
                i128::try_from(gcd_small(left.unsigned_abs(), right.unsigned_abs()))
        {
            return Ok(Self::small(divisor, scale));
        }
        match aligned_large(self, other) {
            Some((left, right, scale)) => {
                let (_, left) = left.into_parts();
                let (_, right) = right.into_parts();
                Self::large(BigInt::from(gcd_large(left, right)), scale)
            }
            None => Ok(Self::NAN),
        }
    }

    /// The least number that is a multiple of both, not negative, with the greater one of their scales; NaN unless both
    /// are finite.
    pub fn lcm(&self, other: &Self) -> Result<Self, Error> {
        let Some((left, right, scale)) = aligned_large(self, other) else { return Ok(Self::NAN) };
        if self.is_zero() || other.is_zero() {
            return Ok(Self::small(0, scale));
        }
        let (_, left) = left.into_parts();
        let (_, right) = right.into_parts();
        let divisor = gcd_large(left.clone(), right.clone());
        Self::large(BigInt::from(left / divisor * right), scale)
    }

    /// The product of all integers from 1 to `value`.
    pub fn factorial(value: i64) -> Result<Self, Error> {
        let value = u64::try_from(value).map_err(|_| Error::NegativeFactorial)?;
        if value > FACTORIAL_MAX {
            return Err(Error::Overflow);
        }
        Self::large(BigInt::from(product(1, value)), 0)
    }
}

/// The product of all integers from `first` to `last`, halves of the range first: factors of equal length multiply fast.
fn product(first: u64, last: u64) -> BigUint {
    if last.saturating_sub(first) < 8 {
        return (first..=last).fold(BigUint::from(1u8), |product, factor| product * factor);
    }
    let middle = first.midpoint(last);
    product(first, middle) * product(middle + 1, last)
}

fn gcd_small(mut left: u128, mut right: u128) -> u128 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

fn gcd_large(mut left: BigUint, mut right: BigUint) -> BigUint {
    while right != BigUint::ZERO {
        let rest = left % &right;
        (left, right) = (right, rest);
    }
    left
}
