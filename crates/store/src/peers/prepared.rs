//! A transaction on one server that has been prepared to commit.

use sdds::Timestamp;
use std::fmt::Debug;

/// Implements [`Prepared`]. Dropping it rolls the transaction back.
pub(crate) trait PreparedPart: Debug + Send + Sync {
    /// Returns the bytes of the writes.
    fn bytes(&self) -> u64;

    /// Makes the writes visible at a timestamp.
    fn commit(self: Box<Self>, timestamp: Timestamp);
}

/// A transaction that has been checked for conflicts, and is protected from new ones until it
/// commits. Dropping it rolls it back.
#[derive(Debug)]
pub struct Prepared(Box<dyn PreparedPart>);

impl Prepared {
    pub(crate) fn new(part: impl PreparedPart + 'static) -> Self {
        Self(Box::new(part))
    }

    /// Returns the bytes of its writes.
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// Makes the writes visible at a timestamp. It must be greater than every timestamp that the
    /// store had seen when the transaction was prepared, and no other commit may have it. Commits
    /// may come in any order.
    pub fn commit(self, timestamp: Timestamp) {
        self.0.commit(timestamp);
    }
}
