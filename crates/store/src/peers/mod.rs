//! The other servers of a cluster as transactions see them: how rows are located, read and written
//! there, and how distributed transactions end.
//!
//! Crate `cluster` implements [`Peers`]. A store without peers owns all rows of all tables.
//! Requests name keys, not buckets, and an owner verifies that it owns them. After
//! [`Error::NotOwned`](crate::Error::NotOwned), the image has learned of another owner.
//!
//! - [`Knowledge`]: what this server knows by itself.
//! - [`RowPeers`]: rows, of the owners of their keys.
//! - [`TransactionPeers`]: snapshots, commits and locks.
//! - [`ClusterPeers`]: settings, sequences, system tables and notifications.
//!
//! A function takes the one that it needs, and [`Peers`] if it needs several.

mod cluster;
mod knowledge;
mod metrics;
mod prepared;
mod pushdown;
mod requests;
mod rows;
mod transactions;
mod write;

pub use cluster::ClusterPeers;
pub use knowledge::Knowledge;
pub use metrics::{Finding, MessageCount, TableTotal, Traffic};
pub(crate) use prepared::PreparedPart;
pub use prepared::{Acknowledgement, Prepared};
pub use protocols::membership::{MoveSetting, MoveSettings};
pub use pushdown::{Changed, PushdownStep, PushdownSteps};
pub use requests::{
    BatchStream, Delivery, ExchangeId, LockPolicy, Reader, RequiredLocks, RowLocks, Whereabouts,
};
pub use rows::RowPeers;
pub use transactions::TransactionPeers;
pub(crate) use write::BATCH_BYTES_MAX;
pub use write::{Write, Written};

/// Maximum number of times that a request is sent again because its receiver does not own the keys
/// any more. Each time, the image has learned of another owner.
pub(crate) const ATTEMPTS_MAX: usize = 64;

/// The other servers. Calls have deadlines. They fail with [`Error::Unreachable`](crate::Error::Unreachable) when the
/// deadline passes, or a server cannot be reached.
pub trait Peers: Knowledge + RowPeers + TransactionPeers + ClusterPeers {}

impl<T: Knowledge + RowPeers + TransactionPeers + ClusterPeers> Peers for T {}
