//! Stations, which serve chunks in the order of their arrival.

use super::{Random, Time};
use crate::hardware::{Access, Arm, Disk};
use std::collections::VecDeque;

/// The index of a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StationId(pub(super) usize);

impl StationId {
    /// The station that was added `later` stations after this one.
    pub fn next(self, later: usize) -> Self {
        Self(self.0 + later)
    }
}

/// A station with its queue.
#[derive(Debug)]
pub struct Station<V> {
    channels: usize,
    serving: usize,
    waiting: VecDeque<V>,
    disk: Option<(Disk, Arm)>,
}

impl<V> Station<V> {
    /// A station that serves `channels` chunks at a time.
    ///
    /// # Panics
    /// If `channels` is 0.
    pub fn new(channels: usize) -> Self {
        assert!(channels > 0, "a station has a channel");
        Self { channels, serving: 0, waiting: VecDeque::new(), disk: None }
    }

    /// A disk.
    pub fn disk(disk: Disk) -> Self {
        Self { disk: Some((disk, Arm::default())), ..Self::new(1) }
    }

    /// A chunk arrives. Returns it if it can be served at once, otherwise queues it.
    pub(super) fn arrive(&mut self, chunk: V) -> Option<V> {
        if self.serving == self.channels {
            self.waiting.push_back(chunk);
            return None;
        }
        self.serving += 1;
        Some(chunk)
    }

    /// A chunk has been served. Returns the next one to serve.
    pub(super) fn leave(&mut self) -> Option<V> {
        let next = self.waiting.pop_front();
        if next.is_none() {
            self.serving -= 1;
        }
        next
    }

    /// The duration of an access that begins now; `progress` is its stream's position (0 to 1).
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
