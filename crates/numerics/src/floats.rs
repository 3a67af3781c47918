//! Numbers from and to floating point.

use crate::errors::Error;
use crate::number::{Numeric, Repr};

/// Significant digits of `double precision` and `real` that become digits of a number.
const DOUBLE_DIGITS: usize = 15;
const REAL_DIGITS: usize = 6;

impl Numeric {
    /// The number of 15 significant digits that is next to `value`, with no zeros at the end of its scale.
    pub fn from_f64(value: f64) -> Self {
        // An integer of at most 15 digits has all of them.
        if value.trunc() == value && value.abs() < 1e15 {
            return Self::small(value as i128, 0);
        }
        from_scientific(value.is_nan(), &format!("{value:.*e}", DOUBLE_DIGITS - 1))
    }

    /// The number of 6 significant digits that is next to `value`, with no zeros at the end of its scale.
    pub fn from_f32(value: f32) -> Self {
        from_scientific(value.is_nan(), &format!("{value:.*e}", REAL_DIGITS - 1))
    }

    /// As `double precision`: the next one, NaN and infinities as they are.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfFloatRange`] if it would become an infinity, or zero without being zero.
    pub fn to_f64(&self) -> Result<f64, Error> {
        if let Some(value) = self.exact_quotient() {
            return Ok(value);
        }
        let text = self.to_string();
        match text.parse::<f64>() {
            Ok(value) if self.survives(value == 0.0, value.is_infinite()) => Ok(value),
            _ => Err(Error::OutOfFloatRange { text, target: "double precision" }),
        }
    }

    /// As `real`: the next one, NaN and infinities as they are.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfFloatRange`] if it would become an infinity, or zero without being zero.
    pub fn to_f32(&self) -> Result<f32, Error> {
        let text = self.to_string();
        match text.parse::<f32>() {
            Ok(value) if self.survives(value == 0.0, value.is_infinite()) => Ok(value),
            _ => Err(Error::OutOfFloatRange { text, target: "real" }),
        }
    }

    /// The number as the quotient of two that floating point has exactly, so that it is rounded once.
    fn exact_quotient(&self) -> Option<f64> {
        const INTEGERS_EXACT_MAX: u128 = 1 << 53;
        const POWERS_EXACT: [f64; 23] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
        ];
        let Repr::Small(coefficient, scale) = &self.0 else { return None };
        if coefficient.unsigned_abs() > INTEGERS_EXACT_MAX {
            return None;
        }
        Some(*coefficient as f64 / POWERS_EXACT.get(usize::from(*scale))?)
    }

    /// Whether floating point that is zero or infinite as told is still this number.
    fn survives(&self, zero: bool, infinite: bool) -> bool {
        zero == self.is_zero() && infinite == self.is_infinite()
    }
}

/// The number of `text`, which has an exponent or names no finite number.
fn from_scientific(nan: bool, text: &str) -> Numeric {
    if nan {
        return Numeric::NAN;
    }
    // All texts of floating point are numbers: at most 15 digits and an exponent of three.
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            Numeric::parse(&format!("{digits}e{exponent}")).unwrap_or_default()
        }
        None => Numeric::infinity(text.starts_with('-')),
    }
}
