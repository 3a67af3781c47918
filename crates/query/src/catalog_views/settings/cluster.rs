//! Settings that are the same on all servers of a cluster.

use std::num::NonZeroU64;
use store::Store;

/// Whether buckets move between servers.
pub(crate) const MOVES: &str = "pando.moves";
/// Bytes that a server moves to other servers in a second at most.
pub(crate) const BYTES_PER_SECOND: &str = "pando.move_bytes_per_second";

/// What a setting of the whole cluster is now; `None` for any other.
pub(crate) fn value(store: &Store, name: &str) -> Option<String> {
    let moves = store.peers().map(|peers| peers.move_settings()).unwrap_or_default();
    match name {
        MOVES => Some(if moves.is_paused { "paused" } else { "running" }.to_owned()),
        BYTES_PER_SECOND => Some(moves.bytes_per_second.map_or(0, NonZeroU64::get).to_string()),
        _ => None,
    }
}

/// A session's settings, with what those of the whole cluster are now.
pub(crate) fn with_values(store: &Store, settings: &mut [(String, String)]) {
    for (name, shown) in settings {
        if let Some(value) = value(store, name) {
            *shown = value;
        }
    }
}
