//! Ranges that tile the key space, each with something attached: a table's buckets, an image's owners.
//!
//! ```text
//!  -inf          k1            k2                 +inf
//!   |---- T0 -----|---- T1 -----|------- T2 -------|
//! ```
//!
//! Invariant: at all times the ranges are disjoint, sorted and cover everything
//! ([`Partition::assert_tiling`]). The map behind it is persistent: a clone costs nothing and a change
//! costs the logarithm of the number of ranges, so that readers keep a consistent picture of the file
//! while it splits.

use crate::{Bound, Key, KeyRange};
use imbl::OrdMap;

/// A tiling of the key space.
#[derive(Debug, Clone)]
pub struct Partition<T: Clone> {
    tiles: OrdMap<Bound, Tile<T>>,
}

#[derive(Debug, Clone)]
struct Tile<T> {
    high: Bound,
    value: T,
}

impl<T: Clone> Partition<T> {
    /// One range that covers everything.
    pub fn new(value: T) -> Self {
        let tile = Tile { high: Bound::PosInf, value };
        Self { tiles: OrdMap::unit(Bound::NegInf, tile) }
    }

    /// The range that holds a key, and what is attached to it.
    pub fn locate(&self, key: &Key) -> (KeyRange, &T) {
        match self.tiles.get_prev(&Bound::At(key.clone())) {
            Some((low, tile)) => (tile.range(low), &tile.value),
            None => unreachable!("the first range begins at -inf"),
        }
    }

    /// The ranges that share a key with the given one, in order.
    pub fn cover<'a>(&'a self, range: &'a KeyRange) -> impl Iterator<Item = (KeyRange, &'a T)> {
        let first = match self.tiles.get_prev(&range.low) {
            Some((low, _)) => low.clone(),
            None => Bound::NegInf,
        };
        self.tiles
            .range(first..)
            .take_while(|(low, _)| **low < range.high)
            .map(|(low, tile)| (tile.range(low), &tile.value))
    }

    /// All ranges, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (KeyRange, &T)> {
        self.tiles.iter().map(|(low, tile)| (tile.range(low), &tile.value))
    }

    /// How many ranges there are; never zero.
    pub fn len(&self) -> usize {
        self.tiles.len()
    }

    /// Always false: a partition covers the key space.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The range after the one that begins at `low`.
    pub fn next_after(&self, low: &Bound) -> Option<(KeyRange, &T)> {
        let tile = self.tiles.get(low)?;
        let next = self.tiles.get(&tile.high)?;
        Some((next.range(&tile.high), &next.value))
    }

    /// The range before the one that begins at `low`.
    pub fn next_before(&self, low: &Bound) -> Option<(KeyRange, &T)> {
        let (low, tile) = self.tiles.range(..low.clone()).next_back()?;
        Some((tile.range(low), &tile.value))
    }

    /// Cuts the range that holds `at` in two. The range must not begin at `at`.
    pub fn split(&mut self, at: &Key, left: T, right: T) {
        let (range, _) = self.locate(at);
        let Some((lower, upper)) = range.split_at(at) else {
            panic!("a split at {at} would leave an empty half of {range}");
        };
        self.tiles.insert(lower.low, Tile { high: lower.high, value: left });
        self.tiles.insert(upper.low, Tile { high: upper.high, value: right });
    }

    /// Makes one range of the one that begins at `low` and the next. Both must exist.
    pub fn merge(&mut self, low: &Bound, value: T) {
        let Some(middle) = self.tiles.get(low).map(|tile| tile.high.clone()) else {
            panic!("no range begins at {low}");
        };
        let Some(upper) = self.tiles.remove(&middle) else {
            panic!("the range that begins at {low} is the last");
        };
        self.tiles.insert(low.clone(), Tile { high: upper.high, value });
    }

    /// The range that begins at or before a place and ends after it. There is none at +inf, which is after
    /// every key: the last range answers.
    pub fn at(&self, place: &Bound) -> (KeyRange, &T) {
        match self.tiles.get_prev(place) {
            Some((low, tile)) => (tile.range(low), &tile.value),
            None => unreachable!("the first range begins at -inf"),
        }
    }

    /// What is attached to the range that holds a whole given one; `None` where no single one does.
    pub fn holder(&self, of: &KeyRange) -> Option<&T> {
        let (_, tile) = self.tiles.get_prev(&of.low)?;
        (of.high <= tile.high).then_some(&tile.value)
    }

    /// Makes one range of everything between two places. Ranges that reach beyond are cut there and
    /// keep what is attached to them.
    pub fn assign(&mut self, range: &KeyRange, value: T) {
        self.cut(&range.high);
        self.cut(&range.low);
        let inside = self.tiles.range(range.low.clone()..range.high.clone()).skip(1);
        let inside: Vec<Bound> = inside.map(|(low, _)| low.clone()).collect();
        for low in inside {
            self.tiles.remove(&low);
        }
        self.tiles.insert(range.low.clone(), Tile { high: range.high.clone(), value });
    }

    /// Replaces what lies in a range by ranges that tile it. What is as it was is not touched.
    pub fn replace(&mut self, range: &KeyRange, tiling: Vec<(KeyRange, T)>)
    where
        T: PartialEq,
    {
        self.cut(&range.high);
        self.cut(&range.low);
        let mut gone = Vec::new();
        let mut new = tiling.into_iter().peekable();
        let mut changed = Vec::new();
        for (low, tile) in self.tiles.range(range.low.clone()..range.high.clone()) {
            while let Some(piece) = new.next_if(|(piece, _)| piece.low < *low) {
                changed.push(piece);
            }
            match new.next_if(|(piece, _)| piece.low == *low) {
                Some((piece, value)) if piece.high == tile.high && value == tile.value => {}
                Some(piece) => changed.push(piece),
                None => gone.push(low.clone()),
            }
        }
        changed.extend(new);
        for low in gone {
            self.tiles.remove(&low);
        }
        for (KeyRange { low, high }, value) in changed {
            self.tiles.insert(low, Tile { high, value });
        }
    }

    /// Lets a range begin at a place, with what is attached there now.
    fn cut(&mut self, place: &Bound) {
        let Some((low, tile)) = self.tiles.get_prev_mut(place) else { return };
        if low == place || *place == Bound::PosInf {
            return;
        }
        let high = std::mem::replace(&mut tile.high, place.clone());
        let upper = Tile { high, value: tile.value.clone() };
        self.tiles.insert(place.clone(), upper);
    }

    /// Panics unless the ranges tile the key space.
    pub fn assert_tiling(&self) {
        let mut expected = Bound::NegInf;
        for (range, _) in self.iter() {
            assert_eq!(range.low, expected, "a gap or an overlap at {expected}");
            assert!(range.low < range.high, "an empty range at {expected}");
            expected = range.high;
        }
        assert_eq!(expected, Bound::PosInf, "the last range ends early");
    }
}

impl<T> Tile<T> {
    fn range(&self, low: &Bound) -> KeyRange {
        KeyRange { low: low.clone(), high: self.high.clone() }
    }
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

    #[test]
    fn a_replaced_range_is_tiled_as_given() {
        let of = |low: &str, high: &str| {
            KeyRange::new(Bound::At(key(low)), Bound::At(key(high))).expect("range")
        };
        let mut file = Partition::new(0);
        file.replace(&of("b", "h"), vec![(of("b", "d"), 1), (of("d", "h"), 2)]);
        file.assign_checked("0 1 2 0");
        file.replace(&of("c", "h"), vec![(of("c", "d"), 3), (of("d", "h"), 2)]);
        file.assign_checked("0 1 3 2 0");
        file.replace(&of("a", "z"), vec![(of("a", "g"), 4), (of("g", "z"), 5)]);
        file.assign_checked("0 4 5 0");
        assert_eq!(*file.locate(&key("g")).1, 5);
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
