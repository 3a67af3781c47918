//! The delta: a bucket's recent row versions, ordered by key, not yet in a run.
//!
//! ```text
//!         time ->   3      5      8
//!   key a           row    .      row      chain: 8 row -> 3 row
//!   key b           .      gone   .        chain: 5 tombstone -> (what the runs hold)
//! ```
//!
//! A chain is newest first. A read at a snapshot takes the first version at or before it; where there is
//! none, the key is what the runs say. Versions that no snapshot can see any more are cut off when a
//! newer one is written. The map is persistent, so a reader's copy never changes under it.

use crate::row::Row;
use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use sdds::{Key, KeyRange, Timestamp};
use std::ops::Bound as RangeBound;
use std::sync::Arc;

/// What a delta's map, chain and counters cost for a version beside key and row, in bytes.
pub(crate) const VERSION_OVERHEAD: u64 = 96;

/// A row at a time, or that there is none.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) timestamp: Timestamp,
    /// `None` is a tombstone.
    pub(crate) row: Option<Row>,
    pub(crate) older: Option<Arc<Version>>,
}

/// A version is never changed: it is itself, and no other.
impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Version {
    /// The newest version at or before a timestamp.
    pub(crate) fn at(self: &Arc<Self>, snapshot: Timestamp) -> Option<&Arc<Self>> {
        let mut version = self;
        while version.timestamp > snapshot {
            version = version.older.as_ref()?;
        }
        Some(version)
    }

    /// The chain without the versions at or before a timestamp; `None` where nothing is left.
    pub(crate) fn newer_than(self: &Arc<Self>, horizon: Timestamp) -> Option<Arc<Self>> {
        if self.timestamp <= horizon {
            return None;
        }
        let Some(older) = &self.older else { return Some(Arc::clone(self)) };
        let older = older.newer_than(horizon);
        Some(Arc::new(Self { timestamp: self.timestamp, row: self.row.clone(), older }))
    }

    /// The chain without what no snapshot at or after the horizon can see.
    fn visible_from(self: &Arc<Self>, horizon: Timestamp) -> Arc<Self> {
        let older = match &self.older {
            None => return Arc::clone(self),
            Some(_) if self.timestamp <= horizon => None,
            Some(older) => Some(older.visible_from(horizon)),
        };
        Arc::new(Self { timestamp: self.timestamp, row: self.row.clone(), older })
    }

    fn bytes(&self) -> u64 {
        let own = VERSION_OVERHEAD + self.row.as_ref().map_or(0, |row| row.len() as u64);
        own + self.older.as_ref().map_or(0, |older| older.bytes())
    }
}

/// The versions of a bucket that are not in its runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delta {
    chains: OrdMap<Key, Arc<Version>>,
    bytes: u64,
    /// Bytes of the newest rows alone: about what they weigh once they are folded into a run.
    row_bytes: u64,
}

impl Delta {
    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<Version>> {
        self.chains.get(key)
    }

    pub(crate) fn len(&self) -> usize {
        self.chains.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&Key, &Arc<Version>)> {
        self.chains.iter()
    }

    /// The chains of keys in a range, in key order.
    pub(crate) fn range<'a>(
        &'a self,
        range: &KeyRange,
    ) -> impl Iterator<Item = (&'a Key, &'a Arc<Version>)> + use<'a> {
        self.chains.range::<_, Key>(std_range(range))
    }

    /// The chains that are new or others than in an earlier state of this delta; what both share is not looked at.
    pub(crate) fn changed_since<'a>(
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

    /// Puts a version on top of a key's chain.
    pub(crate) fn write(
        &mut self,
        key: Key,
        timestamp: Timestamp,
        row: Option<Row>,
        horizon: Timestamp,
    ) {
        let older = self.chains.get(&key).map(|chain| chain.visible_from(horizon));
        debug_assert!(older.as_ref().is_none_or(|older| older.timestamp <= timestamp));
        self.put(key, Some(Arc::new(Version { timestamp, row, older })));
    }

    /// Replaces a key's chain; `None` removes it.
    pub(crate) fn put(&mut self, key: Key, chain: Option<Arc<Version>>) {
        let key_bytes = (std::mem::size_of::<Key>() + key.heap_bytes()) as u64;
        let after = chain.as_ref().map_or(0, |chain| key_bytes + chain.bytes());
        let row_bytes = |chain: &Arc<Version>| chain.row.as_ref().map_or(0, |row| row.len() as u64);
        self.row_bytes += chain.as_ref().map_or(0, row_bytes);
        let before = match chain {
            Some(chain) => self.chains.insert(key, chain),
            None => self.chains.remove(&key),
        };
        self.bytes += after;
        self.bytes -= before.as_ref().map_or(0, |before| key_bytes + before.bytes());
        self.row_bytes -= before.as_ref().map_or(0, row_bytes);
    }

    /// The part of the delta with keys of a range.
    pub(crate) fn cut(&self, range: &KeyRange) -> Self {
        let mut part = Self::default();
        for (key, chain) in self.range(range) {
            part.put(key.clone(), Some(Arc::clone(chain)));
        }
        part
    }

    /// Both deltas' keys; they share none.
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

    /// What the byte count should be, counted again.
    pub(crate) fn count_bytes(&self) -> u64 {
        let key_bytes = |key: &Key| (std::mem::size_of::<Key>() + key.heap_bytes()) as u64;
        self.iter().map(|(key, chain)| key_bytes(key) + chain.bytes()).sum()
    }
}

/// A range as the standard library's maps take it.
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
