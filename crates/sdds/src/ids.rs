//! The numbers that name things, each a type of its own.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Names a bucket for as long as it exists; a split gives the new half a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BucketId(pub u64);

/// Names a replica group: who serves ranges of keys. Which server leads it is the business of whoever
/// carries messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupId(pub u64);

/// Names a client of a file: a coordinating server, or a program with an image of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClientId(pub u64);

/// Names a request among those of its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId(pub u64);

/// How often keys have changed hands. Of two statements about one key the one of the higher epoch is newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Epoch(pub u64);

impl Epoch {
    /// Of a guess, which anything that is known replaces.
    pub const GUESS: Self = Self(0);

    /// Of the first owner of everything.
    pub const FIRST: Self = Self(1);

    /// After the next change of hands.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A point in the order of commits. A read at a timestamp sees the commits at or before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Before every commit.
    pub const ZERO: Self = Self(0);

    /// The timestamp of the commit after this one.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for BucketId {
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
