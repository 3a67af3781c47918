//! When a bucket splits, where, and when two neighbours become one (A1).
//!
//! A bucket that exceeds its capacity splits at its median; neighbours that together fill only a small
//! part of one merge. Between the two lies a gap, so that a merged bucket does not split again at the
//! next insert, nor a half of a split one merge at the next delete.

use crate::Key;

/// Neighbours merge when together they hold less than one part in this many of the capacity.
const MERGE_BELOW_PART: u64 = 4;

const _: () =
    assert!(MERGE_BELOW_PART > 2, "the half of a split bucket must not be ready to merge");

/// Whether a bucket of so many bytes and rows is over its capacity in bytes. One row cannot be divided.
pub fn should_split(bytes: u64, rows: u64, capacity: u64) -> bool {
    bytes > capacity && rows >= 2
}

/// Whether two neighbours of so many bytes are better off as one bucket.
pub fn should_merge(left_bytes: u64, right_bytes: u64, capacity: u64) -> bool {
    left_bytes + right_bytes < capacity / MERGE_BELOW_PART
}

/// A stretch of rows of known size that begins at a key: what the median is found from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The first key of the stretch.
    pub key: Key,
    /// What its rows weigh, in bytes.
    pub bytes: u64,
}

/// The first key of the upper half by size. Samples are in key order.
///
/// The answer is never the first sample's key, which would leave the lower half empty; `None` where
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
