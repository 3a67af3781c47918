//! What somebody believes about who owns which keys (A2).
//!
//! An image begins as one guess that covers everything and learns entries in any order. Every entry was true
//! once, and carries the epoch of that time: for each key the newest one is kept, so that images that have
//! learned the same are the same. Outdated images cost a forward each time they err; they are not
//! invalidated, and nobody knows who has one.
//!
//! A page of the directory is an image too, and the copies of the root are: only who may change them differs.

use crate::{Bound, Epoch, GroupId, Key, KeyRange, Partition};
use serde::{Deserialize, Serialize};
use std::slice;

/// A group that owns keys, or did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Who.
    pub group: GroupId,
    /// Since which change of hands.
    pub epoch: Epoch,
}

/// A line of the directory: these keys are that group's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The keys.
    pub range: KeyRange,
    /// Whose they are.
    pub owner: Owner,
}

/// Who is believed to own what: some owner for every key.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Vec<Entry>", into = "Vec<Entry>")]
pub struct Image {
    tiles: Partition<Owner>,
}

impl From<Vec<Entry>> for Image {
    /// An image of these beliefs; what they leave out is believed of the first one's group, as a guess.
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
    /// The image of somebody who knows one group and nothing else.
    pub fn new(first: GroupId) -> Self {
        Self::of(Owner { group: first, epoch: Epoch::GUESS })
    }

    pub(super) fn of(owner: Owner) -> Self {
        Self { tiles: Partition::new(owner) }
    }

    /// Who is believed to own a key, and the keys around it for which that is the same belief.
    pub fn locate(&self, key: &Key) -> Entry {
        let (range, owner) = self.tiles.locate(key);
        Entry { range, owner: *owner }
    }

    /// Who is believed to own the keys of a range, in order, and nothing beyond it.
    pub fn cover(&self, range: &KeyRange) -> Vec<Entry> {
        if let Some(owner) = self.tiles.holder(range) {
            return vec![Entry { range: range.clone(), owner: *owner }];
        }
        let tiles = self.tiles.cover(range);
        let mut entries: Vec<Entry> =
            tiles.map(|(range, owner)| Entry { range, owner: *owner }).collect();
        // Only the ends can reach beyond.
        if let Some(first) = entries.first_mut() {
            first.range.low = range.low.clone();
        }
        if let Some(last) = entries.last_mut() {
            last.range.high = range.high.clone();
        }
        entries
    }

    /// What is believed of a key and of the keys around it: up to so many stretches before it, and as many after it, in order.
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

    /// Takes over what is newer than what was believed; whether anything was.
    pub fn learn(&mut self, entry: &Entry) -> bool {
        self.learn_all(slice::from_ref(entry))
    }

    /// The same for several entries. Those that follow on one another, as on a page, are learned together.
    pub fn learn_all(&mut self, entries: &[Entry]) -> bool {
        let stretches = entries.chunk_by(|entry, next| entry.range.high == next.range.low);
        let mut is_news = false;
        for stretch in stretches {
            is_news |= self.learn_stretch(stretch);
        }
        is_news
    }

    /// Learns entries of which each begins where the one before it ends.
    fn learn_stretch(&mut self, entries: &[Entry]) -> bool {
        let ([first, ..], [.., last]) = (entries, entries) else { return false };
        let stretch = KeyRange { low: first.range.low.clone(), high: last.range.high.clone() };
        let mut told = entries.iter().peekable();
        let mut newest: Vec<(KeyRange, Owner)> = Vec::with_capacity(entries.len());
        let mut is_news = false;
        for believed in self.cover(&stretch) {
            let mut rest = Some(believed.range);
            while let (Some(range), Some(entry)) = (rest.take(), told.peek()) {
                // The least of both that is left: told and believed alike throughout.
                let ends_here = entry.range.high <= range.high;
                let high = if ends_here { entry.range.high.clone() } else { range.high.clone() };
                rest = KeyRange::new(high.clone(), range.high);
                is_news |= entry.owner.epoch > believed.owner.epoch;
                let owner = newer(believed.owner, entry.owner);
                push(&mut newest, KeyRange { low: range.low, high }, owner);
                if ends_here {
                    told.next();
                }
            }
        }
        if is_news {
            self.tiles.replace(&stretch, newest);
        }
        is_news
    }

    /// The part of the image in a range; outside it, its ends go on.
    pub(super) fn within(&self, range: &KeyRange) -> Self {
        let mut image = Self::of(*self.tiles.at(&range.low).1);
        for entry in self.cover(range).into_iter().skip(1) {
            let from_here = KeyRange { low: entry.range.low, high: Bound::PosInf };
            image.tiles.assign(&from_here, entry.owner);
        }
        image
    }

    /// How many stretches of keys are told apart; never zero.
    pub fn len(&self) -> usize {
        self.tiles.len()
    }

    /// Always false: an image says something about every key.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All beliefs, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Entry> {
        self.tiles.iter().map(|(range, owner)| Entry { range, owner: *owner })
    }

    /// Bytes that the beliefs take, without the map's own.
    pub fn bytes(&self) -> usize {
        self.len() * size_of::<Entry>()
    }
}

/// Of two statements about the same keys, the newer one.
fn newer(believed: Owner, told: Owner) -> Owner {
    if told.epoch > believed.epoch { told } else { believed }
}

/// Adds what follows on the last piece, as a part of it where that says the same.
fn push(pieces: &mut Vec<(KeyRange, Owner)>, range: KeyRange, owner: Owner) {
    match pieces.last_mut() {
        Some((last, same)) if *same == owner => last.high = range.high,
        _ => pieces.push((range, owner)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

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
        assert_eq!(dump(&image), "0@0 2@3 1@5 1@5 0@0");
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
}
