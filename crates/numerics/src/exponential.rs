//! Powers of e.

use crate::digits::{RESULT_SCALE_MAX, SIGNIFICANT_DIGITS_MIN};
use crate::errors::Error;
use crate::number::{Numeric, Repr};
use crate::working::Working;

/// Decimal digits of a power of e, for each one of the exponent.
pub(crate) const DIGITS_OF_E: f64 = std::f64::consts::LOG10_E;

/// Decimal digits of a bit.
pub(crate) const DIGITS_OF_BIT: f64 = std::f64::consts::LOG10_2;

/// Exponents beyond this are too large, and powers of their negative are zero.
const EXPONENT_LIMIT: f64 = 6000.0;

/// Digits of estimates of results are within this, positive and negative.
const ESTIMATE_LIMIT: f64 = 2000.0;

impl Numeric {
    /// e to the power of the number, with at least 16 significant digits.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] from exponents of 6000 on, as in PostgreSQL.
    pub fn exp(&self) -> Result<Self, Error> {
        let Some(own) = self.scale() else {
            return Ok(match self.0 {
                Repr::NegativeInfinity => Self::ZERO,
                _ => self.clone(),
            });
        };
        let exponent = Working::of(self);
        let estimate = exponent.to_f64() * DIGITS_OF_E;
        let estimate = estimate.clamp(-ESTIMATE_LIMIT, ESTIMATE_LIMIT) as i32;
        let scale = (SIGNIFICANT_DIGITS_MIN - estimate).max(own).clamp(0, RESULT_SCALE_MAX);
        exp_at(&exponent, scale.unsigned_abs())
    }
}

/// e to the power of `exponent`, rounded to `scale`.
///
/// The exponent is halved until the series of the exponential function needs few terms; the sum is squared as many times.
pub(crate) fn exp_at(exponent: &Working, scale: u32) -> Result<Numeric, Error> {
    let estimate = exponent.to_f64();
    if estimate.abs() >= EXPONENT_LIMIT {
        return if estimate > 0.0 { Err(Error::Overflow) } else { Ok(Numeric::small(0, scale)) };
    }
    let halvings = halvings(estimate);
    let small = match halvings {
        0 => exponent.clone(),
        _ => exponent.over_integer(1 << halvings, exponent.scale + halvings as i32),
    };
    let integer_digits = (estimate * DIGITS_OF_E) as i32;
    let lost = (f64::from(halvings) * DIGITS_OF_BIT) as i32;
    let significant = (1 + integer_digits + scale as i32 + lost).max(0) + 8;
    let mut power = series(&small, significant - 1);
    for _ in 0..halvings {
        let places = significant - power.weight() * 2 * 4;
        power = power.times(&power, places.max(0));
    }
    power.finish(scale)
}

/// How often an exponent, less than [`EXPONENT_LIMIT`], is halved until it is at most 0.01.
fn halvings(mut exponent: f64) -> u32 {
    let mut halvings = 0;
    while exponent.abs() > 0.01 {
        exponent /= 2.0;
        halvings += 1;
    }
    halvings
}

/// 1 + x + x^2 / 2! + x^3 / 3! + ..., until terms are zero at `scale`.
fn series(x: &Working, scale: i32) -> Working {
    let mut sum = Working::integer(1).plus(x);
    let mut term = x.times(x, scale).over_integer(2, scale);
    let mut index = 2;
    while !term.is_zero() {
        sum = sum.plus(&term);
        index += 1;
        term = term.times(x, scale).over_integer(index, scale);
    }
    sum
}
