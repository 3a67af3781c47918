//! [`Numeric`]: what a number is, and how it comes to be.

use std::borrow::Cow;

use num_bigint::{BigInt, Sign};

use crate::errors::Error;
use crate::powers_of_ten;

/// The most digits behind the point.
pub const SCALE_MAX: u32 = 16383;

/// The most digits before the point.
pub const INTEGER_DIGITS_MAX: u32 = 131_072;

/// A number as PostgreSQL's `numeric` has it: NaN, an infinity, or digits with a display scale.
///
/// Numbers are compared and hashed by value: `1.0` equals `1.00`, NaN equals itself and is the greatest.
#[derive(Clone, Debug)]
pub struct Numeric(pub(crate) Repr);

/// How a number is kept. Digits that fit 128 bits are always `Small`.
#[derive(Clone, Debug)]
pub(crate) enum Repr {
    NegativeInfinity,
    /// The first divided by 10 to the power of the second, which is the display scale.
    Small(i128, u16),
    Large(Box<Large>),
    Infinity,
    Nan,
}

/// A number whose digits do not fit 128 bits.
#[derive(Clone, Debug)]
pub(crate) struct Large {
    pub(crate) coefficient: BigInt,
    pub(crate) scale: u16,
}

impl Numeric {
    /// Not a number; equal to itself and greater than all others, as in PostgreSQL.
    pub const NAN: Numeric = Numeric(Repr::Nan);
    /// More than every finite number.
    pub const INFINITY: Numeric = Numeric(Repr::Infinity);
    /// Less than every finite number.
    pub const NEGATIVE_INFINITY: Numeric = Numeric(Repr::NegativeInfinity);
    /// Zero with scale 0.
    pub const ZERO: Numeric = Numeric(Repr::Small(0, 0));
    /// One with scale 0.
    pub const ONE: Numeric = Numeric(Repr::Small(1, 0));

    /// Zero with scale 0.
    pub fn zero() -> Self {
        Self::ZERO
    }

    /// One with scale 0.
    pub fn one() -> Self {
        Self::ONE
    }

    /// `coefficient` divided by 10 to the power of `scale`, as Arrow's decimals are: a negative scale means zeros before
    /// the point. A scale above [`SCALE_MAX`] is rounded to it.
    ///
    /// # Panics
    ///
    /// If the number has more than [`INTEGER_DIGITS_MAX`] digits before the point, that is, for scales far below those
    /// of decimals.
    pub fn from_i128(coefficient: i128, scale: i32) -> Self {
        if scale > SCALE_MAX as i32 {
            let excess = scale as u32 - SCALE_MAX;
            return Self::small(powers_of_ten::shrink_small(coefficient, excess), SCALE_MAX);
        }
        if scale >= 0 {
            return Self::small(coefficient, scale as u32);
        }
        let zeros = scale.unsigned_abs();
        assert!(zeros + 39 <= INTEGER_DIGITS_MAX, "a scale of {scale} is none of a decimal");
        match powers_of_ten::scale_small(coefficient, zeros) {
            Some(coefficient) => Self::small(coefficient, 0),
            None => {
                Self::unchecked(powers_of_ten::scale_large(BigInt::from(coefficient), zeros), 0)
            }
        }
    }

    /// `coefficient` divided by 10 to the power of `scale`, which is at most [`SCALE_MAX`].
    pub(crate) fn small(coefficient: i128, scale: u32) -> Self {
        debug_assert!(scale <= SCALE_MAX);
        Self(Repr::Small(coefficient, scale as u16))
    }

    /// As [`Numeric::large`], of a number that has digits within the limits.
    pub(crate) fn unchecked(coefficient: BigInt, scale: u32) -> Self {
        debug_assert!(scale <= SCALE_MAX);
        match i128::try_from(&coefficient) {
            Ok(coefficient) => Self::small(coefficient, scale),
            Err(_) => Self(Repr::Large(Box::new(Large { coefficient, scale: scale as u16 }))),
        }
    }

    /// `coefficient` divided by 10 to the power of `scale`, which is at most [`SCALE_MAX`].
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if there are too many digits before the point.
    pub(crate) fn large(coefficient: BigInt, scale: u32) -> Result<Self, Error> {
        let digits_max = INTEGER_DIGITS_MAX + scale;
        // A bit is a little more than 0.3 digits; 3.3219 bits are a little less than one.
        let bits = coefficient.bits();
        if bits > u64::from(digits_max) * 33219 / 10_000
            && (bits > u64::from(digits_max) * 33220 / 10_000 + 1
                || coefficient.magnitude() >= powers_of_ten::large(digits_max).as_ref())
        {
            return Err(Error::Overflow);
        }
        Ok(Self::unchecked(coefficient, scale))
    }

    /// The infinity of the sign.
    pub(crate) fn infinity(negative: bool) -> Self {
        if negative { Self::NEGATIVE_INFINITY } else { Self::INFINITY }
    }

    /// Whether it is NaN.
    pub fn is_nan(&self) -> bool {
        matches!(self.0, Repr::Nan)
    }

    /// Whether it is an infinity.
    pub fn is_infinite(&self) -> bool {
        matches!(self.0, Repr::Infinity | Repr::NegativeInfinity)
    }

    /// Whether it is neither NaN nor an infinity.
    pub fn is_finite(&self) -> bool {
        matches!(self.0, Repr::Small(..) | Repr::Large(_))
    }

    /// Whether it equals zero.
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small(0, _))
    }

    /// Whether it is less than zero.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::NegativeInfinity => true,
            Repr::Small(coefficient, _) => *coefficient < 0,
            Repr::Large(large) => large.coefficient.sign() == Sign::Minus,
            Repr::Infinity | Repr::Nan => false,
        }
    }

    /// How many digits behind the point are shown; none of NaN and infinities.
    pub fn scale(&self) -> Option<i32> {
        match &self.0 {
            Repr::Small(_, scale) => Some(i32::from(*scale)),
            Repr::Large(large) => Some(i32::from(large.scale)),
            Repr::NegativeInfinity | Repr::Infinity | Repr::Nan => None,
        }
    }

    /// Digits and scale of a finite number whose digits fit 128 bits.
    pub fn small_parts(&self) -> Option<(i128, u32)> {
        match &self.0 {
            Repr::Small(coefficient, scale) => Some((*coefficient, u32::from(*scale))),
            _ => None,
        }
    }

    /// Digits and scale of a finite number.
    pub(crate) fn parts(&self) -> Option<(Cow<'_, BigInt>, u32)> {
        match &self.0 {
            Repr::Small(coefficient, scale) => {
                Some((Cow::Owned(BigInt::from(*coefficient)), u32::from(*scale)))
            }
            Repr::Large(large) => Some((Cow::Borrowed(&large.coefficient), u32::from(large.scale))),
            Repr::NegativeInfinity | Repr::Infinity | Repr::Nan => None,
        }
    }
}

impl Default for Numeric {
    fn default() -> Self {
        Self::ZERO
    }
}

impl From<i64> for Numeric {
    fn from(value: i64) -> Self {
        Self::small(i128::from(value), 0)
    }
}

impl From<i32> for Numeric {
    fn from(value: i32) -> Self {
        Self::small(i128::from(value), 0)
    }
}

impl From<i16> for Numeric {
    fn from(value: i16) -> Self {
        Self::small(i128::from(value), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_of_any_scale_are_numbers() {
        for (coefficient, scale, expected) in [
            (150, 2, "1.50"),
            (-5, 3, "-0.005"),
            (12, -3, "12000"),
            (i128::MIN, 0, "-170141183460469231731687303715884105728"),
            (i128::MAX, -3, "170141183460469231731687303715884105727000"),
        ] {
            assert_eq!(Numeric::from_i128(coefficient, scale).to_string(), expected);
        }
        assert_eq!(Numeric::from_i128(15, 16384).to_string().len(), 16_385);
    }

    #[test]
    fn the_least_number_of_128_bits_changes_its_sign() {
        let least = Numeric::from_i128(i128::MIN, 2);
        assert_eq!(least.neg().to_string(), "1701411834604692317316873037158841057.28");
        assert_eq!(least.neg().neg().small_parts(), Some((i128::MIN, 2)));
        assert_eq!(least.abs(), least.neg());
        assert_eq!(
            least.div(&Numeric::from(-1i32)).map(|quotient| quotient == least.neg()),
            Ok(true)
        );
        assert_eq!(
            least.div_trunc(&Numeric::small(-1, 2)).map(|quotient| quotient.scale()),
            Ok(Some(0))
        );
        assert_eq!(least.rem(&Numeric::small(-1, 2)), Ok(Numeric::ZERO));
    }
}
