//! What is locked, and by whom.

use sdds::{Key, ServerId};
use serde::{Deserialize, Serialize};

/// What a lock is on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// The row of a key, or the key itself where there is no row yet. The number is the table's.
    Row(u32, Key),
    /// A table.
    Table(u32),
    /// All keys of a table. Who requires many of them to stay locks this instead of each; who takes one away locks it, too.
    Keys(u32),
    /// A number that applications agree on (an advisory lock), or servers, in a space of its own.
    Advisory(Space, i64),
}

/// The space of a number: that of an advisory lock is one number of 64 bits, or two of 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Space {
    /// One number.
    One,
    /// Two numbers: the first in the upper half.
    Two,
    /// The number of a table that serializable transactions have read, while they commit. No application's.
    Serial,
}

/// Who conflicts with others: a session, or a transaction that no session runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Party {
    /// The server that the client is connected to.
    pub server: ServerId,
    /// A number that is unique there: of the session, or of the transaction.
    pub number: u64,
}

/// Who holds locks, and releases them together: a transaction of a party, or its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Owner {
    /// The party.
    pub party: Party,
    /// The transaction; 0 for the locks of a session.
    pub transaction: u64,
}

/// In the numbers of owners whose locks another server keeps.
const ELSEWHERE: u64 = 1 << 63;

impl Owner {
    /// Returns the owner as a server knows it that keeps its advisory locks for it. Its number is none that the server
    /// gives.
    pub fn elsewhere(self) -> Self {
        Self { transaction: self.transaction | ELSEWHERE, ..self }
    }

    /// Whether it is one of [`Self::elsewhere`].
    pub fn is_elsewhere(self) -> bool {
        self.transaction & ELSEWHERE != 0
    }
}

/// Identifies a request that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);
