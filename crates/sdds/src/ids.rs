//! Identifiers, each with its own type.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Identifies a bucket during its lifetime; a split creates a new one for the new half.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BucketId(pub u64);

/// Identifies a server: a process with a name, an address, and an identity on disk. Members of a cluster are servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ServerId(pub u64);

impl ServerId {
    /// No server: the founder of [`GroupId::NOBODY`].
    pub const NOBODY: Self = Self(u64::MAX);

    /// The group that the server has founded.
    pub fn own_group(self) -> GroupId {
        GroupId(self.0)
    }
}

/// Identifies a replica group: a log with its state, which owns ranges of keys. Who leads it is up to the list of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupId(pub u64);

impl GroupId {
    /// No group: the owner of keys that nobody has claimed since the directory began anew.
    pub const NOBODY: Self = Self(u64::MAX);

    /// The server that has founded the group.
    pub fn founder(self) -> ServerId {
        ServerId(self.0)
    }
}

/// Identifies a client of a file: a coordinating server, or a program with its own image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClientId(pub u64);

/// Identifies a request of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId(pub u64);

/// Identifies a transaction on several servers; it is the same on all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TransactionId {
    /// The server that the client is connected to.
    pub coordinator: ServerId,
    /// A number that the coordinator does not use again.
    pub number: u64,
}

/// Identifies a move of keys from one group to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MoveId {
    /// The group that gives the keys away. It has one move at a time.
    pub from: GroupId,
    /// A number that this group does not use again. Later moves have greater ones.
    pub number: u64,
}

/// Number of ownership changes of keys. Of two statements about a key the one with the higher epoch
/// is newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Epoch(pub u64);

impl Epoch {
    /// The epoch of a guess, which any information replaces.
    pub const GUESS: Self = Self(0);

    /// The epoch of the first owner.
    pub const FIRST: Self = Self(1);

    /// The epoch after the next ownership change.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A position in the commit order. A read at a timestamp sees the commits at or before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Before every commit.
    pub const ZERO: Self = Self(0);

    /// The timestamp of the next commit.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for BucketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for TransactionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.coordinator, self.number)
    }
}

impl fmt::Display for MoveId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.from, self.number)
    }
}
