//! Settings for moves between servers.

use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Settings for moves between servers, the same on all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveSettings {
    /// Whether moves are paused.
    pub is_paused: bool,
    /// Rate limit for each source in bytes per second; `None` for no limit.
    pub bytes_per_second: Option<NonZeroU64>,
}

/// A change of [`MoveSettings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MoveSetting {
    /// Whether moves are paused.
    IsPaused(bool),
    /// Rate limit for each source in bytes per second; `None` for no limit.
    BytesPerSecond(Option<NonZeroU64>),
}

impl MoveSettings {
    /// Applies a change.
    pub fn change(&mut self, change: MoveSetting) {
        match change {
            MoveSetting::IsPaused(is_paused) => self.is_paused = is_paused,
            MoveSetting::BytesPerSecond(limit) => self.bytes_per_second = limit,
        }
    }
}
