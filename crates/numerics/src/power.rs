//! Powers.

use crate::digits::{RESULT_SCALE_MAX, SIGNIFICANT_DIGITS_MIN};
use crate::errors::Error;
use crate::exponential::{DIGITS_OF_E, exp_at};
use crate::logarithm::{estimated_digits, ln_at};
use crate::number::Numeric;
use crate::power_of_integer::integer_power;
use crate::working::Working;

/// Exponents of e beyond this are too large, or their powers zero, however they are rounded.
const EXPONENT_LIMIT: f64 = 2000.0 * 3.01;

impl Numeric {
    /// The number to the power of `exponent`, with at least 16 significant digits where that is not an integer.
    ///
    /// # Errors
    ///
    /// [`Error::ZeroToNegative`], [`Error::NegativeToFraction`] and [`Error::Overflow`].
    pub fn power(&self, exponent: &Self) -> Result<Self, Error> {
        let (Some(own), Some(exponent_scale)) = (self.scale(), exponent.scale()) else {
            return power_of_specials(self, exponent);
        };
        if self.is_zero() && exponent.is_negative() {
            return Err(Error::ZeroToNegative);
        }
        let is_integral = exponent.is_integral();
        if is_integral && let Ok(exponent) = exponent.to_i32() {
            let scale = SIGNIFICANT_DIGITS_MIN.max(own).min(RESULT_SCALE_MAX);
            return integer_power(self, exponent, scale);
        }
        if self.is_zero() {
            return Ok(Self::small(0, SIGNIFICANT_DIGITS_MIN.unsigned_abs()));
        }
        if self.is_negative() && !is_integral {
            return Err(Error::NegativeToFraction);
        }
        let power = positive_power(&self.abs(), exponent, own.max(exponent_scale))?;
        Ok(if self.is_negative() && is_odd(exponent) { power.neg() } else { power })
    }
}

/// A positive number to the power of another: e to the power of the product of the logarithm and the exponent. `scales`
/// is the greater one of their scales.
fn positive_power(base: &Numeric, exponent: &Numeric, scales: i32) -> Result<Numeric, Error> {
    let logarithm_digits = estimated_digits(base);
    let exponent = Working::of(exponent);
    // With eight digits first, to know how many the result has.
    let places = (8 - logarithm_digits).max(0);
    let estimate = ln_at(base, places).times(&exponent, places).to_f64();
    if estimate.abs() > EXPONENT_LIMIT {
        return match estimate > 0.0 {
            true => Err(Error::Overflow),
            false => Ok(Numeric::small(0, RESULT_SCALE_MAX.unsigned_abs())),
        };
    }
    let integer_digits = (estimate * DIGITS_OF_E) as i32;
    let scale = (SIGNIFICANT_DIGITS_MIN - integer_digits).max(scales).clamp(0, RESULT_SCALE_MAX);
    let significant = (scale + integer_digits).max(0);
    let places = (significant - logarithm_digits + 8).max(0);
    exp_at(&ln_at(base, places).times(&exponent, places), scale.unsigned_abs())
}

/// A power of or by NaN or an infinity, by the rules of POSIX for `pow`.
fn power_of_specials(base: &Numeric, exponent: &Numeric) -> Result<Numeric, Error> {
    if *base == Numeric::ONE || exponent.is_zero() {
        return Ok(Numeric::ONE);
    }
    if base.is_nan() || exponent.is_nan() {
        return Ok(Numeric::NAN);
    }
    if base.is_zero() && exponent.is_negative() {
        return Err(Error::ZeroToNegative);
    }
    if base.is_negative() && !exponent.is_integral() {
        return Err(Error::NegativeToFraction);
    }
    if base.is_zero() {
        return Ok(Numeric::ZERO);
    }
    let magnitude = base.abs();
    if exponent.is_infinite() && magnitude == Numeric::ONE {
        return Ok(Numeric::ONE);
    }
    if (magnitude > Numeric::ONE) == exponent.is_negative() {
        return Ok(Numeric::ZERO);
    }
    Ok(Numeric::infinity(base.is_negative() && is_odd(exponent)))
}

/// Whether it is an odd integer.
fn is_odd(number: &Numeric) -> bool {
    match number.trim_scale().parts() {
        Some((value, 0)) => value.bit(0),
        _ => false,
    }
}
