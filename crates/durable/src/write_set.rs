//! The writes of a transaction.

use bucket::TableWrites;
use catalog::TableId;
use imbl::OrdMap;

/// The writes of a transaction, by table. Persistent: a savepoint is a copy.
pub type WriteSet = OrdMap<TableId, TableWrites>;
