//! What identifies requests to other servers, and how they are answered.

use crate::Error;
use arrow::array::RecordBatch;
use catalog::CatalogChange;
use futures::stream::BoxStream;
use locks::{Mode, Owner, Party};
use sdds::directory::Entry;
use sdds::{GroupId, Key, ServerId, Timestamp, TransactionId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Rows from another server, in the order in which it sends them.
pub type BatchStream = BoxStream<'static, Result<RecordBatch, Error>>;

/// Id of an exchange: the output of an operator, partitioned among the servers that run the next
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExchangeId {
    /// The server that coordinates the statement.
    pub coordinator: ServerId,
    /// Number that the coordinator does not reuse.
    pub number: u64,
}

/// The owners of some keys, for a client that sends requests to owners itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// The presumed owners.
    pub entries: Vec<Entry>,
    /// Addresses (`host:port`) at which PostgreSQL clients reach the servers that lead those groups, as
    /// far as known.
    pub servers: Vec<(GroupId, String)>,
}

/// The identity under which rows are read and written on other servers.
#[derive(Debug, Clone)]
pub struct Reader {
    /// The snapshot.
    pub timestamp: Timestamp,
    /// The transaction whose writes are visible too.
    pub transaction: Option<TransactionId>,
    /// The catalog changes of the transaction so far.
    pub changes: Arc<[CatalogChange]>,
    /// The newest savepoint of the transaction. Rolling back to it undoes what is written now.
    pub savepoint: u64,
    /// The party for which its writes lock rows; `None` if they do not.
    pub locks: Option<Party>,
    /// Whether its writes wait for locks of others, instead of failing.
    pub waits: bool,
}

/// Locks that a commit depends on: it fails if the server that keeps them has lost some, because it was started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequiredLocks {
    /// Who has them.
    pub owner: Owner,
    /// How many there are.
    pub count: u32,
}

/// Rows to be locked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RowLocks {
    /// Their keys.
    pub keys: Vec<Key>,
    /// The mode.
    pub mode: Mode,
    /// What is done where another party has a lock.
    pub policy: LockPolicy,
}

/// What a request for a lock does where another party has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LockPolicy {
    /// It waits.
    Wait,
    /// NOWAIT: it fails.
    Refuse,
    /// SKIP LOCKED: it leaves the row out.
    Skip,
}

/// How another server delivers a stream of answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Delivery {
    /// As fast as there is buffer space on this server.
    #[default]
    Pushed,
    /// The first answer signals that rows are available. The others are sent when the second is
    /// requested.
    Pulled,
}
