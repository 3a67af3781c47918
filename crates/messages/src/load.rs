//! What a server stores, as it reports to the root.

use sdds::Timestamp;
use serde::{Deserialize, Serialize};
use store::catalog::TableId;

/// What a server stores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerLoad {
    /// The tables of which it has buckets.
    pub tables: Vec<TableLoad>,
    /// Whether a move from it is running.
    pub is_moving: bool,
    /// The newest timestamp that it knows.
    pub newest: Timestamp,
}

/// What a server stores of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableLoad {
    /// The table.
    pub table: TableId,
    /// Bytes in its buckets.
    pub bytes: u64,
    /// Rows in its buckets.
    pub rows: u64,
    /// Number of its buckets.
    pub buckets: u64,
    /// Accesses per second to its buckets, averaged over about 10 s.
    pub accesses: u64,
    /// The size in bytes at which a bucket splits.
    pub bucket_size: u64,
}
