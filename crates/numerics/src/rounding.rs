//! Rounding to a number of digits behind the point, and to integers.

use num_bigint::BigInt;

use crate::errors::Error;
use crate::number::{INTEGER_DIGITS_MAX, Numeric, Repr, SCALE_MAX};
use crate::powers_of_ten;

/// How digits that are cut off change the last one that stays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    HalfAwayFromZero,
    TowardsZero,
}

impl Numeric {
    /// Rounded to `places` digits behind the point, halves away from zero; negative places are before the point.
    pub fn round(&self, places: i32) -> Result<Self, Error> {
        self.at_places(places, Mode::HalfAwayFromZero)
    }

    /// Cut off after `places` digits behind the point; negative places are before the point.
    pub fn trunc(&self, places: i32) -> Result<Self, Error> {
        self.at_places(places, Mode::TowardsZero)
    }

    /// The least integer that is not less.
    pub fn ceil(&self) -> Result<Self, Error> {
        let whole = self.trunc(0)?;
        if whole < *self { whole.inc() } else { Ok(whole) }
    }

    /// The greatest integer that is not more.
    pub fn floor(&self) -> Result<Self, Error> {
        let whole = self.trunc(0)?;
        if whole > *self { whole.sub(&Self::ONE) } else { Ok(whole) }
    }

    /// How many digits behind the point are needed to write the number; none of NaN and infinities.
    pub fn min_scale(&self) -> Option<i32> {
        self.trim_scale().scale()
    }

    /// The same number with the least scale that shows all of its digits.
    pub fn trim_scale(&self) -> Self {
        match &self.0 {
            Repr::Small(0, _) => Self::ZERO,
            Repr::Small(coefficient, scale) => {
                let (mut coefficient, mut scale) = (*coefficient, *scale);
                while scale > 0 && coefficient % 10 == 0 {
                    coefficient /= 10;
                    scale -= 1;
                }
                Self::small(coefficient, u32::from(scale))
            }
            Repr::Large(large) => {
                let zeros = trailing_zeros(&large.coefficient, u32::from(large.scale));
                let coefficient = powers_of_ten::cut_large(&large.coefficient, zeros);
                Self::unchecked(coefficient, u32::from(large.scale) - zeros)
            }
            Repr::Nan | Repr::Infinity | Repr::NegativeInfinity => self.clone(),
        }
    }

    fn at_places(&self, places: i32, mode: Mode) -> Result<Self, Error> {
        // More places change no number.
        let places = places.clamp(-(INTEGER_DIGITS_MAX as i32) - 1, SCALE_MAX as i32);
        let Some(scale) = self.scale() else { return Ok(self.clone()) };
        let target = places.max(0).unsigned_abs();
        if places >= scale {
            return self.with_zeros(target);
        }
        // How many digits are cut off, and how many zeros replace those before the point.
        let cut = (scale - places).unsigned_abs();
        let zeros = places.min(0).unsigned_abs();
        if let Repr::Small(coefficient, _) = &self.0 {
            let kept = match mode {
                Mode::HalfAwayFromZero => powers_of_ten::shrink_small(*coefficient, cut),
                Mode::TowardsZero => {
                    powers_of_ten::small(cut).map_or(0, |power| coefficient / power)
                }
            };
            if let Some(coefficient) = powers_of_ten::scale_small(kept, zeros) {
                return Ok(Self::small(coefficient, target));
            }
            return Self::large(powers_of_ten::scale_large(BigInt::from(kept), zeros), target);
        }
        let (coefficient, _) = self.parts().unwrap_or_default();
        let kept = match mode {
            Mode::HalfAwayFromZero => powers_of_ten::shrink_large(&coefficient, cut),
            Mode::TowardsZero => powers_of_ten::cut_large(&coefficient, cut),
        };
        Self::large(powers_of_ten::scale_large(kept, zeros), target)
    }

    /// The same number with a scale that is not less than its own.
    fn with_zeros(&self, scale: u32) -> Result<Self, Error> {
        match &self.0 {
            Repr::Small(coefficient, own) => {
                let zeros = scale - u32::from(*own);
                match powers_of_ten::scale_small(*coefficient, zeros) {
                    Some(coefficient) => Ok(Self::small(coefficient, scale)),
                    None => Self::large(
                        powers_of_ten::scale_large(BigInt::from(*coefficient), zeros),
                        scale,
                    ),
                }
            }
            Repr::Large(large) => {
                let zeros = scale - u32::from(large.scale);
                Self::large(powers_of_ten::scale_large(large.coefficient.clone(), zeros), scale)
            }
            Repr::Nan | Repr::Infinity | Repr::NegativeInfinity => Ok(self.clone()),
        }
    }
}

/// How many of the last `limit` decimal digits of a number that is not zero are zeros, without a gap.
fn trailing_zeros(value: &BigInt, limit: u32) -> u32 {
    let digits = value.magnitude().to_radix_le(100);
    let pairs = digits.iter().take_while(|&&digit| digit == 0).count();
    let last = digits.get(pairs).is_some_and(|digit| digit % 10 == 0);
    (2 * pairs as u32 + u32::from(last)).min(limit)
}
