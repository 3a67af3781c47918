//! Totals of tables, and counts of messages between servers.

use serde::{Deserialize, Serialize};

/// Totals of a table on all servers, as last reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TableTotal {
    /// Number of rows.
    pub rows: u64,
    /// Bytes in buckets.
    pub bytes: u64,
}

/// Messages in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MessageCount {
    /// Number of requests and answers.
    pub messages: u64,
    /// Their encoded size in bytes, without framing and encryption.
    pub bytes: u64,
}

/// Messages exchanged with other servers since the start. Heartbeats and requests for these counts
/// are not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// Own requests, and answers to requests of other servers.
    pub sent: MessageCount,
    /// Requests of other servers, and their answers.
    pub received: MessageCount,
}

/// Cost of locating the rows of a table since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Finding {
    /// Requests for keys of other servers on behalf of own clients.
    pub requests: u64,
    /// Number of times such a request was forwarded or had to be sent again to another server.
    pub forwards: u64,
    /// Image adjustments that improved the image.
    pub adjustments: u64,
    /// Broadcast lookups.
    pub broadcasts: u64,
}

impl Finding {
    /// Returns the number of messages on the way to owners: one for each request and forward.
    pub fn hops(&self) -> u64 {
        self.requests + self.forwards
    }
}
