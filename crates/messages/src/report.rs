//! The state of a server, for system tables and status commands.

use crate::{ServerLoad, TableLoad};
use sdds::directory::Entry;
use sdds::{GroupId, KeyRange};
use serde::{Deserialize, Serialize};
use store::catalog::TableId;
use store::{Finding, Traffic};

/// The state of a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerReport {
    /// What it stores.
    pub load: ServerLoad,
    /// Memory of rows and queries in bytes.
    pub memory: u64,
    /// The last moves from it, newest last.
    pub moves: Vec<MoveInfo>,
    /// Its images and their statistics.
    pub images: Vec<ImageInfo>,
    /// Running transactions of its clients that have written on other servers.
    pub coordinated: u64,
    /// Transactions of other coordinators with a part on it.
    pub participating: u64,
    /// Messages that it has sent and received.
    pub traffic: Traffic,
}

/// A server's image of one table, and its statistics.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImageInfo {
    /// The table.
    pub table: TableId,
    /// Believed owners of ranges.
    pub entries: Vec<Entry>,
    /// Statistics of finding rows with it.
    pub finding: Finding,
    /// Memory of the server's directory pages and image in bytes.
    pub bytes: u64,
    /// Number of directory pages on the server.
    pub pages: u64,
}

impl ServerReport {
    /// The sum of a value over all tables.
    pub fn sum(&self, of: fn(&TableLoad) -> u64) -> u64 {
        self.load.tables.iter().map(of).sum()
    }
}

/// A move, as seen by its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveInfo {
    /// The table.
    pub table: TableId,
    /// The range of keys.
    pub range: KeyRange,
    /// The destination.
    pub to: GroupId,
    /// Why it was moved.
    pub reason: String,
    /// `copying`, `waiting` for transactions that write there, `done`, or an error.
    pub state: String,
    /// Size of the buckets in bytes.
    pub bytes: u64,
    /// Bytes sent so far.
    pub sent: u64,
    /// Duration so far in microseconds.
    pub micros: u64,
    /// Microseconds for which requests waited.
    pub frozen_micros: u64,
    /// Row versions sent in that time.
    pub frozen_rows: u64,
}
