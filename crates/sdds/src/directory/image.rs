//! An image: what a client or server believes about the owners of keys (A2).
//!
//! An image begins as one guess that covers everything and learns entries in any order. Every entry
//! was once true and carries the epoch of that time. For each key the newest entry is kept, so
//! images that have learned the same entries are equal. An outdated image costs a forward for each
//! error; images are not invalidated, and no one tracks who has one.
//!
//! A directory page is an image, too, and so are the copies of the root; they differ in who may
//! change them.

use crate::{Bound, Epoch, GroupId, Key, KeyRange, Partition};
use serde::{Deserialize, Serialize};
use std::slice;

/// A present or former owner of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The group.
    pub group: GroupId,
    /// The epoch of its ownership.
    pub epoch: Epoch,
}

/// An entry of the directory: the owner of a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The keys.
    pub range: KeyRange,
    /// Their owner.
    pub owner: Owner,
}

/// An owner for every key, as believed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Vec<Entry>", into = "Vec<Entry>")]
pub struct Image {
    tiles: Partition<Owner>,
}

impl From<Vec<Entry>> for Image {
    /// An image of these entries; keys between them are guessed to belong to the first one's group.
    fn from(entries: Vec<Entry>) -> Self {
        let first = entries.first().map_or(GroupId(0), |entry| entry.owner.group);
        let mut image = Self::new(first);
        entries.iter().for_each(|entry| image.tiles.assign(&entry.range, entry.owner));
        image
    }
}

impl From<Image> for Vec<Entry> {
    fn from(image: Image) -> Self {
        image.iter().collect()
    }
}

impl Image {
    /// An image that knows a single group.
    pub fn new(first: GroupId) -> Self {
        Self::of(Owner { group: first, epoch: Epoch::GUESS })
    }

    pub(super) fn of(owner: Owner) -> Self {
        Self { tiles: Partition::new(owner) }
    }

    /// The owner of a key, and the surrounding keys with the same entry.
    pub fn locate(&self, key: &Key) -> Entry {
        let (range, owner) = self.tiles.locate(key);
        Entry { range, owner: *owner }
    }

    /// The owners of the keys of a range, in order, cut to the range.
    pub fn cover(&self, range: &KeyRange) -> Vec<Entry> {
        if let Some(owner) = self.tiles.holder(range) {
            return vec![Entry { range: range.clone(), owner: *owner }];
        }
        let tiles = self.tiles.cover(range);
        let mut entries: Vec<Entry> =
            tiles.map(|(range, owner)| Entry { range, owner: *owner }).collect();
        // Only the first and the last entry can extend beyond the range.
        if let Some(first) = entries.first_mut() {
            first.range.low = range.low.clone();
        }
        if let Some(last) = entries.last_mut() {
            last.range.high = range.high.clone();
        }
        entries
    }

    /// The entry of a key and up to `count` entries before and after it, in order.
    pub fn around(&self, key: &Key, count: usize) -> Vec<Entry> {
        let entry = |(range, owner): (KeyRange, &Owner)| Entry { range, owner: *owner };
        let here = self.locate(key);
        let mut entries: Vec<Entry> = Vec::new();
        let mut low = here.range.low.clone();
        while entries.len() < count
            && let Some(before) = self.tiles.next_before(&low).map(entry)
        {
            low = before.range.low.clone();
            entries.push(before);
        }
        entries.reverse();
        let mut last = here.range.low.clone();
        entries.push(here);
        for _ in 0..count {
            let Some(after) = self.tiles.next_after(&last).map(entry) else { break };
            last = after.range.low.clone();
            entries.push(after);
        }
        entries
    }

    /// Learns an entry where it is newer. Returns whether anything changed.
    pub fn learn(&mut self, entry: &Entry) -> bool {
        self.learn_all(slice::from_ref(entry))
    }

    /// Learns several entries. Consecutive ones, as on a page, are learned together.
    pub fn learn_all(&mut self, entries: &[Entry]) -> bool {
        let stretches = entries.chunk_by(|entry, next| entry.range.high == next.range.low);
        let mut is_news = false;
        for stretch in stretches {
            is_news |= self.learn_stretch(stretch);
        }
        is_news
    }

    /// Learns entries of which each begins where the previous one ends.
    fn learn_stretch(&mut self, entries: &[Entry]) -> bool {
        let ([first, ..], [.., last]) = (entries, entries) else { return false };
        let stretch = KeyRange { low: first.range.low.clone(), high: last.range.high.clone() };
        let changes = self.news(&stretch, entries);
        let is_news = !changes.is_empty();
        for (low, owner) in changes {
            match owner {
                Some(owner) => self.tiles.begin(low, owner),
                None => self.tiles.join(&low),
            }
        }
        is_news
    }

    /// The changes when entries are learned that tile a range: bounds at which a new or different
    /// entry begins, and bounds at which none begins any more.
    fn news(&self, stretch: &KeyRange, entries: &[Entry]) -> Vec<(Bound, Option<Owner>)> {
        let mut changes = Vec::new();
        let mut tiles = self.tiles.items(stretch);
        let mut told = entries.iter();
        let (Some(mut tile), Some(mut entry)) = (tiles.next(), told.next()) else { return changes };
        let mut place = &stretch.low;
        let mut begins = tile.low == place;
        let mut last = (!begins).then_some(*tile.value);
        let mut is_news = false;
        loop {
            // The owner from here up to the next bound of either.
            let owner = newer(*tile.value, entry.owner);
            is_news |= owner != *tile.value;
            if last == Some(owner) {
                changes.extend(begins.then(|| (place.clone(), None)));
            } else if !begins || owner != *tile.value {
                changes.push((place.clone(), Some(owner)));
            }
            last = Some(owner);
            let order = tile.high.cmp(&entry.range.high);
            place = if order.is_lt() { tile.high } else { &entry.range.high };
            if order.is_ge() {
                let Some(next) = told.next() else { break };
                entry = next;
            }
            begins = order.is_le();
            if begins {
                let Some(next) = tiles.next() else { break };
                tile = next;
            }
        }
        if tile.high > place && last != Some(*tile.value) {
            changes.push((place.clone(), Some(*tile.value)));
        }
        if is_news { changes } else { Vec::new() }
    }

    /// The part of the image in a range; its first and last entries extend beyond it.
    pub(super) fn within(&self, range: &KeyRange) -> Self {
        let mut image = Self::of(*self.tiles.at(&range.low).1);
        for entry in self.cover(range).into_iter().skip(1) {
            let from_here = KeyRange { low: entry.range.low, high: Bound::PosInf };
            image.tiles.assign(&from_here, entry.owner);
        }
        image
    }

    /// Number of entries; never 0.
    pub fn len(&self) -> usize {
        self.tiles.len()
    }

    /// Always false: an image has an owner for every key.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All entries, in order.
    pub fn iter(&self) -> impl Iterator<Item = Entry> {
        self.tiles.iter().map(|(range, owner)| Entry { range, owner: *owner })
    }

    /// Bytes of the entries, without the map's overhead.
    pub fn bytes(&self) -> usize {
        self.tiles.bytes()
    }
}

/// The newer of two statements about the same keys.
fn newer(believed: Owner, told: Owner) -> Owner {
    if told.epoch > believed.epoch { told } else { believed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn entry(low: u8, high: u8, group: u64, epoch: u64) -> Entry {
        let at = |byte: u8| Bound::At(Key::from(&[byte][..]));
        let range = KeyRange::new(at(low), at(high)).expect("not empty");
        Entry { range, owner: Owner { group: GroupId(group), epoch: Epoch(epoch) } }
    }

    fn dump(image: &Image) -> String {
        let owner = |entry: Entry| format!("{}@{}", entry.owner.group, entry.owner.epoch.0);
        image.iter().map(owner).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn for_each_key_the_newest_entry_counts() {
        let mut image = Image::new(GroupId(0));
        assert!(image.learn(&entry(10, 20, 1, 5)));
        assert!(image.learn(&entry(5, 15, 2, 3)));
        assert_eq!(dump(&image), "0@0 2@3 1@5 0@0");
        assert!(!image.learn(&entry(12, 18, 3, 4)), "older");
        assert!(image.learn(&entry(8, 18, 3, 6)));
        assert_eq!(dump(&image), "0@0 2@3 3@6 1@5 0@0");
        assert!(!image.learn(&entry(8, 18, 3, 6)), "known");
    }

    #[test]
    fn images_that_have_learned_the_same_are_the_same() {
        let entries: Vec<Entry> = (0..60u8)
            .map(|n| {
                let low = n.wrapping_mul(37) % 50;
                entry(low, low + 1 + n % 7, u64::from(n), 1 + u64::from(n.wrapping_mul(11) % 60))
            })
            .collect();
        let mut forwards = Image::new(GroupId(0));
        let mut backwards = Image::new(GroupId(0));
        forwards.learn_all(&entries);
        for entry in entries.iter().rev() {
            backwards.learn(entry);
        }
        for number in 0..60 {
            let key = Key::from(&[number][..]);
            assert_eq!(forwards.locate(&key).owner, backwards.locate(&key).owner, "{number}");
        }
    }

    #[test]
    fn the_keys_around_one_are_told_in_order() {
        let mut image = Image::new(GroupId(0));
        let page: Vec<Entry> = (10..20).map(|n| entry(n, n + 1, u64::from(n), 1)).collect();
        image.learn_all(&page);
        let around = |byte: u8, count| {
            let entries = image.around(&Key::from(&[byte, 1][..]), count);
            entries.iter().map(|entry| entry.owner.group.0).collect::<Vec<_>>()
        };
        assert_eq!(around(15, 2), [13, 14, 15, 16, 17]);
        assert_eq!(around(15, 0), [15]);
        assert_eq!(around(5, 1), [0, 10]);
        assert_eq!(around(30, 3), [17, 18, 19, 0]);
    }

    #[test]
    fn a_page_is_learned_at_once() {
        let mut image = Image::new(GroupId(0));
        let page: Vec<Entry> =
            (0..10).map(|n| entry(n, n + 1, u64::from(n), 1 + u64::from(n % 3))).collect();
        assert!(image.learn_all(&page));
        assert_eq!(image.len(), 12);
        assert!(!image.learn_all(&page));
        assert!(image.learn_all(&[entry(0, 5, 1, 2), entry(5, 9, 1, 2), entry(20, 21, 1, 1)]));
        assert_eq!(dump(&image), "0@0 1@2 2@3 1@2 4@2 5@3 1@2 7@2 8@3 9@1 0@0 1@1 0@0");
    }

    proptest! {
        #[test]
        fn a_stretch_is_learned_as_its_entries_one_by_one_would_be(
            stretches in vec((0_u8..40, vec((1_u8..6, 0_u64..4, 1_u64..6), 1..8)), 1..30),
        ) {
            let mut image = Image::new(GroupId(0));
            let mut model = [Owner { group: GroupId(0), epoch: Epoch::GUESS }; 100];
            for (mut low, entries) in stretches {
                let mut stretch = Vec::new();
                for (length, group, epoch) in entries {
                    stretch.push(entry(low, low + length, group, epoch));
                    low += length;
                }
                let mut is_news = false;
                for Entry { range, owner } in &stretch {
                    for at in (0..100).filter(|at| range.contains(&Key::from(&[*at][..]))) {
                        is_news |= owner.epoch > model[usize::from(at)].epoch;
                        model[usize::from(at)] = newer(model[usize::from(at)], *owner);
                    }
                }
                prop_assert_eq!(image.learn_all(&stretch), is_news);
                image.tiles.assert_tiling();
                for (at, owner) in (0..).zip(&model) {
                    prop_assert_eq!(image.locate(&Key::from(&[at][..])).owner, *owner);
                }
            }
        }
    }
}
