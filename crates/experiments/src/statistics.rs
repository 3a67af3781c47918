//! Statistics of repeated measurements.

use std::time::Duration;

/// Durations of repeated runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// Adds the durations of others.
    pub(crate) fn append(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    /// Their number.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The shortest; zero if there are none.
    pub(crate) fn min(&self) -> Duration {
        self.0.iter().min().copied().unwrap_or_default()
    }

    /// The median; the lower of two.
    pub(crate) fn median(&self) -> Duration {
        self.quantile(0.5)
    }

    /// Runs a second of their total duration.
    pub(crate) fn per_second(&self) -> f64 {
        self.0.len() as f64 / self.0.iter().sum::<Duration>().as_secs_f64()
    }

    /// The quantile for `part`, from 0 to 1.
    pub(crate) fn quantile(&self, part: f64) -> Duration {
        assert!((0.0..=1.0).contains(&part), "{part} is not from 0 to 1");
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (part * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }
}

/// Milliseconds, with fractions.
pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Microseconds, with fractions.
pub(crate) fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The geometric mean; 0 if there are no values.
pub(crate) fn geometric_mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(ms: &[u64]) -> Times {
        Times(ms.iter().map(|ms| Duration::from_millis(*ms)).collect())
    }

    #[test]
    fn order_statistics() {
        let times = times(&[5, 1, 4, 2, 3]);
        assert_eq!(times.min(), Duration::from_millis(1));
        assert_eq!(times.median(), Duration::from_millis(3));
        assert_eq!(times.quantile(0.99), Duration::from_millis(5));
        assert!((times.per_second() - 5.0 / 0.015).abs() < 1e-6);
        assert_eq!(Times::default().median(), Duration::ZERO);
    }

    #[test]
    fn means_of_ratios_are_geometric() {
        assert!((geometric_mean(&[0.5, 2.0]) - 1.0).abs() < 1e-12);
        assert!(geometric_mean(&[]).abs() < 1e-12);
    }
}
