//! Keys: byte strings in the order of the rows.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::fmt;

/// Maximum length of a key without a heap allocation.
const INLINE_BYTES: usize = 24;

/// An order-preserving byte string made from a row's primary key columns.
///
/// The store encodes columns as bytes ([`crate::encoding`]); this type only defines their order.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(from = "Vec<u8>", into = "Vec<u8>")]
pub struct Key(SmallVec<[u8; INLINE_BYTES]>);

impl Key {
    /// The bytes, which define the order of keys.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The smallest key above this one.
    pub fn successor(&self) -> Self {
        let mut bytes = self.0.clone();
        bytes.push(0);
        Self(bytes)
    }

    /// Heap bytes of the key; 0 for short ones.
    pub fn heap_bytes(&self) -> usize {
        if self.0.spilled() { self.0.capacity() } else { 0 }
    }
}

impl Clone for Key {
    /// Copies the bytes at once; the derived implementation would copy them one by one.
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
