//! Which part of a range has been answered: deterministic termination (A3).
//!
//! Every answer names its keys. A request is done when its answers cover the requested range,
//! independent of the number of servers and of splits and moves meanwhile. A request that fails can
//! name the missing keys.

use crate::KeyRange;

/// The unanswered part of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    missing: Vec<KeyRange>,
}

impl Coverage {
    /// A range without answers.
    pub fn new(asked: KeyRange) -> Self {
        Self { missing: vec![asked] }
    }

    /// Adds the keys of an answer. Returns false if some of them were not missing, because they
    /// were not requested or were answered before.
    pub fn add(&mut self, answered: &KeyRange) -> bool {
        let Some(at) = self.missing.iter().position(|missing| missing.covers(answered)) else {
            return false;
        };
        let hole = self.missing.remove(at);
        let below = KeyRange::new(hole.low, answered.low.clone());
        let above = KeyRange::new(answered.high.clone(), hole.high);
        self.missing.splice(at..at, below.into_iter().chain(above));
        true
    }

    /// Whether the answers cover the whole range.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// The keys without an answer, in order.
    pub fn missing(&self) -> &[KeyRange] {
        &self.missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bound, Key};

    fn range(low: u8, high: u8) -> KeyRange {
        let at = |byte: u8| Bound::At(Key::from(&[byte][..]));
        KeyRange::new(at(low), at(high)).expect("not empty")
    }

    #[test]
    fn answers_in_any_order_add_up() {
        let mut coverage = Coverage::new(range(0, 10));
        assert!(coverage.add(&range(4, 6)));
        assert_eq!(coverage.missing(), [range(0, 4), range(6, 10)]);
        assert!(coverage.add(&range(6, 10)));
        assert!(coverage.add(&range(0, 2)));
        assert!(!coverage.is_complete());
        assert!(coverage.add(&range(2, 4)));
        assert!(coverage.is_complete());
    }

    #[test]
    fn nothing_counts_twice() {
        let mut coverage = Coverage::new(range(0, 10));
        assert!(coverage.add(&range(4, 6)));
        assert!(!coverage.add(&range(4, 6)));
        assert!(!coverage.add(&range(5, 7)));
        assert!(!coverage.add(&range(9, 12)));
        assert_eq!(coverage.missing(), [range(0, 4), range(6, 10)]);
    }
}
