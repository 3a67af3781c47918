//! A sum of any length that is fast while it fits 128 bits.

use num_bigint::BigInt;

use crate::powers_of_ten;

/// The sum of two parts, both divided by 10 to the power of the scale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accumulator {
    scale: u32,
    small: i128,
    large: Option<Box<BigInt>>,
}

impl Accumulator {
    /// The sum that has so far the digits `value` at `scale`.
    pub(crate) fn new(value: BigInt, scale: u32) -> Self {
        match i128::try_from(&value) {
            Ok(small) => Self { scale, small, large: None },
            Err(_) => Self { scale, small: 0, large: Some(Box::new(value)) },
        }
    }

    /// Adds `value` divided by 10 to the power of `scale`.
    #[inline]
    pub(crate) fn add_small(&mut self, value: i128, scale: u32) {
        if scale == self.scale
            && let Some(sum) = self.small.checked_add(value)
        {
            self.small = sum;
            return;
        }
        self.add_unaligned(value, scale);
    }

    fn add_unaligned(&mut self, value: i128, scale: u32) {
        if scale > self.scale {
            self.raise(scale);
        }
        if let Some(value) = powers_of_ten::scale_small(value, self.scale - scale)
            && let Some(sum) = self.small.checked_add(value)
        {
            self.small = sum;
            return;
        }
        self.add_large(BigInt::from(value), scale);
    }

    /// Adds `value` divided by 10 to the power of `scale`.
    pub(crate) fn add_large(&mut self, value: BigInt, scale: u32) {
        if scale > self.scale {
            self.raise(scale);
        }
        let value = powers_of_ten::scale_large(value, self.scale - scale);
        **self.large.get_or_insert_default() += value + std::mem::take(&mut self.small);
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.add_small(other.small, other.scale);
        if let Some(large) = &other.large {
            self.add_large(BigInt::clone(large), other.scale);
        }
    }

    /// The digits of the sum at `scale`; digits behind it are cut off.
    pub(crate) fn value(&self, scale: u32) -> BigInt {
        let mut value = BigInt::from(self.small);
        if let Some(large) = &self.large {
            value += large.as_ref();
        }
        match self.scale.checked_sub(scale) {
            Some(0) => value,
            Some(cut) => powers_of_ten::cut_large(&value, cut),
            None => powers_of_ten::scale_large(value, scale - self.scale),
        }
    }

    /// As [`Accumulator::value`], where the sum and all steps to it fit 128 bits.
    pub(crate) fn small_value(&self, scale: u32) -> Option<i128> {
        if self.large.is_some() {
            return None;
        }
        match self.scale.checked_sub(scale) {
            Some(0) => Some(self.small),
            Some(cut) => Some(self.small / powers_of_ten::small(cut)?),
            None => powers_of_ten::scale_small(self.small, scale - self.scale),
        }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        let bytes = |large: &BigInt| size_of::<BigInt>() + large.bits().div_ceil(8) as usize;
        self.large.as_deref().map_or(0, bytes)
    }

    /// Gives the sum a greater scale.
    fn raise(&mut self, scale: u32) {
        let zeros = scale - self.scale;
        self.scale = scale;
        if let Some(large) = &mut self.large {
            **large = powers_of_ten::scale_large(std::mem::take(&mut **large), zeros);
        }
        match powers_of_ten::scale_small(self.small, zeros) {
            Some(small) => self.small = small,
            None => {
                let small = BigInt::from(std::mem::take(&mut self.small));
                **self.large.get_or_insert_default() += powers_of_ten::scale_large(small, zeros);
            }
        }
    }
}
