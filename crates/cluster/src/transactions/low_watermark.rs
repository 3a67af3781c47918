//! Below which timestamp no snapshot will be taken any more: what the root has to know before any server may drop old
//! versions of rows.

use sdds::Timestamp;
use std::collections::BTreeMap;

/// One server's promise. A snapshot that has been asked for, and whose timestamp is still on its way, is not before the
/// newest that was known when it was asked for.
#[derive(Debug)]
pub(crate) struct LowWatermark {
    known: Timestamp,
    asked: BTreeMap<Timestamp, usize>,
}

impl LowWatermark {
    pub(crate) fn new(known: Timestamp) -> Self {
        Self { known, asked: BTreeMap::new() }
    }

    /// The root has said that this is now.
    pub(crate) fn learn(&mut self, now: Timestamp) {
        self.known = self.known.max(now);
    }

    /// The newest timestamp that the root is known to have given.
    pub(crate) fn known(&self) -> Timestamp {
        self.known
    }

    /// A snapshot is asked for; what to give back with [`Self::taken`].
    pub(crate) fn ask(&mut self) -> Timestamp {
        *self.asked.entry(self.known).or_default() += 1;
        self.known
    }

    /// A snapshot that was asked for is in use, or will not be.
    pub(crate) fn taken(&mut self, asked: Timestamp) {
        if let Some(count) = self.asked.get_mut(&asked) {
            *count -= 1;
            if *count == 0 {
                self.asked.remove(&asked);
            }
        }
    }

    /// No snapshot will be before this, given the oldest in use.
    pub(crate) fn oldest(&self, in_use: Option<Timestamp>) -> Timestamp {
        let asked = self.asked.first_key_value().map(|(asked, _)| *asked);
        [Some(self.known), asked, in_use].into_iter().flatten().min().unwrap_or(self.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pending_snapshot_holds_the_low_watermark() {
        let mut low_watermark = LowWatermark::new(Timestamp(5));
        let asked = low_watermark.ask();
        low_watermark.learn(Timestamp(10));
        assert_eq!(low_watermark.oldest(None), Timestamp(5));
        low_watermark.taken(asked);
        assert_eq!(low_watermark.oldest(None), Timestamp(10));
        assert_eq!(low_watermark.oldest(Some(Timestamp(7))), Timestamp(7));
    }
}
