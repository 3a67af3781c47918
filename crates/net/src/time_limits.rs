//! The time limits and pauses of connections. Whoever uses this crate sets them.

use std::time::Duration;

/// Time limits and pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// The handshake of a connection, on either side.
    pub handshake: Duration,
    /// How long an expected frame may be missing before the other side is probed. After the same time again the connection
    /// is considered lost.
    pub keep_alive: Duration,
    /// How long the other side has to close a connection after the last frame.
    pub closing: Duration,
    /// The pause after the first failure to connect to a server. Each further failure doubles it.
    pub back_off: Duration,
    /// The longest such pause.
    pub back_off_max: Duration,
    /// The pause after the system could not accept a connection: it has no more file descriptors.
    pub no_connection_pause: Duration,
}
