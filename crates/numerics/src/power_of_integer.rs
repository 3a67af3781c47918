//! Powers by an integer.

use crate::errors::Error;
use crate::number::{INTEGER_DIGITS_MAX, Numeric};
use crate::working::Working;

/// The greatest place in base 10000 that a digit can have.
const WEIGHT_MAX: i32 = INTEGER_DIGITS_MAX as i32 / 4 - 1;

/// `base` to the power of `exponent`, rounded to `scale`.
///
/// The base is squared for each bit of the exponent; steps have the digits that the result needs, and a few more.
pub(crate) fn integer_power(base: &Numeric, exponent: i32, scale: i32) -> Result<Numeric, Error> {
    let factor = Working::of(base);
    let one = Working::integer(1);
    let places = scale.unsigned_abs();
    match exponent {
        0 => return one.finish(places),
        1 => return factor.finish(places),
        -1 => return one.over(&factor, scale)?.finish(places),
        2 => return factor.times(&factor, scale).finish(places),
        _ if base.is_zero() => return Ok(Numeric::small(0, places)),
        _ => {}
    }
    let (digits, tens) = base.first_digits(4);
    let estimate = f64::from(exponent) * (digits.log10() + f64::from(tens));
    // Certainly too large, although the estimate is rounded.
    if estimate > f64::from(3 * WEIGHT_MAX * 4) {
        return Err(Error::Overflow);
    }
    if estimate + 1.0 < f64::from(-scale) {
        return Ok(Numeric::small(0, places));
    }
    let lost = f64::from(exponent).abs().ln() as i32;
    let significant = 1 + scale + estimate as i32 + lost + 8;
    match product(factor, exponent.unsigned_abs(), significant) {
        Some(power) if exponent > 0 => power.finish(places),
        Some(power) => one.over(&power, scale)?.finish(places),
        None if exponent > 0 => Err(Error::Overflow),
        None => Ok(Numeric::small(0, places)),
    }
}

/// `factor` to the power of `exponent` with so many significant digits; none if there are too many before the point.
fn product(mut factor: Working, mut exponent: u32, significant: i32) -> Option<Working> {
    let mut product = if exponent & 1 == 1 { factor.clone() } else { Working::integer(1) };
    exponent >>= 1;
    while exponent > 0 {
        let places = significant - 2 * factor.weight() * 4;
        factor = factor.times(&factor, places.min(2 * factor.scale).max(0));
        if exponent & 1 == 1 {
            let places = significant - (factor.weight() + product.weight()) * 4;
            product = factor.times(&product, places.min(factor.scale + product.scale).max(0));
        }
        if factor.weight() > WEIGHT_MAX || product.weight() > WEIGHT_MAX {
            return None;
        }
        exponent >>= 1;
    }
    Some(product)
}
