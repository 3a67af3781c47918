//! What a server stores, as it reports to the root.

use sdds::Timestamp;
use serde::{Deserialize, Serialize};
use store::catalog::TableId;

/// What a server holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerLoad {
    /// Its tables' shares; those of which it has nothing are left out.
    pub tables: Vec<TableLoad>,
    /// Whether it is giving something away just now.
    pub is_moving: bool,
    /// The newest timestamp that it knows.
    pub newest: Timestamp,
}

/// What a server holds of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableLoad {
    /// The table.
    pub table: TableId,
    /// Bytes in its buckets there.
    pub bytes: u64,
    /// Rows there.
    pub rows: u64,
    /// Buckets there.
    pub buckets: u64,
    /// How often they are accessed a second, on average over a while.
    pub accesses: u64,
    /// At how many bytes one splits.
    pub bucket_size: u64,
}
