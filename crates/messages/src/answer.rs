//! What answers of all groups have in common.

use super::codec::{encode, invalid_message};
use bytes::Bytes;
use sdds::directory::Entry;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use store::Error;
use store::catalog::TableId;

/// An answer or an error.
pub type Reply<A> = Result<A, Error>;

/// Image adjustment: entries for the sender's image, and how often requests were forwarded.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Adjustment {
    /// Number of forwards.
    pub forwards: u32,
    /// Owners of ranges of tables.
    pub entries: Vec<(TableId, Entry)>,
}

impl Adjustment {
    /// The entries of one table.
    pub fn of(table: TableId, forwards: u32, entries: Vec<Entry>) -> Self {
        Self { forwards, entries: entries.into_iter().map(|entry| (table, entry)).collect() }
    }
}

/// Encodes the answer to a request.
pub fn encode_reply<A: Serialize>(reply: &Reply<A>) -> Bytes {
    match encode(reply) {
        Ok(bytes) => bytes,
        Err(error) => encode(&Reply::<A>::Err(error)).unwrap_or_default(),
    }
}

/// The error for an answer that does not belong to the request.
pub fn unexpected(answer: &impl Debug) -> Error {
    let text: String = format!("{answer:?}").chars().take(40).collect();
    invalid_message(&format!("unexpected answer {text}"))
}
