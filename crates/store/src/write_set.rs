//! The uncommitted writes of a transaction.

pub(crate) use durable::WriteSet;

/// Returns the bytes of the writes to all tables.
pub(crate) fn bytes(writes: &WriteSet) -> u64 {
    writes.values().map(|writes| writes.bytes).sum()
}
