//! Which part of a range has been answered: deterministic termination (A3).
//!
//! Every answer says which keys it is about. A request is done when its answers cover what was asked,
//! however many servers that took and however the file split and moved meanwhile; and a request that fails
//! can name the keys that are missing.

use crate::KeyRange;

/// What is still missing of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    missing: Vec<KeyRange>,
}

impl Coverage {
    /// Nothing has been answered.
    pub fn new(asked: KeyRange) -> Self {
        Self { missing: vec![asked] }
    }

    /// Takes an answer's keys in; false where some of them were not missing: they were not asked for, or are
    /// answered twice.
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

    /// Whether the answers cover everything that was asked.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// The keys that no answer is about, in order.
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
