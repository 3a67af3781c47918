//! What a simulation has measured.

use crate::directory::Counters;

/// Everything that a run has to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Requests while the file grew.
    pub growing: Counters,
    /// Requests of newcomers to the file at rest, as many each as it has buckets.
    pub resting: Counters,
    /// Requests after that.
    pub converged: Counters,
    /// How the newcomers' images converged.
    pub windows: Vec<Window>,
    /// Answers that were wrong or incomplete. Anything but 0 is a defect.
    pub wrong: u64,
    /// Keys that were inserted.
    pub keys: u64,
    /// Buckets in the end.
    pub buckets: u64,
    /// Times that a bucket divided.
    pub splits: u64,
    /// Halves that went to another server.
    pub moves: u64,
    /// Pages of the directory in the end.
    pub pages: u64,
    /// Messages while the file grew.
    pub messages: Messages,
    /// Bytes of directory in the end.
    pub sizes: Sizes,
}

/// Forwards in a stretch of requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Requests that each client had made when it ended.
    pub requests: u64,
    /// Of a thousand requests within it, how many were forwarded.
    pub forwarded_per_thousand: f64,
}

/// Messages by what they were for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Messages {
    /// From clients to servers.
    pub requests: u64,
    /// Requests that servers passed on.
    pub forwards: u64,
    /// From servers to clients.
    pub replies: u64,
    /// For rows that change hands, with the record of it.
    pub moves: u64,
    /// For pages of the directory that change hands.
    pub pages: u64,
    /// The root to everybody.
    pub heartbeats: u64,
    /// Who owns this?
    pub asks: u64,
}

impl Messages {
    /// Those that a split costs, on average: everything that no client asked for.
    pub fn per_split(&self, splits: u64) -> f64 {
        let caused = self.moves + self.pages + self.heartbeats;
        if splits == 0 { 0.0 } else { caused as f64 / splits as f64 }
    }
}

/// Bytes of directory in memory, without what maps add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    /// A server's: what it owns, its pages and its copy of the root.
    pub server_mean: u64,
    /// The largest server's.
    pub server_max: u64,
    /// Of that, the copy of the root, which is alike everywhere.
    pub root: u64,
    /// A client's image once it has converged.
    pub client_mean: u64,
}
