//! Limits on clients.

use std::time::Duration;

/// What a client may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a message.
    pub message_bytes_max: usize,
    /// Time from the first byte to the end of log-in.
    pub startup_timeout: Duration,
    /// Connections at a time.
    pub connections_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes_max: 256 << 20,
            startup_timeout: Duration::from_secs(60),
            connections_max: 10_000,
        }
    }
}
