//! A key: a byte string whose order is the order of the rows.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::fmt;

/// Keys up to this length need no memory of their own.
const INLINE_BYTES: usize = 24;

/// An order-preserving byte string made from a row's primary key columns.
///
/// How columns become bytes is the store's business; here only the order counts.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(from = "Vec<u8>", into = "Vec<u8>")]
pub struct Key(SmallVec<[u8; INLINE_BYTES]>);

impl Key {
    /// The bytes, in whose order keys are.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The least key above this one.
    pub fn successor(&self) -> Self {
        let mut bytes = self.0.clone();
        bytes.push(0);
        Self(bytes)
    }

    /// Bytes that the key holds outside itself: zero for short ones.
    pub fn heap_bytes(&self) -> usize {
        if self.0.spilled() { self.0.capacity() } else { 0 }
    }
}

impl Clone for Key {
    /// A copy of bytes: the derived one would go through them one by one.
    fn clone(&self) -> Self {
        Self(SmallVec::from_slice(&self.0))
    }
}

impl From<&[u8]> for Key {
    fn from(bytes: &[u8]) -> Self {
        Self(SmallVec::from_slice(bytes))
    }
}

impl From<Vec<u8>> for Key {
    fn from(bytes: Vec<u8>) -> Self {
        Self::from(bytes.as_slice())
    }
}

impl From<Key> for Vec<u8> {
    fn from(key: Key) -> Self {
        key.0.into_vec()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}
