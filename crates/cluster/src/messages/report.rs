//! The state of a server, for system tables and status commands.

use crate::membership::{ServerLoad, TableLoad};
use sdds::directory::Entry;
use sdds::{GroupId, KeyRange};
use serde::{Deserialize, Serialize};
use store::catalog::TableId;
use store::{Finding, Traffic};

/// What one server holds and does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Held {
    /// Its tables.
    pub load: ServerLoad,
    /// Bytes of rows and queries in its memory.
    pub memory: u64,
    /// The last moves from there.
    pub moves: Vec<MoveInfo>,
    /// What finding rows has cost there.
    pub images: Vec<ImageInfo>,
    /// Transactions of its own clients that have written on other servers and go on.
    pub coordinated: u64,
    /// Transactions that have a part there and are coordinated elsewhere.
    pub participating: u64,
    /// What it has said to other servers and heard from them.
    pub traffic: Traffic,
}

/// A server's image of one table, and what it has cost.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImageInfo {
    /// The table.
    pub table: TableId,
    /// Who is believed to own what.
    pub entries: Vec<Entry>,
    /// What finding rows has cost with it.
    pub finding: Finding,
    /// Bytes of the directory and the image.
    pub bytes: u64,
    /// Pages of the directory that the server keeps.
    pub pages: u64,
}

impl Held {
    /// Something of all tables.
    pub(crate) fn sum(&self, of: fn(&TableLoad) -> u64) -> u64 {
        self.load.tables.iter().map(of).sum()
    }
}

/// A move, as its source sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveInfo {
    /// The table.
    pub table: TableId,
    /// The keys.
    pub range: KeyRange,
    /// To which group.
    pub to: GroupId,
    /// Why.
    pub reason: String,
    /// `copying`, `waiting` for transactions that write there, `done`, or what went wrong.
    pub state: String,
    /// Bytes to carry, as the buckets count them.
    pub bytes: u64,
    /// Bytes that have been sent.
    pub sent: u64,
    /// Microseconds since its begin, or that it took.
    pub micros: u64,
    /// Microseconds for which requests had to wait.
    pub frozen_micros: u64,
    /// Rows, or versions of them, that were sent in that time.
    pub frozen_rows: u64,
}
