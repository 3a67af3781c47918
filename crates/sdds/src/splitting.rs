//! When and where a bucket splits, and when two neighbors merge (A1).
//!
//! A bucket that exceeds its capacity splits at its median. Neighbors merge when together they fill
//! only a small part of the capacity. The gap between the two thresholds prevents a merged bucket
//! from splitting at the next insert, and the halves of a split bucket from merging at the next
//! delete.

use crate::Key;

/// Neighbors merge when together they hold less than the capacity divided by this number.
const MERGE_BELOW_PART: u64 = 4;

const _: () =
    assert!(MERGE_BELOW_PART > 2, "the half of a split bucket must not be ready to merge");

/// Whether a bucket exceeds its capacity in bytes. A single row cannot be split.
pub fn should_split(bytes: u64, rows: u64, capacity: u64) -> bool {
    bytes > capacity && rows >= 2
}

/// Whether two neighbors with these bytes should merge.
pub fn should_merge(left_bytes: u64, right_bytes: u64, capacity: u64) -> bool {
    left_bytes + right_bytes < capacity / MERGE_BELOW_PART
}

/// Consecutive rows of known size that begin at a key; the input of [`median`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The first key.
    pub key: Key,
    /// Bytes of the rows.
    pub bytes: u64,
}

/// The first key of the upper half by size. Samples are in key order.
///
/// The result is never the first sample's key, which would leave the lower half empty; `None` if
/// there are fewer than two distinct keys.
pub fn median(samples: &[Sample]) -> Option<&Key> {
    let first = &samples.first()?.key;
    let total: u64 = samples.iter().map(|sample| sample.bytes).sum();
    let mut below = 0;
    for sample in samples {
        if below * 2 >= total && sample.key != *first {
            return Some(&sample.key);
        }
        below += sample.bytes;
    }
    samples.iter().rev().map(|sample| &sample.key).find(|key| *key != first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(sizes: &[(u8, u64)]) -> Vec<Sample> {
        let sample = |&(key, bytes): &(u8, u64)| Sample { key: Key::from(&[key][..]), bytes };
        sizes.iter().map(sample).collect()
    }

    fn median_of(sizes: &[(u8, u64)]) -> Option<u8> {
        median(&samples(sizes)).map(|key| key.as_bytes()[0])
    }

    #[test]
    fn the_median_halves_by_size_and_not_by_count() {
        assert_eq!(median_of(&[(1, 10), (2, 10), (3, 10), (4, 10)]), Some(3));
        assert_eq!(median_of(&[(1, 100), (2, 10), (3, 10), (4, 10)]), Some(2));
        assert_eq!(median_of(&[(1, 10), (2, 10), (3, 100)]), Some(3));
    }

    #[test]
    fn neither_half_is_ever_empty() {
        assert_eq!(median_of(&[]), None);
        assert_eq!(median_of(&[(1, 10)]), None);
        assert_eq!(median_of(&[(1, 0), (2, 0)]), Some(2));
        assert_eq!(median_of(&[(1, 10), (2, 1000)]), Some(2));
    }

    #[test]
    fn a_merged_bucket_does_not_split_and_a_split_one_does_not_merge() {
        let capacity = 1000;
        assert!(should_merge(100, 100, capacity));
        assert!(!should_split(200, 10, capacity));
        assert!(should_split(1001, 2, capacity));
        assert!(!should_merge(501, 500, capacity));
        assert!(!should_split(5000, 1, capacity), "one row cannot be divided");
    }
}
