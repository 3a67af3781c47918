//! Figures of the journal since its start, for system tables and metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Number of classes of a [`Histogram`]: the last holds everything above.
pub const CLASSES: usize = 24;

/// Counts of durations by their length in microseconds: class `i` holds those below `2^i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Histogram(pub [u64; CLASSES]);

impl Histogram {
    /// Returns an upper bound of the duration that a part of all stay below, 0 to 1; zero without
    /// any.
    pub fn quantile(&self, part: f64) -> Duration {
        let all: u64 = self.0.iter().sum();
        let wanted = (all as f64 * part).ceil() as u64;
        let mut below = 0;
        for (class, count) in self.0.iter().enumerate() {
            below += count;
            if below >= wanted && below > 0 {
                return Duration::from_micros(1 << class);
            }
        }
        Duration::ZERO
    }
}

/// Figures of the journal since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Appended commands.
    pub commands: u64,
    /// Appended bytes, headers included.
    pub bytes: u64,
    /// Flushes: writes followed by one fsync for each file. Commands divided by flushes is the size
    /// of a group commit.
    pub flushes: u64,
    /// Calls of fsync on segments.
    pub syncs: u64,
    /// Allocated segments.
    pub segments: u64,
    /// Commands refused because the disk was full.
    pub refused: u64,
    /// How long flushes took, from the first write to the end of the last fsync.
    pub flush_time: Histogram,
    /// The sum of these durations.
    pub flush_total: Duration,
    /// The longest of them.
    pub flush_longest: Duration,
}

/// The figures while they are counted.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) commands: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) flushes: AtomicU64,
    pub(crate) syncs: AtomicU64,
    pub(crate) segments: AtomicU64,
    pub(crate) refused: AtomicU64,
    flush_time: [AtomicU64; CLASSES],
    flush_micros: AtomicU64,
    longest_micros: AtomicU64,
}

impl Counts {
    pub(crate) fn count_flush(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let class = (u64::BITS - micros.leading_zeros()) as usize;
        self.flush_time[class.min(CLASSES - 1)].fetch_add(1, Ordering::Relaxed);
        self.flush_micros.fetch_add(micros, Ordering::Relaxed);
        self.longest_micros.fetch_max(micros, Ordering::Relaxed);
        self.flushes.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn figures(&self) -> Figures {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Figures {
            commands: load(&self.commands),
            bytes: load(&self.bytes),
            flushes: load(&self.flushes),
            syncs: load(&self.syncs),
            segments: load(&self.segments),
            refused: load(&self.refused),
            flush_time: Histogram(std::array::from_fn(|class| load(&self.flush_time[class]))),
            flush_total: Duration::from_micros(load(&self.flush_micros)),
            flush_longest: Duration::from_micros(load(&self.longest_micros)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_counted_by_their_powers_of_two() {
        let counts = Counts::default();
        for micros in [0, 1, 3, 4, 1000, u64::MAX] {
            counts.count_flush(Duration::from_micros(micros));
        }
        let Histogram(classes) = counts.figures().flush_time;
        let used: Vec<(usize, u64)> =
            classes.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect();
        assert_eq!(used, [(0, 1), (1, 1), (2, 1), (3, 1), (10, 1), (CLASSES - 1, 1)]);
        let histogram = counts.figures().flush_time;
        assert_eq!(histogram.quantile(0.5), Duration::from_micros(4));
        assert_eq!(Histogram::default().quantile(0.5), Duration::ZERO);
        assert_eq!(counts.figures().flush_longest, Duration::from_micros(u64::MAX));
    }
}
