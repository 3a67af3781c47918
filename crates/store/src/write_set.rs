//! The uncommitted writes of a transaction.

use bucket::TableWrites;
use catalog::TableId;
use imbl::OrdMap;

/// All writes of a transaction, by table. Persistent: a savepoint is a copy.
pub(crate) type WriteSet = OrdMap<TableId, TableWrites>;

/// Returns the bytes of the writes to all tables.
pub(crate) fn bytes(writes: &WriteSet) -> u64 {
    writes.values().map(|writes| writes.bytes).sum()
}
