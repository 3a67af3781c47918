//! What a server must not forget of the cluster that it is a part of.
//!
//! Of `adopted`, the last move of each source is kept: a source begins a move when it knows the outcome of the one
//! before.

use crate::write_set::WriteSet;
use bucket::Chunk;
use catalog::stable::{Malformed, Source, Stable};
use catalog::{CatalogChange, TableId};
use sdds::{GroupId, KeyRange, MoveId, TransactionId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The part of a store's state that only servers of a cluster have.
#[derive(Debug, Clone, Default)]
pub struct ClusterState {
    /// Parts of transactions whose outcome is not known here.
    pub prepared: BTreeMap<TransactionId, PreparedPart>,
    /// Keys that other servers may have adopted.
    pub frozen: BTreeMap<MoveId, Frozen>,
    /// The last move of each group whose keys were adopted here.
    pub adopted: BTreeMap<GroupId, u64>,
    /// Facts by name, in the form of whoever keeps them.
    pub facts: BTreeMap<String, Vec<u8>>,
}

/// The part that a transaction has on one server.
#[derive(Debug, Clone)]
pub struct PreparedPart {
    /// The changes of the catalog, in order.
    pub catalog: Vec<CatalogChange>,
    /// The rows.
    pub writes: WriteSet,
}

/// Keys that are frozen for a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frozen {
    /// The move.
    pub of: MoveId,
    /// The table.
    pub table: TableId,
    /// The keys.
    pub range: KeyRange,
    /// The group that is to adopt them.
    pub to: GroupId,
}

impl Stable for Frozen {
    fn encode(&self, out: &mut Vec<u8>) {
        let Self { of, table, range, to } = self;
        of.encode(out);
        table.encode(out);
        range.encode(out);
        to.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            of: MoveId::decode(from)?,
            table: TableId::decode(from)?,
            range: KeyRange::decode(from)?,
            to: GroupId::decode(from)?,
        })
    }
}

impl ClusterState {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        let Self { prepared, frozen, adopted, facts } = self;
        prepared.is_empty() && frozen.is_empty() && adopted.is_empty() && facts.is_empty()
    }

    /// Returns the chunks of prepared loads.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &Arc<Chunk>> {
        let writes = self.prepared.values().flat_map(|part| part.writes.values());
        writes.flat_map(|writes| &writes.runs).flat_map(|run| &run.chunks)
    }
}
