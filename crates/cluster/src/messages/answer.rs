//! Answers to requests.

use super::blob::Blob;
use super::codec::{encode, invalid_message};
use super::report::ServerReport;
use crate::membership::{Member, Members};
use bytes::Bytes;
use sdds::balancing::Sizes;
use sdds::directory::Entry;
use sdds::{GroupId, Key, KeyRange, Timestamp};
use serde::{Deserialize, Serialize};
use store::catalog::{Catalog, TableId};
use store::locks::Party;
use store::{Error, IndexChanges, TableTotal};

/// The root's answer to a heartbeat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct HeartbeatAnswer {
    pub(crate) now: Timestamp,
    /// Row versions that no snapshot at or after this needs may be removed.
    pub(crate) horizon: Timestamp,
    /// The number of the last start of a server that had its rows before: the directory begins anew with each.
    pub(crate) generation: u64,
    /// Set if the sender has an older list.
    pub(crate) members: Option<Members>,
    /// The size of each table on all servers.
    pub(crate) totals: Vec<(TableId, TableTotal)>,
    /// What the sender should move to other servers.
    pub(crate) orders: Vec<MoveOrder>,
}

/// A move that the root orders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MoveOrder {
    pub(crate) table: TableId,
    pub(crate) to: GroupId,
    /// Maximum size to move.
    pub(crate) size_max: u64,
    /// The measure of size.
    pub(crate) sizes: Sizes,
    /// Why, for `pando.moves`.
    pub(crate) reason: String,
}

/// An answer, or one of a stream.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Answer {
    Done,
    Joined {
        member: Member,
        members: Members,
        catalog: Box<Catalog>,
        timestamp: Timestamp,
        /// How often servers have been started, with this time.
        start: u64,
        /// The identity of the cluster; `None` if it keeps no data.
        cluster: Option<u64>,
    },
    Heartbeat(Box<HeartbeatAnswer>),
    Timestamp(Timestamp),
    /// `None` if it was rolled back.
    Outcome(Option<Timestamp>),
    Value(Option<i64>),
    Report(Box<ServerReport>),
    /// Rows, and for each the position of its key in the request.
    Found {
        rows: Option<Blob>,
        positions: Vec<u32>,
        adjustment: Adjustment,
    },
    /// The number of written rows, and what changes in indexes.
    Written {
        rows: u64,
        entries: IndexChanges,
    },
    /// The number of changed rows, the ranges that the server does not own, and what changes in indexes.
    Changed {
        rows: u64,
        rest: Vec<KeyRange>,
        entries: IndexChanges,
        adjustment: Adjustment,
    },
    /// The server does not own all keys; nothing was done.
    NotOwned {
        range: KeyRange,
        adjustment: Adjustment,
    },
    /// A batch of the rows of a fragment or an exchange.
    Batch(Blob),
    /// An adjustment for the sender of a fragment.
    Adjustment(Adjustment),
    Owners(Vec<Entry>),
    Move(u64),
    Adopted(bool),
    Running(bool),
    Members(Members),
    /// Keys of rows.
    Keys(Vec<Key>),
    /// Which rows are locked.
    Locked(Vec<bool>),
    /// Which parties wait for which.
    Waits(Vec<(Party, Party)>),
    /// The ranges that a server owns of a table; `None` if rows have changed.
    Unchanged(Option<Vec<KeyRange>>),
}

/// Image adjustment: entries for the sender's image, and how often requests were forwarded.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Adjustment {
    pub(crate) forwards: u32,
    pub(crate) entries: Vec<(TableId, Entry)>,
}

/// An answer or an error.
pub(crate) type Reply = Result<Answer, Error>;

impl Adjustment {
    /// The entries of one table.
    pub(crate) fn of(table: TableId, forwards: u32, entries: Vec<Entry>) -> Self {
        Self { forwards, entries: entries.into_iter().map(|entry| (table, entry)).collect() }
    }
}

/// Encodes the answer to a request.
pub(crate) fn encode_reply(reply: &Reply) -> Bytes {
    match encode(reply) {
        Ok(bytes) => bytes,
        Err(error) => encode(&Reply::Err(error)).unwrap_or_default(),
    }
}

/// The error for an answer that does not belong to the request.
pub(crate) fn unexpected(answer: &Answer) -> Error {
    let text: String = format!("{answer:?}").chars().take(40).collect();
    invalid_message(&format!("unexpected answer {text}"))
}
