//! What servers ask each other about the owners of keys.

use super::ordinals::ordinals;
use sdds::KeyRange;
use sdds::directory::{Entry, Message};
use serde::{Deserialize, Serialize};
use store::catalog::TableId;

/// A request about owners.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum DirectoryRequest {
    /// To any server: the parts of a range that it owns.
    ListOwned {
        /// The table.
        table: TableId,
        /// The keys.
        range: KeyRange,
    },
    /// To any server: the owners of a range.
    FindOwners {
        /// The table.
        table: TableId,
        /// The keys.
        range: KeyRange,
        /// The number of servers that the request has reached, including the receiver.
        hops: u32,
    },
    /// A message of the directory, which is described there. Late, its epoch is old.
    Message {
        /// The table.
        table: TableId,
        /// The message.
        message: Message<()>,
    },
}

ordinals!(DirectoryRequest { 0 = ListOwned, 1 = FindOwners, 2 = Message as "Directory" });

/// The answer to a request about owners.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum DirectoryAnswer {
    /// To a message of the directory.
    Done,
    /// To the others: ranges and their owners.
    Owners(Vec<Entry>),
}

ordinals!(DirectoryAnswer { 0 = Done, 1 = Owners });
