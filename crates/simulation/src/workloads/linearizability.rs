//! Whether reads and writes of one register can be put into an order in which each takes effect between its beginning
//! and its end, and each read returns the last write before it.
//!
//! Every value is written once. Then it is enough to look at the operations of each value together (Gibbons and
//! Korach, "Testing shared memories", 1997). The register has the value from some time at or before the first end of
//! them until some time at or after the last beginning. If the first end is before the last beginning, the register
//! has that value all the time between, and no other value can. Otherwise all of them can happen at one moment between
//! the last beginning and the first end, which must not be inside the time of another value.

use std::fmt;
use std::time::Duration;

/// A read or a write of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) value: i64,
    pub(crate) is_write: bool,
    pub(crate) from: Duration,
    /// [`Duration::MAX`] for a write of which it is not known whether it has happened.
    pub(crate) until: Duration,
}

/// The time of a value.
#[derive(Debug, Clone, Copy)]
struct Zone {
    value: i64,
    first_end: Duration,
    last_beginning: Duration,
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, first_end, last_beginning } = self;
        write!(f, "{value} (from {first_end:?}, until {last_beginning:?})")
    }
}

/// What cannot be, if there is such a thing.
pub(crate) fn find_anomaly(operations: &[Operation]) -> Option<String> {
    let mut sorted = operations.to_vec();
    sorted.sort_by_key(|operation| (operation.value, !operation.is_write, operation.from));
    let mut zones = Vec::new();
    for of_value in sorted.chunk_by(|one, other| one.value == other.value) {
        let write = of_value[0];
        if !write.is_write {
            return Some(format!("{} was read and not written: {of_value:?}", write.value));
        }
        if let Some(early) = of_value.iter().find(|operation| operation.until < write.from) {
            return Some(format!("{} was read before it was written: {early:?}", write.value));
        }
        // What nobody has read need not have happened.
        if write.until == Duration::MAX && of_value.len() == 1 {
            continue;
        }
        let first_end = of_value.iter().map(|operation| operation.until).min()?;
        let last_beginning = of_value.iter().map(|operation| operation.from).max()?;
        zones.push(Zone { value: write.value, first_end, last_beginning });
    }
    let (mut forward, backward): (Vec<Zone>, Vec<Zone>) =
        zones.into_iter().partition(|zone| zone.first_end < zone.last_beginning);
    forward.sort_by_key(|zone| zone.first_end);
    if let Some(pair) = forward.windows(2).find(|pair| pair[0].last_beginning > pair[1].first_end) {
        return Some(format!("it is {} and {} at a time", pair[0], pair[1]));
    }
    for zone in backward {
        let before = forward.partition_point(|other| other.first_end < zone.last_beginning);
        let other = before.checked_sub(1).map(|at| forward[at]);
        if let Some(other) = other.filter(|other| zone.first_end < other.last_beginning) {
            return Some(format!("it is {zone} while it is {other}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(value: i64, is_write: bool, from: u64, until: u64) -> Operation {
        let until = if until == 0 { Duration::MAX } else { Duration::from_secs(until) };
        Operation { value, is_write, from: Duration::from_secs(from), until }
    }

    #[test]
    fn what_can_be_ordered_is_accepted() {
        let write = |value, from, until| operation(value, true, from, until);
        let read = |value, from, until| operation(value, false, from, until);
        let accepted = |all: &[Operation]| find_anomaly(all).is_none();
        assert!(accepted(&[write(1, 1, 2), read(1, 3, 4), write(2, 5, 6), read(2, 7, 8)]));
        // Concurrent with a write, either value.
        assert!(accepted(&[write(1, 1, 2), write(2, 3, 9), read(2, 4, 5), read(2, 6, 7)]));
        assert!(accepted(&[write(1, 1, 2), write(2, 3, 9), read(1, 4, 5), read(2, 6, 7)]));
        assert!(!accepted(&[write(1, 1, 2), write(2, 3, 9), read(2, 4, 5), read(1, 6, 7)]));
        // A stale read; a lost write.
        assert!(!accepted(&[write(1, 1, 2), write(2, 3, 4), read(1, 5, 6)]));
        // An unknown write may happen late, or never.
        assert!(accepted(&[write(1, 1, 2), write(2, 3, 0), read(1, 5, 6), read(2, 7, 8)]));
        assert!(accepted(&[write(1, 1, 2), write(2, 3, 0), read(1, 5, 6)]));
        assert!(!accepted(&[write(1, 1, 2), write(2, 3, 0), read(2, 5, 6), read(1, 7, 8)]));
        // From nowhere, and from the future.
        assert!(!accepted(&[write(1, 1, 2), read(3, 4, 5)]));
        assert!(!accepted(&[write(1, 5, 6), read(1, 1, 2)]));
    }
}
