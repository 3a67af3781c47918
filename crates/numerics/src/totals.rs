//! [`Totals`]: the state of `sum`, `avg`, `var_*` and `stddev_*`.

use num_bigint::BigInt;

use crate::accumulator::Accumulator;
use crate::digits::Leading;
use crate::division::scale_of_quotient;
use crate::errors::Error;
use crate::number::{Numeric, Repr, SCALE_MAX};
use crate::powers_of_ten;
use crate::working::rounded_root;

/// Count, sum and, if wanted, sum of squares of numbers.
///
/// The scale of a sum is the greatest one of its numbers; for windows, which remove numbers again, it is known how many
/// there are of each. NaN and infinities are counted apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The greatest scale of the finite numbers, and how many have it; of no numbers both are 0.
    pub(crate) scale: u32,
    pub(crate) at_scale: u64,
    /// The other scales in ascending order, and how many numbers have them: no less than one.
    pub(crate) lower: Vec<(u32, u64)>,
    /// How many finite numbers there are.
    pub(crate) finite: u64,
    pub(crate) nans: u64,
    pub(crate) infinities: u64,
    pub(crate) negative_infinities: u64,
    pub(crate) sum: Accumulator,
    pub(crate) squares: Option<Accumulator>,
}

impl Totals {
    /// The state of no numbers. Variances and deviations need the squares.
    pub fn new(with_squares: bool) -> Self {
        Self { squares: with_squares.then(Accumulator::default), ..Self::default() }
    }

    /// Adds a number.
    #[inline]
    pub fn add(&mut self, number: &Numeric) {
        match &number.0 {
            Repr::Small(value, scale) => self.add_small(*value, u32::from(*scale)),
            Repr::Large(large) => {
                let scale = u32::from(large.scale);
                self.count_scale(scale);
                if let Some(squares) = &mut self.squares {
                    squares.add_large(&large.coefficient * &large.coefficient, 2 * scale);
                }
                self.sum.add_large(large.coefficient.clone(), scale);
            }
            Repr::Nan => self.nans += 1,
            Repr::Infinity => self.infinities += 1,
            Repr::NegativeInfinity => self.negative_infinities += 1,
        }
    }

    /// Adds `coefficient` divided by 10 to the power of `scale`, as decimals and integers are.
    #[inline]
    pub fn add_i128(&mut self, coefficient: i128, scale: i32) {
        match u32::try_from(scale) {
            Ok(scale) if scale <= SCALE_MAX => self.add_small(coefficient, scale),
            _ => self.add(&Numeric::from_i128(coefficient, scale)),
        }
    }

    /// Adds `count` numbers that have the scale `scale` and are `sum` divided by 10 to the power of it together: a column
    /// of integers or decimals is summed faster outside.
    ///
    /// # Panics
    ///
    /// If the state has squares, which sums do not tell.
    pub fn add_sum(&mut self, sum: i128, count: u64, scale: u16) {
        assert!(self.squares.is_none(), "squares are not known from a sum");
        let scale = u32::from(scale).min(SCALE_MAX);
        if count > 0 {
            self.count_scales(scale, count);
            self.sum.add_small(sum, scale);
        }
    }

    #[inline]
    fn add_small(&mut self, value: i128, scale: u32) {
        self.count_scale(scale);
        if let Some(squares) = &mut self.squares {
            match value.checked_mul(value) {
                Some(square) => squares.add_small(square, 2 * scale),
                None => squares.add_large(BigInt::from(value) * value, 2 * scale),
            }
        }
        self.sum.add_small(value, scale);
    }

    /// Takes a number that was added away again.
    pub fn remove(&mut self, number: &Numeric) {
        match (&number.0, number.parts()) {
            (Repr::Nan, _) => self.nans = self.nans.saturating_sub(1),
            (Repr::Infinity, _) => self.infinities = self.infinities.saturating_sub(1),
            (Repr::NegativeInfinity, _) => {
                self.negative_infinities = self.negative_infinities.saturating_sub(1);
            }
            (Repr::Small(value, scale), _) => self.remove_small(*value, u32::from(*scale)),
            (_, Some((value, scale))) => {
                self.uncount_scale(scale);
                if let Some(squares) = &mut self.squares {
                    squares.add_large(-(value.as_ref() * value.as_ref()), 2 * scale);
                }
                self.sum.add_large(-value.into_owned(), scale);
            }
            (_, None) => {}
        }
    }

    fn remove_small(&mut self, value: i128, scale: u32) {
        self.uncount_scale(scale);
        if let Some(squares) = &mut self.squares {
            match value.checked_mul(value) {
                Some(square) => squares.add_small(-square, 2 * scale),
                None => squares.add_large(-(BigInt::from(value) * value), 2 * scale),
            }
        }
        match value.checked_neg() {
            Some(value) => self.sum.add_small(value, scale),
            None => self.sum.add_large(-BigInt::from(value), scale),
        }
    }

    /// Adds all numbers of another state.
    pub fn merge(&mut self, other: &Self) {
        for (scale, count) in other.scales() {
            self.count_scales(scale, count);
        }
        self.nans = self.nans.saturating_add(other.nans);
        self.infinities = self.infinities.saturating_add(other.infinities);
        self.negative_infinities =
            self.negative_infinities.saturating_add(other.negative_infinities);
        self.sum.merge(&other.sum);
        if let (Some(squares), Some(others)) = (&mut self.squares, &other.squares) {
            squares.merge(others);
        }
    }

    /// How many numbers there are, with NaN and infinities.
    pub fn count(&self) -> u64 {
        self.finite + self.nans + self.infinities + self.negative_infinities
    }

    /// The sum; none of no numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`].
    pub fn sum(&self) -> Result<Option<Numeric>, Error> {
        if self.count() == 0 {
            return Ok(None);
        }
        if let Some(special) = self.special() {
            return Ok(Some(special));
        }
        if let Some(sum) = self.sum.small_value(self.scale) {
            return Ok(Some(Numeric::small(sum, self.scale)));
        }
        Numeric::large(self.sum.value(self.scale), self.scale).map(Some)
    }

    /// The sum divided by the count; none of no numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if the sum has too many digits.
    pub fn avg(&self) -> Result<Option<Numeric>, Error> {
        let Some(sum) = self.sum()? else { return Ok(None) };
        if !sum.is_finite() {
            return Ok(Some(sum));
        }
        sum.div(&Numeric::small(i128::from(self.finite), 0)).map(Some)
    }

    /// The variance, of a sample or the population; none of no numbers, and of a sample of one.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`].
    pub fn variance(&self, sample: bool) -> Result<Option<Numeric>, Error> {
        match self.spread(sample) {
            Spread::None => Ok(None),
            Spread::Known(number) => Ok(Some(number)),
            Spread::Variance(value, scale) => Numeric::large(value, scale).map(Some),
        }
    }

    /// The standard deviation, of a sample or the population; none of no numbers, and of a sample of one.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`].
    pub fn stddev(&self, sample: bool) -> Result<Option<Numeric>, Error> {
        match self.spread(sample) {
            Spread::None => Ok(None),
            Spread::Known(number) => Ok(Some(number)),
            Spread::Variance(value, scale) => {
                let root = rounded_root(value.magnitude(), scale as i32, scale as i32);
                Numeric::large(BigInt::from(root), scale).map(Some)
            }
        }
    }

    /// Bytes in memory, with those on the heap.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.lower.capacity() * size_of::<(u32, u64)>()
            + self.sum.heap_bytes()
            + self.squares.as_ref().map_or(0, Accumulator::heap_bytes)
    }

    /// The sum of NaN and infinities, where some are.
    fn special(&self) -> Option<Numeric> {
        match (self.nans, self.infinities, self.negative_infinities) {
            (0, 0, 0) => None,
            (0, _, 0) => Some(Numeric::INFINITY),
            (0, 0, _) => Some(Numeric::NEGATIVE_INFINITY),
            _ => Some(Numeric::NAN),
        }
    }

    fn spread(&self, sample: bool) -> Spread {
        if self.count() <= u64::from(sample) {
            return Spread::None;
        }
        let squares = match &self.squares {
            Some(squares) if self.special().is_none() => squares,
            _ => return Spread::Known(Numeric::NAN),
        };
        let count = BigInt::from(self.finite);
        let scale = 2 * self.scale;
        let sum = self.sum.value(self.scale);
        let numerator = &count * squares.value(scale) - &sum * &sum;
        if numerator <= BigInt::ZERO {
            return Spread::Known(Numeric::ZERO);
        }
        let divisor = &count * (&count - u8::from(sample));
        let first = |value: &BigInt, scale| Leading::of_large(value.magnitude(), scale);
        let places = scale_of_quotient(first(&numerator, scale), first(&divisor, 0), scale as i32);
        let numerator = powers_of_ten::scale_large(numerator, places);
        let divisor = powers_of_ten::scale_large(divisor, scale);
        Spread::Variance(powers_of_ten::rounded_large(&numerator, &divisor), places)
    }

    /// The scales of the finite numbers in ascending order, and how many numbers have them.
    pub(crate) fn scales(&self) -> impl Iterator<Item = (u32, u64)> {
        let greatest = (self.at_scale > 0).then_some((self.scale, self.at_scale));
        self.lower.iter().copied().chain(greatest)
    }

    #[inline]
    fn count_scale(&mut self, scale: u32) {
        if scale == self.scale {
            self.at_scale += 1;
            self.finite += 1;
        } else {
            self.count_scales(scale, 1);
        }
    }

    pub(crate) fn count_scales(&mut self, scale: u32, count: u64) {
        self.finite = self.finite.saturating_add(count);
        if scale == self.scale {
            self.at_scale = self.at_scale.saturating_add(count);
            return;
        }
        if scale > self.scale {
            if self.at_scale > 0 {
                self.lower.push((self.scale, self.at_scale));
            }
            (self.scale, self.at_scale) = (scale, count);
            return;
        }
        match self.lower.binary_search_by_key(&scale, |(scale, _)| *scale) {
            Ok(at) => self.lower[at].1 = self.lower[at].1.saturating_add(count),
            Err(at) => self.lower.insert(at, (scale, count)),
        }
    }

    fn uncount_scale(&mut self, scale: u32) {
        self.finite = self.finite.saturating_sub(1);
        if scale == self.scale {
            self.at_scale = self.at_scale.saturating_sub(1);
            if self.at_scale == 0 {
                (self.scale, self.at_scale) = self.lower.pop().unwrap_or_default();
            }
        } else if let Ok(at) = self.lower.binary_search_by_key(&scale, |(scale, _)| *scale) {
            self.lower[at].1 -= 1;
            if self.lower[at].1 == 0 {
                self.lower.remove(at);
            }
        }
    }
}

/// What variances and deviations are made of.
enum Spread {
    None,
    /// A result for both.
    Known(Numeric),
    /// The digits of the variance and their scale.
    Variance(BigInt, u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Numeric {
        Numeric::parse(text).expect(text)
    }

    fn sum(totals: &Totals) -> String {
        totals.sum().expect("a sum").map_or("null".to_string(), |sum| sum.to_string())
    }

    #[test]
    fn the_scale_of_a_sum_goes_down_when_the_last_number_of_it_leaves() {
        let mut totals = Totals::new(false);
        for text in ["1.5", "2.125", "3.250", "4"] {
            totals.add(&number(text));
        }
        assert_eq!(sum(&totals), "10.875");
        totals.remove(&number("2.125"));
        assert_eq!(sum(&totals), "8.750");
        totals.remove(&number("3.250"));
        assert_eq!(sum(&totals), "5.5");
        totals.remove(&number("1.5"));
        assert_eq!(sum(&totals), "4");
        totals.remove(&number("4"));
        assert_eq!(sum(&totals), "null");
    }

    #[test]
    fn sums_grow_beyond_128_bits_and_back() {
        let mut totals = Totals::new(true);
        (0..3).for_each(|_| totals.add_i128(i128::MAX, 0));
        assert_eq!(sum(&totals), "510423550381407695195061911147652317181");
        totals.remove(&Numeric::from_i128(i128::MAX, 0));
        totals.remove(&Numeric::from_i128(i128::MAX, 0));
        assert_eq!(sum(&totals), i128::MAX.to_string());
        assert_eq!(totals.variance(false), Ok(Some(Numeric::ZERO)));
        assert_eq!(totals.variance(true), Ok(None));
    }

    #[test]
    fn sums_of_columns_count_all_of_their_numbers() {
        let mut totals = Totals::new(false);
        totals.add_sum(1050, 4, 2);
        totals.add_sum(0, 0, 5);
        totals.add_i128(3, -1);
        assert_eq!(sum(&totals), "40.50");
        assert_eq!(totals.count(), 5);
        assert_eq!(
            totals.avg().map(|avg| avg.map(|avg| avg.to_string())),
            Ok(Some("8.1000000000000000".to_string()))
        );
    }

    #[test]
    fn states_have_stable_bytes() {
        let mut totals = Totals::new(true);
        for text in ["1.5", "-300", "NaN", "inf", "0.25"] {
            totals.add(&number(text));
        }
        let mut bytes = Vec::new();
        totals.encode(&mut bytes);
        let expected = [
            1, // with squares
            1, 1, 0, // NaN, infinities, negative infinities
            3, 0, 1, 1, 1, 2, 1, // three scales, each with its count
            2, 0x7F, 0x8B, // -298.25
            4, 0x55, 0x43, 0xA5, 0x35, // 90002.3125
        ];
        assert_eq!(bytes, expected);
        assert_eq!(Totals::decode(&bytes).map(|decoded| decoded.count()), Ok(5));
    }
}
