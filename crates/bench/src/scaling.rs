//! How work grows with servers.

use std::time::Duration;

/// Work in a second on a number of servers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rate {
    /// On so many servers.
    pub(crate) servers: u16,
    /// Pieces of work in a second.
    pub(crate) per_second: f64,
}

/// How a rate grew, beside another one on fewer servers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Growth {
    /// So many times the work in the same time.
    pub(crate) times: f64,
    /// 100 where as many times more servers do as many times more.
    pub(crate) percent: f64,
}

impl Rate {
    /// So much work in that time.
    pub(crate) fn of(servers: u16, work: u64, time: Duration) -> Self {
        Self { servers, per_second: work as f64 / time.as_secs_f64() }
    }

    /// How it grew since it was that.
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
    fn a_hundred_per_cent_is_work_that_grows_like_servers() {
        let rate = |servers, work| Rate::of(servers, work, Duration::from_secs(2));
        assert_eq!(rate(16, 400).relative_to(rate(4, 100)), Growth { times: 4.0, percent: 100.0 });
        assert_eq!(rate(16, 100).relative_to(rate(4, 100)), Growth { times: 1.0, percent: 25.0 });
        assert!((rate(16, 400).per_second - 200.0).abs() < 1e-9);
    }
}
