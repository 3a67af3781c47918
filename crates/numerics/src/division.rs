//! Quotients and remainders.
//!
//! The scale of a quotient gives it at least 16 significant digits, and at least the scales of its operands.

use crate::arithmetic::{aligned_large, aligned_small};
use crate::digits::{Leading, RESULT_SCALE_MAX, SIGNIFICANT_DIGITS_MIN};
use crate::errors::Error;
use crate::number::{Numeric, Repr};
use crate::powers_of_ten;
use crate::working::Working;

impl Numeric {
    /// The quotient, rounded to the scale that PostgreSQL chooses.
    pub fn div(&self, other: &Self) -> Result<Self, Error> {
        if let Some(quotient) = quotient_of_specials(self, other)? {
            return Ok(quotient);
        }
        self.div_at(other, quotient_scale(self, other))
    }

    /// The quotient, rounded to `scale`, of finite numbers of which the second is not zero.
    pub(crate) fn div_at(&self, other: &Self, scale: u32) -> Result<Self, Error> {
        if let (Some((left, left_scale)), Some((right, right_scale))) =
            (self.small_parts(), other.small_parts())
            && let Some(shift) = (scale + right_scale).checked_sub(left_scale)
            && let Some(left) = powers_of_ten::scale_small(left, shift)
            && right != -1
        {
            return Ok(Self::small(powers_of_ten::rounded_small(left, right), scale));
        }
        Working::of(self).over(&Working::of(other), scale as i32)?.finish(scale)
    }

    /// The quotient without its digits behind the point.
    pub fn div_trunc(&self, other: &Self) -> Result<Self, Error> {
        if let Some(quotient) = quotient_of_specials(self, other)? {
            return Ok(quotient);
        }
        if let Some((left, right, _)) = aligned_small(self, other)
            && let Some(quotient) = left.checked_div(right)
        {
            return Ok(Self::small(quotient, 0));
        }
        match aligned_large(self, other) {
            Some((left, right, _)) => Self::large(left / right, 0),
            None => Ok(Self::NAN),
        }
    }

    /// The remainder of [`Numeric::div_trunc`], with the sign of `self`.
    pub fn rem(&self, other: &Self) -> Result<Self, Error> {
        match (&self.0, &other.0) {
            (Repr::Nan, _) | (_, Repr::Nan) => return Ok(Self::NAN),
            _ if other.is_zero() => return Err(Error::DivisionByZero),
            _ if self.is_infinite() => return Ok(Self::NAN),
            _ if other.is_infinite() => return Ok(self.clone()),
            _ => {}
        }
        if let Some((left, right, scale)) = aligned_small(self, other)
            && let Some(rest) = left.checked_rem(right)
        {
            return Ok(Self::small(rest, scale));
        }
        match aligned_large(self, other) {
            Some((left, right, scale)) => Self::large(left % right, scale),
            None => Ok(Self::NAN),
        }
    }
}

/// What the quotient is if it does not depend on digits.
fn quotient_of_specials(left: &Numeric, right: &Numeric) -> Result<Option<Numeric>, Error> {
    if left.is_nan() || right.is_nan() {
        return Ok(Some(Numeric::NAN));
    }
    if left.is_infinite() && right.is_infinite() {
        return Ok(Some(Numeric::NAN));
    }
    if right.is_zero() {
        return Err(Error::DivisionByZero);
    }
    if left.is_infinite() {
        return Ok(Some(Numeric::infinity(left.is_negative() != right.is_negative())));
    }
    Ok(right.is_infinite().then_some(Numeric::ZERO))
}

/// The scale of the quotient of finite numbers.
pub(crate) fn quotient_scale(left: &Numeric, right: &Numeric) -> u32 {
    let scales = left.scale().unwrap_or(0).max(right.scale().unwrap_or(0));
    scale_of_quotient(left.leading(), right.leading(), scales)
}

/// The scale of a quotient, by the first digits of its operands and the greater one of their scales.
pub(crate) fn scale_of_quotient(left: Leading, right: Leading, scales: i32) -> u32 {
    let mut weight = left.weight - right.weight;
    if left.digit <= right.digit {
        weight -= 1;
    }
    let scale = SIGNIFICANT_DIGITS_MIN - weight * 4;
    scale.max(scales).clamp(0, RESULT_SCALE_MAX).unsigned_abs()
}
