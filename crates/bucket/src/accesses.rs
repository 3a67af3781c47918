//! Access statistics of a bucket, for moves and splits by load.
//!
//! A row read or written by its key is one access, and so is a scan of the bucket. Counting an
//! access is one addition. A sample of the accessed keys is kept, so that a bucket can be split at
//! the median of its accesses.

use parking_lot::Mutex;
use sdds::Key;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// One of this many accesses is sampled.
const REMEMBERED_EACH: u64 = 64;

/// Number of samples.
const KEYS: usize = 64;

/// A split by accesses leaves at least one of this many samples on each side.
const SIDE_PART: usize = 8;

/// Time constant of the exponential average.
const AVERAGED: Duration = Duration::from_secs(10);

/// The accesses of one bucket.
#[derive(Debug, Default)]
pub struct Accesses {
    /// Accesses since the last update of the average.
    new: AtomicU64,
    /// Average accesses per second, as the bits of an `f64`.
    rate: AtomicU64,
    keys: Mutex<Remembered>,
}

/// Sampled keys. The oldest is replaced first.
#[derive(Debug, Clone, Default)]
struct Remembered {
    keys: Vec<Key>,
    next: usize,
}

impl Accesses {
    /// Creates statistics from a rate per second and sampled keys.
    fn of(rate: u64, keys: Vec<Key>) -> Self {
        let keys = Mutex::new(Remembered { keys, next: 0 });
        Self { new: AtomicU64::new(0), rate: AtomicU64::new((rate as f64).to_bits()), keys }
    }

    /// Creates statistics from a rate per second, without samples.
    pub fn of_rate(rate: u64) -> Self {
        Self::of(rate, Vec::new())
    }

    /// Counts an access to a key.
    #[inline]
    pub fn count(&self, key: &Key) {
        let number = self.new.fetch_add(1, Ordering::Relaxed);
        if number.is_multiple_of(REMEMBERED_EACH)
            && let Some(mut keys) = self.keys.try_lock()
        {
            keys.remember(key.clone());
        }
    }

    /// Counts a scan.
    pub fn count_scan(&self) {
        self.new.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the average accesses per second at the last update.
    pub fn rate(&self) -> u64 {
        f64::from_bits(self.rate.load(Ordering::Relaxed)).round() as u64
    }

    /// Updates the average after `elapsed` and returns it. Must not be called concurrently.
    pub fn average(&self, elapsed: Duration) -> u64 {
        let new = self.new.swap(0, Ordering::Relaxed) as f64;
        let old = f64::from_bits(self.rate.load(Ordering::Relaxed));
        let seconds = elapsed.as_secs_f64().max(1e-3);
        let kept = (-seconds / AVERAGED.as_secs_f64()).exp();
        let rate = old * kept + new / seconds * (1.0 - kept);
        self.rate.store(rate.to_bits(), Ordering::Relaxed);
        self.rate()
    }

    /// Returns the key that divides the sampled accesses into halves; `None` if nearly all are to
    /// one key, or there are too few samples.
    pub fn middle(&self) -> Option<Key> {
        let mut keys = self.keys.lock().keys.clone();
        keys.sort_unstable();
        let middle = keys.get(keys.len() / 2)?.clone();
        let below = |key: &Key| keys.partition_point(|other| other < key);
        // The middle key may be accessed often, so the next key may be the better border.
        let after = keys.get(keys.partition_point(|other| *other <= middle)).cloned();
        let distance = |key: &Key| below(key).abs_diff(keys.len() / 2);
        let best = after.into_iter().chain([middle]).min_by_key(distance)?;
        let (left, right) = (below(&best), keys.len() - below(&best));
        let is_fair = left.min(right) * SIDE_PART >= keys.len() && keys.len() >= SIDE_PART;
        is_fair.then_some(best)
    }

    /// Returns the statistics of the parts below and from a key.
    pub fn split(&self, at: &Key) -> (Self, Self) {
        let keys = self.keys.lock().keys.clone();
        let (all, rate) = (keys.len() as u64, self.rate());
        let (lower, upper): (Vec<Key>, Vec<Key>) = keys.into_iter().partition(|key| key < at);
        let below = match all {
            0 => rate / 2,
            all => rate * lower.len() as u64 / all,
        };
        (Self::of(below, lower), Self::of(rate - below, upper))
    }

    /// Returns the statistics of two buckets that are merged.
    pub fn join(&self, upper: &Self) -> Self {
        let mut keys = self.keys.lock().keys.clone();
        keys.extend(upper.keys.lock().keys.iter().cloned());
        keys.truncate(KEYS);
        Self::of(self.rate() + upper.rate(), keys)
    }
}

impl Remembered {
    fn remember(&mut self, key: Key) {
        if self.keys.len() < KEYS {
            self.keys.push(key);
        } else {
            self.keys[self.next] = key;
            self.next = (self.next + 1) % KEYS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u16) -> Key {
        Key::from(&number.to_be_bytes()[..])
    }

    fn accessed(keys: impl Iterator<Item = u16>) -> Accesses {
        let accesses = Accesses::default();
        for number in keys {
            (0..REMEMBERED_EACH).for_each(|_| accesses.count(&key(number)));
        }
        accesses
    }

    #[test]
    fn accesses_are_halved_if_possible() {
        assert_eq!(accessed(0..64).middle(), Some(key(32)));
        assert_eq!(accessed((0..64).map(|n| n / 32)).middle(), Some(key(1)));
        assert_eq!(accessed((0..64).map(|_| 7)).middle(), None, "one key");
        assert_eq!(accessed((0..64).map(|n| u16::from(n > 2))).middle(), None, "nearly one key");
        assert_eq!(accessed(0..3).middle(), None, "too few");
        let two_of_three = (0..63).map(|n| if n < 42 { 5 } else { 6 + n });
        assert_eq!(accessed(two_of_three).middle(), Some(key(48)));
    }

    #[test]
    fn rates_follow_slowly_and_halves_have_their_part() {
        let accesses = accessed(0..64);
        assert_eq!(accesses.average(Duration::from_secs(1)), 390);
        for _ in 0..100 {
            accesses.average(Duration::from_secs(1));
        }
        assert_eq!(accesses.rate(), 0);
        let (lower, upper) = Accesses::of(1000, (0..40).map(key).collect()).split(&key(10));
        assert_eq!((lower.rate(), upper.rate()), (250, 750));
        assert_eq!(lower.join(&upper).rate(), 1000);
        assert_eq!(upper.middle(), Some(key(25)));
    }

    #[test]
    fn the_oldest_accesses_are_forgotten() {
        assert_eq!(accessed(0..640).middle(), Some(key(608)));
    }
}
