//! Settings that have the same value on all servers of a cluster.

use std::num::NonZeroU64;
use store::Store;

/// Whether buckets move between servers.
pub const MOVES: &str = "pando.moves";
/// Maximum number of bytes per second that a server sends in moves of buckets; 0 means no limit.
pub const BYTES_PER_SECOND: &str = "pando.move_bytes_per_second";

/// The current value of a setting of the cluster; `None` for other settings.
pub fn value(store: &Store, name: &str) -> Option<String> {
    let moves = store.peers().map(|peers| peers.move_settings()).unwrap_or_default();
    match name {
        MOVES => Some(if moves.is_paused { "paused" } else { "running" }.to_owned()),
        BYTES_PER_SECOND => Some(moves.bytes_per_second.map_or(0, NonZeroU64::get).to_string()),
        _ => None,
    }
}

/// Replaces the values of the cluster's settings by the current ones.
pub fn with_values(store: &Store, settings: &mut [(String, String)]) {
    for (name, shown) in settings {
        if let Some(value) = value(store, name) {
            *shown = value;
        }
    }
}
