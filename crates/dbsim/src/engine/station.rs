//! Places where chunks are served, first come, first served.

use super::{Random, Time};
use crate::hardware::{Access, Arm, Disk};
use std::collections::VecDeque;

/// A station, by the order in which stations were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StationId(pub(super) usize);

impl StationId {
    /// The station that was added so many later.
    pub fn next(self, later: usize) -> Self {
        Self(self.0 + later)
    }
}

/// A station: what is served there, and who waits.
#[derive(Debug)]
pub struct Station<V> {
    channels: usize,
    serving: usize,
    waiting: VecDeque<V>,
    disk: Option<(Disk, Arm)>,
}

impl<V> Station<V> {
    /// A station that serves so many at a time.
    ///
    /// # Panics
    /// Without any channel nobody would ever be served.
    pub fn new(channels: usize) -> Self {
        assert!(channels > 0, "a station has a channel");
        Self { channels, serving: 0, waiting: VecDeque::new(), disk: None }
    }

    /// A disk.
    pub fn disk(disk: Disk) -> Self {
        Self { disk: Some((disk, Arm::default())), ..Self::new(1) }
    }

    /// Somebody comes: back at once who can be served, else he waits.
    pub(super) fn arrive(&mut self, visit: V) -> Option<V> {
        if self.serving == self.channels {
            self.waiting.push_back(visit);
            return None;
        }
        self.serving += 1;
        Some(visit)
    }

    /// Somebody has been served: who is next.
    pub(super) fn leave(&mut self) -> Option<V> {
        let next = self.waiting.pop_front();
        if next.is_none() {
            self.serving -= 1;
        }
        next
    }

    /// How long an access takes that begins now, when its stream has got so far (0 to 1).
    pub(super) fn access(
        &mut self,
        access: &Access,
        stream: u64,
        progress: f64,
        random: &mut Random,
    ) -> Time {
        let (disk, arm) = self.disk.as_mut().expect("accesses go to disks");
        Time::from_seconds(disk.serve(arm, access, stream, progress, &mut || random.unit()))
    }
}
