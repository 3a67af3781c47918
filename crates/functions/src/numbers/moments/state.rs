//! [`Moments`]: the state of the statistics of floating-point numbers.
//!
//! The sums of squares and products are updated as Youngs and Cramer do it ("Some results relevant to choice of sum and
//! sum-of-product algorithms", Technometrics 13, 1971) and PostgreSQL since version 12, so that they lose no digits, and are
//! PostgreSQL's also where rounding decides.

use super::super::floats::out_of_range;
use datafusion::common::Result;
use values::translate::external;

/// The count and the sums of pairs of numbers. A single number is the first of a pair whose second is 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Moments {
    /// How many pairs.
    pub(super) count: f64,
    /// The sums of the first and the second numbers.
    pub(super) sums: [f64; 2],
    /// The sums of their squared differences from their means.
    pub(super) squares: [f64; 2],
    /// The sum of the products of these differences.
    pub(super) products: f64,
}

impl Moments {
    /// Adds a pair.
    ///
    /// # Errors
    /// A sum of finite numbers is out of range.
    pub(super) fn add(&mut self, pair: [f64; 2]) -> Result<()> {
        let before = *self;
        self.count += 1.0;
        let of_each = [0, 1];
        self.sums = of_each.map(|at| self.sums[at] + pair[at]);
        if before.count == 0.0 {
            let open = pair.map(|number| if number.is_finite() { 0.0 } else { f64::NAN });
            self.squares = open;
            self.products = open[0] + open[1];
            return Ok(());
        }
        let apart = of_each.map(|at| pair[at] * self.count - self.sums[at]);
        let scale = 1.0 / (self.count * before.count);
        self.squares = of_each.map(|at| self.squares[at] + apart[at] * apart[at] * scale);
        self.products += apart[0] * apart[1] * scale;
        let is_open = of_each.map(|at| before.sums[at].is_infinite() || pair[at].is_infinite());
        self.checked(is_open)
    }

    /// Adds all pairs of another state.
    ///
    /// # Errors
    /// A sum of finite numbers is out of range.
    pub(super) fn merge(&mut self, other: &Self) -> Result<()> {
        if other.count == 0.0 {
            return Ok(());
        }
        if self.count == 0.0 {
            *self = *other;
            return Ok(());
        }
        let of_each = [0, 1];
        let count = self.count + other.count;
        let apart = of_each.map(|at| self.sums[at] / self.count - other.sums[at] / other.count);
        let weight = self.count * other.count;
        let is_open = of_each.map(|at| self.sums[at].is_infinite() || other.sums[at].is_infinite());
        self.squares = of_each.map(|at| {
            self.squares[at] + other.squares[at] + weight * apart[at] * apart[at] / count
        });
        self.products += other.products + weight * apart[0] * apart[1] / count;
        self.sums = of_each.map(|at| self.sums[at] + other.sums[at]);
        self.count = count;
        self.checked(is_open)
    }

    /// Makes infinite sums NaN if infinite numbers were added; else the sum is out of range.
    fn checked(&mut self, is_open: [bool; 2]) -> Result<()> {
        let is_over =
            [0, 1].map(|at| self.sums[at].is_infinite() || self.squares[at].is_infinite());
        let is_over_both = self.products.is_infinite() && is_open == [false, false];
        if (is_over[0] && !is_open[0]) || (is_over[1] && !is_open[1]) || is_over_both {
            return Err(external(out_of_range("overflow")));
        }
        let open = |sum: f64| if sum.is_infinite() { f64::NAN } else { sum };
        self.squares = self.squares.map(open);
        self.products = open(self.products);
        Ok(())
    }
}

/// A statistic of moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Measure {
    Avg,
    VarPop,
    VarSamp,
    StddevPop,
    StddevSamp,
    CovarPop,
    CovarSamp,
    Corr,
    RegrAvgx,
    RegrAvgy,
    RegrIntercept,
    RegrR2,
    RegrSlope,
    RegrSxx,
    RegrSxy,
    RegrSyy,
}

impl Measure {
    pub(super) const ALL: [Self; 16] = [
        Self::Avg,
        Self::VarPop,
        Self::VarSamp,
        Self::StddevPop,
        Self::StddevSamp,
        Self::CovarPop,
        Self::CovarSamp,
        Self::Corr,
        Self::RegrAvgx,
        Self::RegrAvgy,
        Self::RegrIntercept,
        Self::RegrR2,
        Self::RegrSlope,
        Self::RegrSxx,
        Self::RegrSxy,
        Self::RegrSyy,
    ];

    /// The name of the aggregate.
    pub(super) fn name(self) -> &'static str {
        match self {
            // The average of integers and numerics has no moments.
            Self::Avg => "float_avg",
            Self::VarPop => "var_pop",
            Self::VarSamp => "var_samp",
            Self::StddevPop => "stddev_pop",
            Self::StddevSamp => "stddev_samp",
            Self::CovarPop => "covar_pop",
            Self::CovarSamp => "covar_samp",
            Self::Corr => "corr",
            Self::RegrAvgx => "regr_avgx",
            Self::RegrAvgy => "regr_avgy",
            Self::RegrIntercept => "regr_intercept",
            Self::RegrR2 => "regr_r2",
            Self::RegrSlope => "regr_slope",
            Self::RegrSxx => "regr_sxx",
            Self::RegrSxy => "regr_sxy",
            Self::RegrSyy => "regr_syy",
        }
    }

    /// How many numbers a row has: one or two.
    pub(super) fn arguments(self) -> usize {
        match self {
            Self::Avg | Self::VarPop | Self::VarSamp | Self::StddevPop | Self::StddevSamp => 1,
            _ => 2,
        }
    }

    /// The value, if there is one. Of pairs, the first number is Y and the second X.
    pub(super) fn of(self, moments: &Moments) -> Option<f64> {
        let Moments { count, sums: [sum_y, sum_x], squares: [syy, sxx], products: sxy } = *moments;
        let is_sample = matches!(self, Self::VarSamp | Self::StddevSamp | Self::CovarSamp);
        if count < if is_sample { 2.0 } else { 1.0 } {
            return None;
        }
        let is_flat = match self {
            Self::Corr => sxx == 0.0 || syy == 0.0,
            Self::RegrR2 | Self::RegrSlope | Self::RegrIntercept => sxx == 0.0,
            _ => false,
        };
        if is_flat {
            return None;
        }
        Some(match self {
            Self::VarPop => syy / count,
            Self::VarSamp => syy / (count - 1.0),
            Self::StddevPop => (syy / count).sqrt(),
            Self::StddevSamp => (syy / (count - 1.0)).sqrt(),
            Self::CovarPop => sxy / count,
            Self::CovarSamp => sxy / (count - 1.0),
            Self::Corr => sxy / (sxx * syy).sqrt(),
            Self::RegrAvgx => sum_x / count,
            Self::Avg | Self::RegrAvgy => sum_y / count,
            Self::RegrIntercept => (sum_y - sum_x * sxy / sxx) / count,
            Self::RegrR2 if syy == 0.0 => 1.0,
            Self::RegrR2 => (sxy * sxy) / (sxx * syy),
            Self::RegrSlope => sxy / sxx,
            Self::RegrSxx => sxx,
            Self::RegrSxy => sxy,
            Self::RegrSyy => syy,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[[f64; 2]]) -> Moments {
        let mut moments = Moments::default();
        pairs.iter().for_each(|pair| moments.add(*pair).unwrap());
        moments
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let pairs: Vec<[f64; 2]> =
            (0..50).map(|n| [f64::from(n).sin() * 1e3, f64::from(n * n % 17)]).collect();
        let whole = of(&pairs);
        let (first, second) = pairs.split_at(18);
        let mut merged = of(first);
        merged.merge(&of(second)).unwrap();
        merged.merge(&Moments::default()).unwrap();
        for measure in Measure::ALL {
            let (one, other) = (measure.of(&whole).unwrap(), measure.of(&merged).unwrap());
            assert!((one - other).abs() <= 1e-9 * one.abs(), "{measure:?}: {one} and {other}");
        }
    }

    #[test]
    fn infinite_numbers_make_nan_and_large_ones_an_error() {
        let infinite = of(&[[1.0, f64::NEG_INFINITY], [2.0, 3.0]]);
        assert!(Measure::RegrSxx.of(&infinite).unwrap().is_nan());
        assert_eq!(Measure::RegrSyy.of(&infinite), Some(0.5));
        let mut large = of(&[[1e300, 0.0]]);
        large.add([-1e300, 0.0]).unwrap_err();
    }

    #[test]
    fn few_or_equal_numbers_have_no_value() {
        assert_eq!(Measure::VarPop.of(&Moments::default()), None);
        assert_eq!(Measure::VarSamp.of(&of(&[[1.0, 0.0]])), None);
        assert_eq!(Measure::VarPop.of(&of(&[[1.0, 0.0]])), Some(0.0));
        let flat = of(&[[1.0, 2.0], [3.0, 2.0]]);
        assert_eq!((Measure::RegrSlope.of(&flat), Measure::Corr.of(&flat)), (None, None));
        let level = of(&[[1.0, 2.0], [1.0, 3.0]]);
        assert_eq!((Measure::RegrR2.of(&level), Measure::Corr.of(&level)), (Some(1.0), None));
    }
}
