//! Limits on clients.

use std::time::Duration;

/// Limits on clients.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum length of a message in bytes.
    pub message_bytes_max: usize,
    /// Time from the first byte to the end of the login.
    pub startup_timeout: Duration,
    /// Maximum number of connections.
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
