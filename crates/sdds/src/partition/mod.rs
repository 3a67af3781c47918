//! Ranges that tile the key space, each with a value: a table's buckets, an image's owners.
//!
//! ```text
//!  -inf          k1            k2                 +inf
//!   |---- T0 -----|---- T1 -----|------- T2 -------|
//! ```
//!
//! Invariant: the ranges are always disjoint, sorted and complete ([`Partition::assert_tiling`]).
//! The underlying map is persistent: a clone costs nothing, and a change is logarithmic in the
//! number of ranges. Readers keep a consistent view of the file while it splits.

mod page;
mod tree;

use crate::{Bound, Key, KeyRange};
use tree::Tree;

pub(crate) use tree::Item;

/// A tiling of the key space.
#[derive(Debug, Clone)]
pub struct Partition<T: Clone> {
    /// The values by the low bounds of their ranges. Each range extends to the next low bound.
    tiles: Tree<T>,
}

impl<T: Clone> Partition<T> {
    /// A single range that covers everything.
    pub fn new(value: T) -> Self {
        Self { tiles: Tree::new(value) }
    }

    /// The range that contains a key, and its value.
    pub fn locate(&self, key: &Key) -> (KeyRange, &T) {
        self.at(&Bound::At(key.clone()))
    }

    /// The ranges that overlap the given one, in order.
    pub fn cover<'a>(&'a self, range: &'a KeyRange) -> impl Iterator<Item = (KeyRange, &'a T)> {
        self.items(range).map(tile)
    }

    /// The same, without copies.
    pub(crate) fn items<'a>(&'a self, range: &'a KeyRange) -> impl Iterator<Item = Item<'a, T>> {
        self.tiles.from(&range.low).take_while(|item| *item.low < range.high)
    }

    /// All ranges, in order.
    pub fn iter(&self) -> impl Iterator<Item = (KeyRange, &T)> {
        self.tiles.from(&Bound::NegInf).map(tile)
    }

    /// Number of ranges; never 0.
    pub fn len(&self) -> usize {
        self.tiles.len()
    }

    /// Always false: a partition covers the key space.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Bytes of the ranges and values, without what these point to.
    pub fn bytes(&self) -> usize {
        self.tiles.bytes()
    }

    /// The range after the one that begins at `low`.
    pub fn next_after(&self, low: &Bound) -> Option<(KeyRange, &T)> {
        self.tiles.from(low).nth(1).map(tile)
    }

    /// The range before the one that begins at `low`.
    pub fn next_before(&self, low: &Bound) -> Option<(KeyRange, &T)> {
        self.tiles.before(low).map(tile)
    }

    /// Splits the range that contains `at`. The range must not begin at `at`.
    pub fn split(&mut self, at: &Key, left: T, right: T) {
        let (range, _) = self.locate(at);
        let Some((lower, upper)) = range.split_at(at) else {
            panic!("a split at {at} would leave an empty half of {range}");
        };
        self.tiles.insert(lower.low, left);
        self.tiles.insert(upper.low, right);
    }

    /// Merges the range that begins at `low` with the next one. Both must exist.
    pub fn merge(&mut self, low: &Bound, value: T) {
        let lower = self.tiles.find(low);
        assert!(lower.low == low, "no range begins at {low}");
        let middle = lower.high.clone();
        assert!(middle != Bound::PosInf, "the range that begins at {low} is the last");
        self.tiles.remove(&middle);
        self.tiles.insert(low.clone(), value);
    }

    /// The range that begins at or before a bound and ends after it. For +inf, which is after every
    /// key, the last range.
    pub fn at(&self, place: &Bound) -> (KeyRange, &T) {
        tile(self.tiles.find(place))
    }

    /// The value of the range that contains the whole of `of`; `None` if no single one does.
    pub fn holder(&self, of: &KeyRange) -> Option<&T> {
        let item = self.tiles.find(&of.low);
        (of.high <= *item.high).then_some(item.value)
    }

    /// Makes one range of everything between two bounds. Ranges that extend beyond are split there
    /// and keep their value.
    pub fn assign(&mut self, range: &KeyRange, value: T) {
        self.cut(&range.high);
        let inside = self.items(range).filter(|item| *item.low > range.low);
        let inside: Vec<Bound> = inside.map(|item| item.low.clone()).collect();
        for low in inside {
            self.tiles.remove(&low);
        }
        self.tiles.insert(range.low.clone(), value);
    }

    /// Inserts a range that begins at a bound and extends to the next one.
    pub(crate) fn begin(&mut self, low: Bound, value: T) {
        self.tiles.insert(low, value);
    }

    /// Merges the range that begins at a bound into the previous one.
    pub(crate) fn join(&mut self, low: &Bound) {
        self.tiles.remove(low);
    }

    /// Splits a range at a bound; both parts have its value.
    fn cut(&mut self, place: &Bound) {
        let item = self.tiles.find(place);
        if item.low != place && *place != Bound::PosInf {
            let value = item.value.clone();
            self.tiles.insert(place.clone(), value);
        }
    }

    /// Panics unless the ranges tile the key space.
    pub fn assert_tiling(&self) {
        let mut expected = Bound::NegInf;
        let mut count = 0;
        for (range, _) in self.iter() {
            assert_eq!(range.low, expected, "a gap or an overlap at {expected}");
            assert!(range.low < range.high, "an empty range at {expected}");
            expected = range.high;
            count += 1;
        }
        assert_eq!(expected, Bound::PosInf, "the last range ends early");
        assert_eq!(count, self.len(), "ranges are miscounted");
    }
}

fn tile<T>(item: Item<'_, T>) -> (KeyRange, &T) {
    (KeyRange { low: item.low.clone(), high: item.high.clone() }, item.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        Key::from(text.as_bytes())
    }

    fn dump(partition: &Partition<u32>) -> String {
        let parts: Vec<_> = partition.iter().map(|(_, value)| value.to_string()).collect();
        parts.join(" ")
    }

    #[test]
    fn splits_and_merges_keep_the_key_space_tiled() {
        let mut file = Partition::new(0);
        file.split(&key("m"), 0, 1);
        file.split(&key("f"), 0, 2);
        file.split(&key("t"), 1, 3);
        file.assert_tiling();
        assert_eq!(dump(&file), "0 2 1 3");
        assert_eq!(*file.locate(&key("e")).1, 0);
        assert_eq!(*file.locate(&key("f")).1, 2);
        assert_eq!(*file.locate(&key("zz")).1, 3);
        file.merge(&Bound::At(key("f")), 4);
        file.assert_tiling();
        assert_eq!(dump(&file), "0 4 3");
    }

    #[test]
    fn a_cover_holds_each_range_that_is_touched_and_no_other() {
        let mut file = Partition::new(0);
        file.split(&key("m"), 0, 1);
        file.split(&key("t"), 1, 2);
        let covered = |low: &str, high: &str| -> Vec<u32> {
            let range = KeyRange::new(Bound::At(key(low)), Bound::At(key(high))).expect("range");
            file.cover(&range).map(|(_, value)| *value).collect()
        };
        assert_eq!(covered("a", "m"), [0]);
        assert_eq!(covered("a", "m\0"), [0, 1]);
        assert_eq!(covered("m", "t"), [1]);
        assert_eq!(covered("z", "zz"), [2]);
    }

    #[test]
    fn an_assigned_range_replaces_what_it_covers_and_cuts_what_it_touches() {
        let of = |low: Bound, high: Bound| KeyRange::new(low, high).expect("range");
        let at = |text: &str| Bound::At(key(text));
        let mut file = Partition::new(0);
        file.assign(&of(at("f"), at("m")), 1);
        file.assign_checked("0 1 0");
        file.assign(&of(at("h"), at("t")), 2);
        file.assign_checked("0 1 2 0");
        file.assign(&of(at("h"), at("t")), 3);
        file.assign_checked("0 1 3 0");
        file.assign(&of(Bound::NegInf, at("g")), 4);
        file.assign_checked("4 1 3 0");
        file.assign(&KeyRange::all(), 5);
        file.assign_checked("5");
    }

    impl Partition<u32> {
        fn assign_checked(&self, expected: &str) {
            self.assert_tiling();
            assert_eq!(dump(self), expected);
        }
    }

    #[test]
    fn a_clone_keeps_the_picture_that_it_was_taken_of() {
        let mut file = Partition::new(0);
        let before = file.clone();
        file.split(&key("m"), 0, 1);
        assert_eq!((before.len(), file.len()), (1, 2));
    }

    #[test]
    #[should_panic(expected = "empty half")]
    fn a_split_at_the_low_end_is_a_defect() {
        let mut file = Partition::new(0);
        file.split(&key("m"), 0, 1);
        file.split(&key("m"), 0, 1);
    }
}
