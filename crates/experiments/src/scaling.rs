//! How throughput grows with the number of servers.

use std::time::Duration;

/// Throughput on a number of servers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rate {
    /// Number of servers.
    pub(crate) servers: u16,
    /// Units of work a second.
    pub(crate) per_second: f64,
}

/// The growth of a rate relative to a rate on fewer servers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Growth {
    /// The ratio of the rates.
    pub(crate) times: f64,
    /// The ratio of the rates in percent of the ratio of the numbers of servers: 100 is linear growth.
    pub(crate) percent: f64,
}

impl Rate {
    /// The rate of an amount of work in a time.
    pub(crate) fn of(servers: u16, work: u64, time: Duration) -> Self {
        Self { servers, per_second: work as f64 / time.as_secs_f64() }
    }

    /// The growth relative to a rate on fewer servers.
    pub(crate) fn relative_to(self, few: Self) -> Growth {
        let times = self.per_second / few.per_second;
        let percent = 100.0 * times * f64::from(few.servers) / f64::from(self.servers);
        Growth { times, percent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_growth_is_a_hundred_percent() {
        let rate = |servers, work| Rate::of(servers, work, Duration::from_secs(2));
        assert_eq!(rate(16, 400).relative_to(rate(4, 100)), Growth { times: 4.0, percent: 100.0 });
        assert_eq!(rate(16, 100).relative_to(rate(4, 100)), Growth { times: 1.0, percent: 25.0 });
        assert!((rate(16, 400).per_second - 200.0).abs() < 1e-9);
    }
}
