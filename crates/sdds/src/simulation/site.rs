//! One simulated server: its part of the directory, and its buckets with the keys in them.

use crate::directory::{Request, Server};
use crate::{Bound, Key, KeyRange, splitting};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// What a request wants. The key, or the keys, are the request's range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Insert,
    /// Is the key there?
    Lookup,
    /// How many keys are there?
    Count,
}

/// The keys in `[low, high)`, sorted. The end of all keys is [`END`].
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    high: u64,
    keys: SmallVec<[u64; INLINE_KEYS]>,
}

/// Keys that a bucket holds in place: all, where buckets are small, as where there are many.
const INLINE_KEYS: usize = 6;

/// Above every key.
pub(super) const END: u64 = u64::MAX;

#[derive(Clone)]
pub(super) struct Site {
    pub(super) server: Server<Operation>,
    /// By their low ends.
    buckets: BTreeMap<u64, Bucket>,
}

impl Site {
    pub(super) fn new(server: Server<Operation>) -> Self {
        Self { server, buckets: BTreeMap::new() }
    }

    /// The first server: with bucket 0, which holds everything.
    pub(super) fn first(server: Server<Operation>) -> Self {
        let bucket = Bucket { high: END, keys: SmallVec::new() };
        Self { server, buckets: BTreeMap::from([(0, bucket)]) }
    }

    pub(super) fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// Carries a request out; `None` where some of its range is in no bucket of ours, which is a defect.
    pub(super) fn execute(&mut self, request: &Request<Operation>) -> Option<u64> {
        let low = number_of(&request.range.low);
        match request.operation {
            Operation::Insert => {
                let bucket = self.bucket(low)?;
                if let Err(at) = bucket.keys.binary_search(&low) {
                    bucket.keys.insert(at, low);
                }
                Some(1)
            }
            Operation::Lookup => {
                Some(u64::from(self.bucket(low)?.keys.binary_search(&low).is_ok()))
            }
            Operation::Count => self.count(low, number_of(&request.range.high)),
        }
    }

    /// Divides the bucket that holds a key if it has too many; the low end of the new one.
    pub(super) fn split(&mut self, key: u64, capacity: usize) -> Option<u64> {
        let bucket = self.bucket(key)?;
        let held = bucket.keys.len() as u64;
        if !splitting::should_split(held, held, capacity as u64) {
            return None;
        }
        let half = bucket.keys.len() / 2;
        let keys: SmallVec<_> = bucket.keys.drain(half..).collect();
        let at = keys[0];
        let high = std::mem::replace(&mut bucket.high, at);
        bucket.keys.shrink_to_fit();
        self.buckets.insert(at, Bucket { high, keys });
        Some(at)
    }

    /// The keys of the bucket that begins at a number.
    pub(super) fn range(&self, low: u64) -> Option<KeyRange> {
        let bucket = self.buckets.get(&low)?;
        KeyRange::new(low_bound(low), high_bound(bucket.high))
    }

    pub(super) fn take(&mut self, low: u64) -> Option<Bucket> {
        self.buckets.remove(&low)
    }

    pub(super) fn put(&mut self, low: u64, bucket: Bucket) {
        self.buckets.insert(low, bucket);
    }

    fn bucket(&mut self, key: u64) -> Option<&mut Bucket> {
        let (_, bucket) = self.buckets.range_mut(..=key).next_back()?;
        (key < bucket.high).then_some(bucket)
    }

    fn count(&self, low: u64, high: u64) -> Option<u64> {
        let (mut place, mut count) = (low, 0);
        let (first, _) = self.buckets.range(..=low).next_back()?;
        for (from, bucket) in self.buckets.range(first..) {
            if *from > place || place >= high {
                break;
            }
            let from = bucket.keys.partition_point(|key| *key < low);
            let to = bucket.keys.partition_point(|key| *key < high);
            count += (to - from) as u64;
            place = place.max(bucket.high);
        }
        (place >= high).then_some(count)
    }
}

/// The key of a number: in the same order.
pub(super) fn key(number: u64) -> Key {
    Key::from(&number.to_be_bytes()[..])
}

/// Where a range from a number begins; 0 is the beginning of the file.
pub(super) fn low_bound(number: u64) -> Bound {
    if number == 0 { Bound::NegInf } else { Bound::At(key(number)) }
}

/// Where a range up to a number ends.
pub(super) fn high_bound(number: u64) -> Bound {
    if number == END { Bound::PosInf } else { Bound::At(key(number)) }
}

/// The least number at or above a bound.
pub(super) fn number_of(bound: &Bound) -> u64 {
    match bound {
        Bound::NegInf => 0,
        Bound::At(key) => number(key),
        Bound::PosInf => END,
    }
}

/// What [`key`] was made from; longer keys come after the number, and before the next one.
pub(super) fn number(key: &Key) -> u64 {
    let mut bytes = [0; 8];
    let given = key.as_bytes();
    let length = given.len().min(8);
    bytes[..length].copy_from_slice(&given[..length]);
    u64::from_be_bytes(bytes) + u64::from(given.len() > 8)
}
