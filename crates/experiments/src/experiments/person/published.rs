//! Published figures of Experiment A (AMOS-SDDS, `PAPERS.md`): seconds with the I-strategy.

use super::Query;

/// The numbers of servers of the scale-up.
pub(super) const SCALE_UP_STEPS: [u16; 7] = [1, 3, 5, 8, 10, 12, 15];
/// The numbers of servers of the speed-up.
pub(super) const SPEED_UP_STEPS: [u16; 5] = [1, 2, 3, 4, 5];
/// Persons of each server in the scale-up, and of all servers in the speed-up.
pub(super) const ROWS: u32 = 20_000;

/// Numbers of servers with 20,000 persons each, and the seconds of Q1 and Q2.
const SCALE_UP: [(u16, f64, f64); 7] = [
    (1, 61.0, 51.0),
    (3, 301.0, 185.0),
    (5, 684.0, 335.0),
    (8, 1817.0, 986.0),
    (10, 2555.0, 1270.0),
    (12, 3901.0, 2022.0),
    (15, 5564.0, 2624.0),
];
/// Seconds of Q1 for 20,000 persons on 1 to 5 servers, with an index on the city.
const SPEED_UP: [f64; 5] = [60.0, 39.0, 37.0, 36.0, 32.0];

/// The published seconds; `None` if there are none. One server is the first step of both series.
pub(super) fn seconds(rows: u32, servers: u16, query: Query, is_speed_up: bool) -> Option<f64> {
    let of_scale_up = || {
        let step = SCALE_UP.iter().find(|(of, _, _)| *of == servers)?;
        let seconds = if query == Query::Pairs { step.1 } else { step.2 };
        (rows == ROWS * u32::from(servers)).then_some(seconds)
    };
    let of_speed_up = || {
        let is_published = rows == ROWS && query == Query::Pairs;
        SPEED_UP.get(usize::from(servers) - 1).copied().filter(|_| is_published)
    };
    if is_speed_up { of_speed_up() } else { of_scale_up().or_else(of_speed_up) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_figures_are_found() {
        let of = |rows, servers, query| seconds(rows, servers, query, false);
        assert_eq!(of(300_000, 15, Query::Pairs), Some(5564.0));
        assert_eq!(of(100_000, 5, Query::Count), Some(335.0));
        assert_eq!(of(20_000, 1, Query::Pairs), Some(61.0));
        assert_eq!(of(20_000, 5, Query::Pairs), Some(32.0));
        assert_eq!(of(20_000, 5, Query::Count), None);
        assert_eq!(of(20_000, 6, Query::Pairs), None);
        assert_eq!(of(40_000, 2, Query::Pairs), None);
        assert_eq!(seconds(20_000, 1, Query::Pairs, true), Some(60.0));
        assert_eq!(seconds(60_000, 3, Query::Pairs, true), None);
    }

    #[test]
    fn the_steps_are_the_published_ones() {
        assert!(SCALE_UP_STEPS.iter().eq(SCALE_UP.iter().map(|(servers, _, _)| servers)));
        assert_eq!(SPEED_UP_STEPS.len(), SPEED_UP.len());
    }
}
