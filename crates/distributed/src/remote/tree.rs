//! Trees of servers, so that no server combines the partial results of all.
//!
//! A server that is asked for the rows of others, too, asks them in turn and combines their partial
//! results with its own (PAPERS B5, E4).

use std::ops::Range;

/// Divides servers into ranges of about the same length; the first server of each is asked. There
/// are as few ranges as possible without adding a level to a tree in which no server asks more than
/// `fan_in`.
pub(super) fn branches(servers: usize, fan_in: usize) -> Vec<Range<usize>> {
    let fan_in = fan_in.max(2);
    if servers <= fan_in {
        return (0..servers).map(|server| server..server + 1).collect();
    }
    let mut levels = 1;
    while power(fan_in, levels) < servers {
        levels += 1;
    }
    let width = (2..fan_in).find(|width| power(*width, levels) >= servers).unwrap_or(fan_in);
    let start = |branch: usize| branch * servers / width;
    (0..width).map(|branch| start(branch)..start(branch + 1)).collect()
}

fn power(base: usize, exponent: u32) -> usize {
    base.saturating_pow(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of levels, after a check that each server is asked by exactly one other.
    fn levels(servers: usize, fan_in: usize) -> usize {
        let branches = branches(servers, fan_in);
        assert!(branches.len() <= fan_in, "{servers} by {fan_in}");
        let mut next = 0;
        let mut deepest = 0;
        for branch in branches {
            assert!(branch.start == next && !branch.is_empty(), "{servers} by {fan_in}");
            next = branch.end;
            let below = branch.len() - 1;
            deepest = deepest.max(if below == 0 { 0 } else { levels(below, fan_in) });
        }
        assert_eq!(next, servers);
        1 + deepest
    }

    #[test]
    fn no_server_asks_more_than_the_fan_in() {
        let found = [1, 16, 17, 140, 256, 1000, 10_000].map(|servers| levels(servers, 16));
        assert_eq!(found, [1, 1, 2, 2, 2, 3, 4]);
        for servers in 1..400 {
            for fan_in in 2..20 {
                levels(servers, fan_in);
            }
        }
    }

    #[test]
    fn few_servers_are_asked_directly() {
        assert_eq!(branches(3, 16), [0..1, 1..2, 2..3]);
        assert_eq!(branches(5, 4), [0..1, 1..3, 3..5]);
        assert!(branches(0, 16).is_empty());
    }
}
