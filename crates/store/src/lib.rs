//! The tables of one server in main memory: files of splitting buckets, read at snapshots and
//! written by transactions.
//!
//! A [`Store`] contains tables. Each is an ordered file of buckets. Readers take a [`Snapshot`],
//! and scan [`Morsel`]s or look keys up. Writers stage changes in a [`Transaction`]. A commit is an
//! entry of a log that a state machine applies; nothing else changes tables and the catalog.
//!
//! In a cluster, a store owns a part of each table ([`TableView::owns`]), reaches other servers
//! through [`Peers`], and participates in distributed transactions ([`DistributedTransaction`],
//! [`Prepared`]).
//!
//! With a data directory ([`Store::open_durable`]), commands are written to a journal, and the state to
//! checkpoints; a restart finds every acknowledged commit again.
//!
//! Below: one bucket (`bucket`), definitions (`catalog`) and the log on disk (`journal`). Not here: SQL (`query`), messages
//! between servers (`cluster`).

mod cut;
mod distributed;
mod error;
mod file;
mod holds;
mod info;
mod locking;
mod log;
mod machine;
mod memory;
mod moving;
mod peers;
mod publishing;
mod queue;
mod read;
mod snapshot;
mod store;
#[cfg(test)]
#[path = "../../bucket/src/test_tables.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod test_tables;
#[cfg(test)]
mod tests;
mod transaction;
mod write_set;

pub use bucket::arrays::compact_views;
pub use bucket::zone::{Zone, ZoneValue};
pub use bucket::{CHUNK_ROWS, End, IndexChanges, IndexedRows, Morsel, VALUE_BYTES_MAX, key, zone};
pub use distributed::{Around, DistributedSavepoint, DistributedTransaction, within};
pub use durable::{Frozen, KeptCheckpoint, inspection};
pub use error::{Error, Failure};
pub use holds::Kept;
pub use info::{BucketInfo, Counters, Holdings, RunInfo, SplitInfo};
pub use locking::{DEADLOCK_PAUSE, LockWait, refuse_deadlock};
pub use memory::Memory;
pub use moving::{Busy, MoveIn, MoveOut, Pieces};
pub use peers::{
    Acknowledgement, BatchStream, Changed, ClusterPeers, Delivery, ExchangeId, Finding, Knowledge,
    LockPolicy, MessageCount, MoveSetting, MoveSettings, Peers, Prepared, PushdownStep,
    PushdownSteps, Reader, RequiredLocks, RowLocks, RowPeers, TableTotal, Traffic,
    TransactionPeers, Whereabouts, Write, Written,
};
pub use read::{Fragments, Reading, TableView, Walk};
pub use references::{DeferredCheck, RowChange, RowChanges, Side};
pub use sdds::{MoveId, TransactionId};
pub use snapshot::Snapshot;
pub use store::{
    CHECKPOINT_BYTES, Data, IndexExpressions, Options, Progress, Recovery, RecoveryStage, Store,
    server_of,
};
pub use transaction::{IngestPart, Savepoint, Transaction};
pub use {bucket, catalog, journal, locks};
