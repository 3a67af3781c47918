//! The low watermark of a server: no snapshot below it is in use or will be taken. The root needs
//! it before any server may remove old row versions.

use sdds::Timestamp;
use std::collections::BTreeMap;

/// The low watermark of one server. A requested snapshot whose timestamp has not arrived is not
/// older than the newest timestamp known at the request.
#[derive(Debug)]
pub(crate) struct LowWatermark {
    known: Timestamp,
    asked: BTreeMap<Timestamp, usize>,
}

impl LowWatermark {
    pub(crate) fn new(known: Timestamp) -> Self {
        Self { known, asked: BTreeMap::new() }
    }

    /// Notes a timestamp of the root.
    pub(crate) fn learn(&mut self, now: Timestamp) {
        self.known = self.known.max(now);
    }

    /// The newest known timestamp of the root.
    pub(crate) fn known(&self) -> Timestamp {
        self.known
    }

    /// Registers the request for a snapshot. The result must be passed to [`Self::taken`].
    pub(crate) fn ask(&mut self) -> Timestamp {
        *self.asked.entry(self.known).or_default() += 1;
        self.known
    }

    /// Ends a request: the snapshot is in use, or was not taken.
    pub(crate) fn taken(&mut self, asked: Timestamp) {
        if let Some(count) = self.asked.get_mut(&asked) {
            *count -= 1;
            if *count == 0 {
                self.asked.remove(&asked);
            }
        }
    }

    /// The low watermark, given the oldest snapshot in use.
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
