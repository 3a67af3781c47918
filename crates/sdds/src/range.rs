//! Key ranges `[low, high)` with explicit infinities.

use crate::Key;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One end of a range. The derived order is the key order: -inf, the keys, +inf.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Bound {
    /// Before every key.
    NegInf,
    /// At a key, which belongs to the range that begins here, not to the one that ends here.
    At(Key),
    /// After every key.
    PosInf,
}

impl Bound {
    /// Whether the bound is at or before a key.
    pub fn is_at_or_before(&self, key: &Key) -> bool {
        match self {
            Self::NegInf => true,
            Self::At(at) => at <= key,
            Self::PosInf => false,
        }
    }
}

/// The keys from `low` up to but not including `high`. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "(Bound, Bound)", into = "(Bound, Bound)")]
pub struct KeyRange {
    /// The inclusive lower bound.
    pub low: Bound,
    /// The exclusive upper bound.
    pub high: Bound,
}

impl TryFrom<(Bound, Bound)> for KeyRange {
    type Error = &'static str;

    fn try_from((low, high): (Bound, Bound)) -> Result<Self, Self::Error> {
        Self::new(low, high).ok_or("the range is empty")
    }
}

impl From<KeyRange> for (Bound, Bound) {
    fn from(range: KeyRange) -> Self {
        (range.low, range.high)
    }
}

impl KeyRange {
    /// The whole key space.
    pub fn all() -> Self {
        Self { low: Bound::NegInf, high: Bound::PosInf }
    }

    /// The range between two bounds; `None` if it is empty.
    pub fn new(low: Bound, high: Bound) -> Option<Self> {
        (low < high).then_some(Self { low, high })
    }

    /// The range of a single key.
    pub fn point(key: &Key) -> Self {
        Self { low: Bound::At(key.clone()), high: Bound::At(key.successor()) }
    }

    /// Whether the range contains a key.
    pub fn contains(&self, key: &Key) -> bool {
        self.low.is_at_or_before(key) && !self.high.is_at_or_before(key)
    }

    /// Whether the range contains all of `other`.
    pub fn covers(&self, other: &Self) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The intersection of two ranges; `None` if it is empty.
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        let low = (&self.low).max(&other.low);
        let high = (&self.high).min(&other.high);
        (low < high).then(|| Self { low: low.clone(), high: high.clone() })
    }

    /// Whether two ranges overlap.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low < other.high && other.low < self.high
    }

    /// The parts below and from a key; `None` if one of them is empty.
    pub fn split_at(&self, key: &Key) -> Option<(Self, Self)> {
        let at = Bound::At(key.clone());
        let left = Self::new(self.low.clone(), at.clone())?;
        let right = Self::new(at, self.high.clone())?;
        Some((left, right))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NegInf => f.write_str("-inf"),
            Self::At(key) => key.fmt(f),
            Self::PosInf => f.write_str("+inf"),
        }
    }
}

impl fmt::Display for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> Key {
        Key::from(&[byte][..])
    }

    fn range(low: u8, high: u8) -> KeyRange {
        KeyRange::new(Bound::At(key(low)), Bound::At(key(high))).expect("not empty")
    }

    #[test]
    fn the_low_end_is_inside_and_the_high_end_is_not() {
        assert!(range(2, 4).contains(&key(2)));
        assert!(range(2, 4).contains(&key(3)));
        assert!(!range(2, 4).contains(&key(4)));
        assert!(KeyRange::all().contains(&Key::default()));
    }

    #[test]
    fn a_point_holds_its_key_and_not_the_next() {
        let point = KeyRange::point(&key(7));
        assert!(point.contains(&key(7)));
        assert!(!point.contains(&key(7).successor()));
    }

    #[test]
    fn a_split_leaves_no_gap_and_no_empty_half() {
        let (left, right) = range(2, 6).split_at(&key(4)).expect("both halves hold keys");
        assert_eq!((left, right), (range(2, 4), range(4, 6)));
        assert_eq!(range(2, 6).split_at(&key(2)), None);
        assert_eq!(range(2, 6).split_at(&key(6)), None);
    }

    #[test]
    fn ranges_that_touch_do_not_overlap() {
        assert!(!range(2, 4).overlaps(&range(4, 6)));
        assert_eq!(range(2, 4).intersect(&range(4, 6)), None);
        assert_eq!(range(2, 5).intersect(&range(4, 6)), Some(range(4, 5)));
    }
}
