//! Numbers within a computation: with more digits than a result has, and rounded after each step.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint};

use crate::errors::Error;
use crate::number::Numeric;
use crate::powers_of_ten;

/// `value` divided by 10 to the power of `scale`. A negative scale means that digits before the point are left out.
#[derive(Clone, Debug)]
pub(crate) struct Working {
    pub(crate) value: BigInt,
    pub(crate) scale: i32,
}

impl Working {
    pub(crate) fn integer(value: i32) -> Self {
        Self { value: BigInt::from(value), scale: 0 }
    }

    /// The digits of a finite number; of others those of zero.
    pub(crate) fn of(number: &Numeric) -> Self {
        let (value, scale) = number.parts().unwrap_or_default();
        Self { value: value.into_owned(), scale: scale as i32 }
    }

    /// The number rounded to `scale`.
    pub(crate) fn finish(&self, scale: u32) -> Result<Numeric, Error> {
        Numeric::large(self.at(scale as i32), scale)
    }

    /// Rounded to `scale`; digits that are behind it already are not added.
    pub(crate) fn rounded(self, scale: i32) -> Self {
        if self.scale <= scale { self } else { Self { value: self.at(scale), scale } }
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let scale = self.scale.max(other.scale);
        Self { value: self.at(scale) + other.at(scale), scale }
    }

    /// The product, rounded to `scale`.
    pub(crate) fn times(&self, other: &Self, scale: i32) -> Self {
        let product = &self.value * &other.value;
        Self { value: product, scale: self.scale + other.scale }.rounded(scale)
    }

    /// The quotient, rounded to `scale`.
    ///
    /// # Errors
    ///
    /// [`Error::DivisionByZero`].
    pub(crate) fn over(&self, other: &Self, scale: i32) -> Result<Self, Error> {
        if other.is_zero() {
            return Err(Error::DivisionByZero);
        }
        let shift = scale + other.scale - self.scale;
        let zeros = shift.unsigned_abs();
        let value = if shift >= 0 {
            let value = powers_of_ten::scale_large(self.value.clone(), zeros);
            powers_of_ten::rounded_large(&value, &other.value)
        } else {
            let divisor = powers_of_ten::scale_large(other.value.clone(), zeros);
            powers_of_ten::rounded_large(&self.value, &divisor)
        };
        Ok(Self { value, scale })
    }

    /// The quotient by an integer other than zero, rounded to `scale`.
    pub(crate) fn over_integer(&self, divisor: u32, scale: i32) -> Self {
        match self.scale <= scale {
            true => {
                let value = powers_of_ten::rounded_large(&self.at(scale), &BigInt::from(divisor));
                Self { value, scale }
            }
            false => {
                let cut = (self.scale - scale).unsigned_abs();
                let divisor = powers_of_ten::scale_large(BigInt::from(divisor), cut);
                Self { value: powers_of_ten::rounded_large(&self.value, &divisor), scale }
            }
        }
    }

    /// The square root of a number that is not negative, rounded to `scale`.
    pub(crate) fn root(&self, scale: i32) -> Self {
        let value = rounded_root(self.value.magnitude(), self.scale, scale);
        Self { value: BigInt::from(value), scale }
    }

    pub(crate) fn compared(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        self.at(scale).cmp(&other.at(scale))
    }

    /// The place of the first digit in base 10000; 0 for zero.
    pub(crate) fn weight(&self) -> i32 {
        match powers_of_ten::digits_large(self.value.magnitude()) {
            0 => 0,
            digits => (digits as i32 - self.scale - 1).div_euclid(4),
        }
    }

    /// The next number of floating point: an infinity for what is too large, zero for what is too small.
    pub(crate) fn to_f64(&self) -> f64 {
        // All of these texts are numbers.
        format!("{}e{}", self.value, -self.scale).parse().unwrap_or(f64::NAN)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.value == BigInt::ZERO
    }

    /// The digits at `scale`, rounded.
    fn at(&self, scale: i32) -> BigInt {
        match scale - self.scale {
            0 => self.value.clone(),
            zeros @ 1.. => powers_of_ten::scale_large(self.value.clone(), zeros.unsigned_abs()),
            cut => powers_of_ten::shrink_large(&self.value, cut.unsigned_abs()),
        }
    }
}

/// The square root of `value`, whose scale is `own`, rounded to `scale`.
pub(crate) fn rounded_root(value: &BigUint, own: i32, scale: i32) -> BigUint {
    // The root with one digit more, cut off: which way it is rounded depends on no other digits.
    let places = 2 * (scale + 1) - own;
    let power = powers_of_ten::large(places.unsigned_abs());
    let root = match places {
        0.. => (value * power.as_ref()).sqrt(),
        _ => (value / power.as_ref()).sqrt(),
    };
    (root + 5u8) / 10u8
}
