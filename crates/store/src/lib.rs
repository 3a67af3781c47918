//! One server's memory: tables as files of splitting buckets, read at snapshots and written by transactions.
//!
//! A [`Store`] holds tables. Each is one ordered file of buckets, and a bucket is a delta of recent row
//! versions over immutable Arrow runs. Readers take a [`Snapshot`] and scan [`Morsel`]s or look keys up;
//! writers gather changes in a [`Transaction`], and a commit is one entry of a log that a state machine
//! applies. Nothing else changes anything.
//!
//! In a cluster a store owns part of each table ([`TableView::owns`]), knows other servers as [`Peers`], and takes part in
//! transactions on several of them ([`DistributedTransaction`], [`Prepared`]).
//!
//! Not here: SQL (`query`), messages between servers (`cluster`).

mod accesses;
mod bucket;
pub mod catalog;
mod check;
mod chunk;
mod compaction;
mod conflicts;
mod delta;
mod distributed;
mod distributed_load;
mod error;
mod file;
mod find;
mod holds;
mod info;
mod ingest;
pub mod key;
mod layout;
mod log;
mod machine;
mod maintenance;
mod memory;
mod morsel;
mod moving;
mod newest;
mod peers;
mod pieces;
mod prepared;
mod present;
mod pushdown;
mod row;
mod sequences;
mod snapshot;
mod source;
mod store;
#[cfg(test)]
mod test_tables;
#[cfg(test)]
mod tests;
mod transaction;
mod view;
mod views;
mod wire;
mod write_set;
pub mod zone;

/// How often what was sent to an owner that had given its keys away is sent again. Each time the image has learned.
const ATTEMPTS: usize = 64;

pub use chunk::CHUNK_ROWS;
pub use distributed::{DistributedSavepoint, DistributedTransaction};
pub use error::{Error, Failure};
pub use info::{BucketInfo, Counters, Holdings, RunInfo, SplitInfo};
pub use ingest::IngestPart;
pub use memory::Memory;
pub use morsel::Morsel;
pub use moving::{Busy, MoveIn, MoveOut, Pieces};
pub use peers::{
    BatchStream, Delivery, ExchangeId, Finding, Fragments, MessageCount, MoveSetting, MoveSettings,
    Peers, Reader, Reading, TableTotal, Traffic, TransactionId, Whereabouts, Write,
};
pub use prepared::Prepared;
pub use pushdown::{Changed, PushdownStep, PushdownSteps};
pub use row::VALUE_BYTES_MAX;
pub use snapshot::Snapshot;
pub use store::{Options, Store};
pub use transaction::{Savepoint, Transaction};
pub use view::TableView;
pub use views::compact_views;
pub use zone::{Zone, ZoneValue};
