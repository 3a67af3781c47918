//! Sums, differences, products and signs.
//!
//! The scale of a sum is the greater one of its operands, that of a product their sum.

use num_bigint::BigInt;

use crate::errors::Error;
use crate::number::{Numeric, Repr, SCALE_MAX};
use crate::powers_of_ten;

impl Numeric {
    /// The sum. Infinities of different signs have none: NaN.
    pub fn add(&self, other: &Self) -> Result<Self, Error> {
        if let Some((left, right, scale)) = aligned_small(self, other)
            && let Some(sum) = left.checked_add(right)
        {
            return Ok(Self::small(sum, scale));
        }
        match aligned_large(self, other) {
            Some((left, right, scale)) => Self::large(left + right, scale),
            None => Ok(sum_of_specials(self, other)),
        }
    }

    /// The difference. Equal infinities have none: NaN.
    pub fn sub(&self, other: &Self) -> Result<Self, Error> {
        if let Some((left, right, scale)) = aligned_small(self, other)
            && let Some(difference) = left.checked_sub(right)
        {
            return Ok(Self::small(difference, scale));
        }
        match aligned_large(self, other) {
            Some((left, right, scale)) => Self::large(left - right, scale),
            None => Ok(sum_of_specials(self, &other.neg())),
        }
    }

    /// The product; NaN for zero times an infinity. What has more than [`SCALE_MAX`] digits behind the point is rounded.
    pub fn mul(&self, other: &Self) -> Result<Self, Error> {
        if let (Repr::Small(left, left_scale), Repr::Small(right, right_scale)) =
            (&self.0, &other.0)
            && let Some(product) = left.checked_mul(*right)
        {
            let scale = u32::from(*left_scale) + u32::from(*right_scale);
            let excess = scale.saturating_sub(SCALE_MAX);
            return Ok(Self::small(powers_of_ten::shrink_small(product, excess), scale - excess));
        }
        let (Some((left, left_scale)), Some((right, right_scale))) = (self.parts(), other.parts())
        else {
            return Ok(product_of_specials(self, other));
        };
        let product = left.as_ref() * right.as_ref();
        match (left_scale + right_scale).checked_sub(SCALE_MAX) {
            None | Some(0) => Self::large(product, left_scale + right_scale),
            Some(excess) => Self::large(powers_of_ten::shrink_large(&product, excess), SCALE_MAX),
        }
    }

    /// The number of the other sign.
    pub fn neg(&self) -> Self {
        match &self.0 {
            Repr::NegativeInfinity => Self::INFINITY,
            Repr::Infinity => Self::NEGATIVE_INFINITY,
            Repr::Nan => Self::NAN,
            Repr::Small(coefficient, scale) => match coefficient.checked_neg() {
                Some(negated) => Self::small(negated, u32::from(*scale)),
                None => Self::unchecked(-BigInt::from(*coefficient), u32::from(*scale)),
            },
            Repr::Large(large) => Self::unchecked(-&large.coefficient, u32::from(large.scale)),
        }
    }

    /// The number without its sign.
    pub fn abs(&self) -> Self {
        if self.is_negative() { self.neg() } else { self.clone() }
    }

    /// -1, 0 or 1 as the number is less than, equal to or more than zero; NaN for NaN.
    pub fn signum(&self) -> Self {
        match (self.is_nan(), self.is_zero(), self.is_negative()) {
            (true, ..) => Self::NAN,
            (_, true, _) => Self::ZERO,
            (.., true) => Self::from(-1i32),
            (.., false) => Self::ONE,
        }
    }

    /// The number plus one.
    pub fn inc(&self) -> Result<Self, Error> {
        self.add(&Self::ONE)
    }
}

/// The digits of both numbers at the greater one of their scales, and that scale.
pub(crate) fn aligned_small(left: &Numeric, right: &Numeric) -> Option<(i128, i128, u32)> {
    let (left, left_scale) = left.small_parts()?;
    let (right, right_scale) = right.small_parts()?;
    let scale = left_scale.max(right_scale);
    let left = powers_of_ten::scale_small(left, scale - left_scale)?;
    let right = powers_of_ten::scale_small(right, scale - right_scale)?;
    Some((left, right, scale))
}

/// As [`aligned_small`], for digits of any length.
pub(crate) fn aligned_large(left: &Numeric, right: &Numeric) -> Option<(BigInt, BigInt, u32)> {
    let (left, left_scale) = left.parts()?;
    let (right, right_scale) = right.parts()?;
    let scale = left_scale.max(right_scale);
    let left = powers_of_ten::scale_large(left.into_owned(), scale - left_scale);
    let right = powers_of_ten::scale_large(right.into_owned(), scale - right_scale);
    Some((left, right, scale))
}

/// The sum of numbers not both of which are finite.
fn sum_of_specials(left: &Numeric, right: &Numeric) -> Numeric {
    match (&left.0, &right.0) {
        (Repr::Nan, _) | (_, Repr::Nan) => Numeric::NAN,
        (Repr::Infinity, Repr::NegativeInfinity) | (Repr::NegativeInfinity, Repr::Infinity) => {
            Numeric::NAN
        }
        _ if left.is_infinite() => left.clone(),
        _ => right.clone(),
    }
}

/// The product of numbers not both of which are finite.
fn product_of_specials(left: &Numeric, right: &Numeric) -> Numeric {
    if left.is_nan() || right.is_nan() || left.is_zero() || right.is_zero() {
        return Numeric::NAN;
    }
    Numeric::infinity(left.is_negative() != right.is_negative())
}
