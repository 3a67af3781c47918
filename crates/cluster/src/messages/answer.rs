//! Answers to requests.

use super::blob::Blob;
use super::codec::{encode, garbled};
use super::report::Held;
use crate::membership::{Member, Members};
use bytes::Bytes;
use sdds::balancing::Sizes;
use sdds::directory::Entry;
use sdds::{GroupId, KeyRange, Timestamp};
use serde::{Deserialize, Serialize};
use store::catalog::{Catalog, TableId};
use store::{Error, TableTotal};

/// What the root answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Beat {
    pub(crate) now: Timestamp,
    /// Versions that no snapshot at or after this can see may go.
    pub(crate) horizon: Timestamp,
    /// Where the caller knows an older version.
    pub(crate) members: Option<Members>,
    /// What each table has on all servers.
    pub(crate) totals: Vec<(TableId, TableTotal)>,
    /// What it should give to others.
    pub(crate) orders: Vec<Order>,
}

/// What of a table should move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) table: TableId,
    pub(crate) to: GroupId,
    /// More than this is not to move.
    pub(crate) size_max: u64,
    /// How that is reckoned.
    pub(crate) sizes: Sizes,
    /// Why, for whoever looks.
    pub(crate) reason: String,
}

/// An answer, or one of several.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Answer {
    Done,
    Joined {
        member: Member,
        members: Members,
        catalog: Catalog,
        timestamp: Timestamp,
    },
    Beat(Box<Beat>),
    Timestamp(Timestamp),
    /// None: it was rolled back.
    Outcome(Option<Timestamp>),
    Value(Option<i64>),
    Report(Box<Held>),
    /// Rows in the order of their positions.
    Found {
        rows: Option<Blob>,
        positions: Vec<u32>,
        adjustment: Adjustment,
    },
    Written {
        rows: u64,
    },
    /// How many rows an owner has changed, and the keys that it has left out: they are another's.
    Changed {
        rows: u64,
        rest: Vec<KeyRange>,
        adjustment: Adjustment,
    },
    /// Some keys are another's; nothing was done.
    NotOwned {
        range: KeyRange,
        adjustment: Adjustment,
    },
    /// Some of the rows that a fragment or an exchange gives.
    Batch(Blob),
    /// What whoever has sent a fragment can learn: beside its rows, and at their end.
    Adjustment(Adjustment),
    Owners(Vec<Entry>),
    Move(u64),
    Adopted(bool),
    Running(bool),
    Members(Members),
}

/// What the image of whoever asked can learn: entries by table, and how often requests were passed on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Adjustment {
    pub(crate) forwards: u32,
    pub(crate) entries: Vec<(TableId, Entry)>,
}

/// One answer, or what went wrong.
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
    garbled(&format!("unexpected answer {text}"))
}
