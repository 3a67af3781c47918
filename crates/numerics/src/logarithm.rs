//! Logarithms.

use std::cmp::Ordering;

use crate::digits::{RESULT_SCALE_MAX, SIGNIFICANT_DIGITS_MIN};
use crate::errors::Error;
use crate::exponential::DIGITS_OF_BIT;
use crate::number::{Numeric, Repr};
use crate::working::Working;

/// The natural logarithm of 10.
const LN_10: f64 = std::f64::consts::LN_10;

impl Numeric {
    /// The natural logarithm, with at least 16 significant digits.
    ///
    /// # Errors
    ///
    /// [`Error::LogOfZero`] and [`Error::LogOfNegative`].
    pub fn ln(&self) -> Result<Self, Error> {
        self.check_logarithm()?;
        let Some(own) = self.scale() else { return Ok(self.clone()) };
        let scale = SIGNIFICANT_DIGITS_MIN - estimated_digits(self);
        let scale = scale.max(own).clamp(0, RESULT_SCALE_MAX);
        ln_at(self, scale).finish(scale.unsigned_abs())
    }

    /// The logarithm to base 10, with at least 16 significant digits.
    ///
    /// # Errors
    ///
    /// [`Error::LogOfZero`] and [`Error::LogOfNegative`].
    pub fn log10(&self) -> Result<Self, Error> {
        self.log(&Self::small(10, 0))
    }

    /// The logarithm to the given base, with at least 16 significant digits.
    ///
    /// # Errors
    ///
    /// [`Error::LogOfZero`] and [`Error::LogOfNegative`] for the base, too; [`Error::DivisionByZero`] for base 1.
    pub fn log(&self, base: &Self) -> Result<Self, Error> {
        if self.is_nan() || base.is_nan() {
            return Ok(Self::NAN);
        }
        let (Some(own), Some(base_scale)) = (self.scale(), base.scale()) else {
            return log_of_infinities(self, base);
        };
        base.check_logarithm()?;
        self.check_logarithm()?;
        let (digits, base_digits) = (estimated_digits(self), estimated_digits(base));
        let result_digits = digits - base_digits;
        let scale = (SIGNIFICANT_DIGITS_MIN - result_digits).max(base_scale).max(own);
        let scale = scale.clamp(0, RESULT_SCALE_MAX);
        let base_ln = ln_at(base, (scale + result_digits - base_digits + 8).max(0));
        let own_ln = ln_at(self, (scale + result_digits - digits + 8).max(0));
        own_ln.over(&base_ln, scale)?.finish(scale.unsigned_abs())
    }

    fn check_logarithm(&self) -> Result<(), Error> {
        match (self.is_zero(), self.is_negative()) {
            (true, _) => Err(Error::LogOfZero),
            (_, true) => Err(Error::LogOfNegative),
            _ => Ok(()),
        }
    }
}

/// A logarithm where the number or the base is infinite, and neither is NaN.
fn log_of_infinities(number: &Numeric, base: &Numeric) -> Result<Numeric, Error> {
    if number.is_negative() || base.is_negative() {
        return Err(Error::LogOfNegative);
    }
    if number.is_zero() || base.is_zero() {
        return Err(Error::LogOfZero);
    }
    Ok(match (&number.0, &base.0) {
        (Repr::Infinity, Repr::Infinity) => Numeric::NAN,
        (Repr::Infinity, _) => Numeric::INFINITY,
        _ => Numeric::ZERO,
    })
}

/// About the place of the first digit of the natural logarithm of a positive number: 0 is the one before the point.
pub(crate) fn estimated_digits(number: &Numeric) -> i32 {
    let (low, high) = near_one();
    if *number >= low && *number <= high {
        // The logarithm of 1 + x is about x.
        return match number.sub(&Numeric::ONE) {
            Ok(difference) if !difference.is_zero() => difference.integer_digits() - 1,
            _ => 0,
        };
    }
    let (digits, exponent) = number.first_digits(2);
    let logarithm = digits.ln() + f64::from(exponent) * LN_10;
    logarithm.abs().log10() as i32
}

/// 0.9 and 1.1: between them the series of the logarithm needs few terms.
fn near_one() -> (Numeric, Numeric) {
    (Numeric::small(9, 1), Numeric::small(11, 1))
}

/// The natural logarithm of a positive number, rounded to `scale`.
///
/// Square roots are taken until the number is near 1; the logarithm of the root is doubled as many times. It is twice
/// z + z^3 / 3 + z^5 / 5 + ... with z = (x - 1) / (x + 1).
pub(crate) fn ln_at(number: &Numeric, scale: i32) -> Working {
    let (root, roots) = near_one_by_roots(Working::of(number), scale);
    let places = scale + (f64::from(roots + 1) * DIGITS_OF_BIT) as i32 + 8;
    let numerator = root.plus(&Working::integer(-1));
    let denominator = root.plus(&Working::integer(1));
    // The denominator is more than one.
    let z = numerator.over(&denominator, places).unwrap_or_else(|_| Working::integer(0));
    let sum = series(z, places);
    let factor = Working { value: num_bigint::BigInt::from(2) << roots, scale: 0 };
    sum.times(&factor, scale)
}

/// The number after as many square roots as bring it near 1, and how many. Each leaves about half of the digits before the
/// point, and the scale follows, so that the number of significant digits stays.
fn near_one_by_roots(mut number: Working, scale: i32) -> (Working, u32) {
    let mut roots = 0;
    let bounds = [
        (Working { value: 9.into(), scale: 1 }, Ordering::Greater),
        (Working { value: 11.into(), scale: 1 }, Ordering::Less),
    ];
    for (bound, inside) in bounds {
        while number.compared(&bound) != inside {
            let places = scale - number.weight() * 4 / 2 + 8;
            number = number.root(places);
            roots += 1;
        }
    }
    (number, roots)
}

/// z + z^3 / 3 + z^5 / 5 + ..., until terms are zero at `scale`.
fn series(z: Working, scale: i32) -> Working {
    let square = z.times(&z, scale);
    let mut power = z.clone();
    let mut sum = z;
    let mut index = 1;
    loop {
        index += 2;
        power = power.times(&square, scale);
        let term = power.over_integer(index, scale);
        if term.is_zero() {
            return sum;
        }
        sum = sum.plus(&term);
    }
}
