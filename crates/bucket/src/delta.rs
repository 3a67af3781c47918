//! The delta: the recent row versions of a bucket, ordered by key, which are not in a run yet.
//!
//! ```text
//!         time ->   3      5      8
//!   key a           row    .      row      chain: 8 row -> 3 row
//!   key b           .      del    .        chain: 5 tombstone -> (row in a run)
//! ```
//!
//! The versions of a key form a chain, newest first. A read at a snapshot takes the first version
//! whose timestamp is not later; if there is none, the runs have the row. Writing a version removes
//! those that no snapshot can see any more. The map is persistent, so the copy of a reader does not
//! change.

use crate::row::Row;
use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use sdds::{Key, KeyRange, Timestamp};
use std::ops::Bound as RangeBound;
use std::sync::Arc;

/// Overhead of a version (map, chain and counters) in bytes, in addition to key and row.
pub const VERSION_OVERHEAD: u64 = 96;

/// A version of a row: its content from a timestamp on.
#[derive(Debug)]
pub struct Version {
    /// The timestamp of the commit.
    pub timestamp: Timestamp,
    /// The row; `None` for a tombstone.
    pub row: Option<Row>,
    /// The version before this one, if it is still needed.
    pub older: Option<Arc<Version>>,
    /// The bytes of the chain, without the key.
    bytes: u64,
    /// The timestamp of the oldest version but one in the chain; `None` if there is only one.
    oldest_but_one: Option<Timestamp>,
}

/// Versions are immutable, so they are compared by identity.
impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// A chain is as long as a row has changed while a snapshot was open, and is not dropped by recursion.
impl Drop for Version {
    fn drop(&mut self) {
        let mut next = self.older.take();
        while let Some(mut version) = next.and_then(Arc::into_inner) {
            next = version.older.take();
        }
    }
}

impl Version {
    /// A version before which there are older ones.
    pub fn new(timestamp: Timestamp, row: Option<Row>, older: Option<Arc<Self>>) -> Self {
        let own = VERSION_OVERHEAD + row.as_ref().map_or(0, |row| row.bytes());
        let bytes = own + older.as_ref().map_or(0, |older| older.bytes);
        let oldest_but_one = older.as_ref().map(|older| older.oldest_but_one.unwrap_or(timestamp));
        Self { timestamp, row, older, bytes, oldest_but_one }
    }

    /// The versions of the chain, the newest first.
    fn versions(self: &Arc<Self>) -> impl Iterator<Item = &Arc<Self>> {
        std::iter::successors(Some(self), |version| version.older.as_ref())
    }

    /// Returns the newest version at or before a timestamp.
    pub(crate) fn at(self: &Arc<Self>, snapshot: Timestamp) -> Option<&Arc<Self>> {
        self.versions().find(|version| version.timestamp <= snapshot)
    }

    /// Returns the chain without the versions at or before a timestamp; `None` if it is empty.
    pub(crate) fn newer_than(self: &Arc<Self>, horizon: Timestamp) -> Option<Arc<Self>> {
        self.first(self.versions().take_while(|version| version.timestamp > horizon).count())
    }

    /// Returns the chain without the versions that no snapshot at or after the horizon can see. Takes no longer for a long
    /// chain from which nothing goes.
    fn visible_from(self: &Arc<Self>, horizon: Timestamp) -> Arc<Self> {
        if self.oldest_but_one.is_none_or(|timestamp| timestamp > horizon) {
            return Arc::clone(self);
        }
        let newer = self.versions().take_while(|version| version.timestamp > horizon).count();
        self.first(newer + 1).unwrap_or_else(|| Arc::clone(self))
    }

    /// Returns the chain of its first versions; `None` if it is empty.
    fn first(self: &Arc<Self>, length: usize) -> Option<Arc<Self>> {
        let kept: Vec<&Arc<Self>> = self.versions().take(length).collect();
        if kept.last()?.older.is_none() {
            return Some(Arc::clone(self));
        }
        kept.into_iter().rev().fold(None, |older, version| {
            Some(Arc::new(Self::new(version.timestamp, version.row.clone(), older)))
        })
    }
}

/// The versions of a bucket that are not in its runs.
#[derive(Debug, Clone, Default)]
pub struct Delta {
    chains: OrdMap<Key, Arc<Version>>,
    bytes: u64,
    /// Bytes of the newest rows only: approximately what they add to a run.
    row_bytes: u64,
}

impl Delta {
    /// Returns the newest version of a key.
    pub fn get(&self, key: &Key) -> Option<&Arc<Version>> {
        self.chains.get(key)
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.chains.len()
    }

    /// Returns the bytes of all keys and versions.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the bytes of the newest rows.
    pub(crate) fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    /// Returns the newest version of each key, in key order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Key, &Arc<Version>)> {
        self.chains.iter()
    }

    /// Returns the chains of keys in a range, in key order.
    pub fn range<'a>(
        &'a self,
        range: &KeyRange,
    ) -> impl DoubleEndedIterator<Item = (&'a Key, &'a Arc<Version>)> + use<'a> {
        self.chains.range::<_, Key>(std_range(range))
    }

    /// Returns the chains that are new or changed since an earlier state of this delta. Shared
    /// parts of the maps are skipped.
    pub fn changed_since<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = (&'a Key, &'a Arc<Version>)> {
        before.chains.diff(&self.chains).filter_map(|change| match change {
            DiffItem::Add(key, chain) | DiffItem::Update { new: (key, chain), .. } => {
                Some((key, chain))
            }
            DiffItem::Remove(..) => None,
        })
    }

    /// Adds a version to the chain of a key.
    pub(crate) fn write(
        &mut self,
        key: Key,
        timestamp: Timestamp,
        row: Option<Row>,
        horizon: Timestamp,
    ) {
        let older = self.chains.get(&key).map(|chain| chain.visible_from(horizon));
        debug_assert!(older.as_ref().is_none_or(|older| older.timestamp <= timestamp));
        self.put(key, Some(Arc::new(Version::new(timestamp, row, older))));
    }

    /// Replaces the chain of a key; `None` removes it.
    pub fn put(&mut self, key: Key, chain: Option<Arc<Version>>) {
        let key_bytes = (std::mem::size_of::<Key>() + key.heap_bytes()) as u64;
        let after = chain.as_ref().map_or(0, |chain| key_bytes + chain.bytes);
        let row_bytes = |chain: &Arc<Version>| chain.row.as_ref().map_or(0, |row| row.bytes());
        self.row_bytes += chain.as_ref().map_or(0, row_bytes);
        let before = match chain {
            Some(chain) => self.chains.insert(key, chain),
            None => self.chains.remove(&key),
        };
        self.bytes += after;
        self.bytes -= before.as_ref().map_or(0, |before| key_bytes + before.bytes);
        self.row_bytes -= before.as_ref().map_or(0, row_bytes);
    }

    /// Returns the part of the delta within a range.
    pub(crate) fn cut(&self, range: &KeyRange) -> Self {
        let mut part = Self::default();
        for (key, chain) in self.range(range) {
            part.put(key.clone(), Some(Arc::clone(chain)));
        }
        part
    }

    /// Merges two deltas without common keys.
    pub(crate) fn union(self, other: Self) -> Self {
        let keys = self.len() + other.len();
        let union = Self {
            bytes: self.bytes + other.bytes,
            row_bytes: self.row_bytes + other.row_bytes,
            chains: self.chains.union(other.chains),
        };
        assert_eq!(union.len(), keys, "deltas of neighbours share no key");
        union
    }

    /// Recomputes the byte count.
    pub(crate) fn count_bytes(&self) -> u64 {
        let key_bytes = |key: &Key| (std::mem::size_of::<Key>() + key.heap_bytes()) as u64;
        self.iter().map(|(key, chain)| key_bytes(key) + chain.bytes).sum()
    }
}

/// Converts a range into bounds of the standard library.
pub(crate) fn std_range(range: &KeyRange) -> (RangeBound<&Key>, RangeBound<&Key>) {
    let low = match &range.low {
        sdds::Bound::At(key) => RangeBound::Included(key),
        _ => RangeBound::Unbounded,
    };
    let high = match &range.high {
        sdds::Bound::At(key) => RangeBound::Excluded(key),
        _ => RangeBound::Unbounded,
    };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An open snapshot keeps all versions since; a chain of them was once walked by recursion.
    #[test]
    fn a_long_chain_is_neither_copied_nor_dropped_by_recursion() {
        let horizon = Timestamp(1);
        let mut delta = Delta::default();
        let key = || Key::from(&[1_u8][..]);
        for time in 1..=300_000 {
            delta.write(key(), Timestamp(time), None, horizon);
        }
        let chain = delta.get(&key()).expect("it is there");
        assert_eq!(chain.versions().count(), 300_000);
        assert_eq!(chain.at(Timestamp(7)).map(|version| version.timestamp), Some(Timestamp(7)));
        let newer = chain.newer_than(Timestamp(299_998)).expect("two are newer");
        assert_eq!(newer.versions().count(), 2);
        delta.write(key(), Timestamp(300_001), None, Timestamp(300_000));
        let chain = delta.get(&key()).expect("it is there");
        let times: Vec<u64> = chain.versions().map(|version| version.timestamp.0).collect();
        assert_eq!(times, [300_001, 300_000]);
    }
}
