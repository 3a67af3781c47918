//! Square roots.

use num_bigint::{BigInt, BigUint};

use crate::digits::{RESULT_SCALE_MAX, SIGNIFICANT_DIGITS_MIN};
use crate::errors::Error;
use crate::number::Numeric;
use crate::powers_of_ten;

impl Numeric {
    /// The square root, with at least 16 significant digits.
    ///
    /// # Errors
    ///
    /// [`Error::NegativeRoot`].
    pub fn sqrt(&self) -> Result<Self, Error> {
        if self.is_negative() {
            return Err(Error::NegativeRoot);
        }
        let Some(own) = self.scale() else { return Ok(self.clone()) };
        let weight = (self.weight() + 1) * 4 / 2 - 1;
        let scale = (SIGNIFICANT_DIGITS_MIN - weight).max(own).clamp(0, RESULT_SCALE_MAX);
        self.sqrt_at(scale.unsigned_abs())
    }

    /// The square root of a finite number that is not negative, rounded to `scale`.
    fn sqrt_at(&self, scale: u32) -> Result<Self, Error> {
        let (value, own) = self.parts().unwrap_or_default();
        Self::large(BigInt::from(rounded_root(value.magnitude(), own, scale)), scale)
    }
}

/// The square root of `value`, whose scale is `own`, rounded to `scale`.
pub(crate) fn rounded_root(value: &BigUint, own: u32, scale: u32) -> BigUint {
    // The root with one digit more, cut off: which way it is rounded depends on no other digits.
    let places = 2 * (scale as i32 + 1) - own as i32;
    let power = powers_of_ten::large(places.unsigned_abs());
    let root = if places >= 0 { value * power } else { value / power }.sqrt();
    (root + 5u8) / 10u8
}
