//! The state of a store at a position of the log: what a checkpoint contains. Taken under the log's
//! lock by copying pointers, and written without it.

use crate::cluster_state::ClusterState;
use crate::state::{IdCounters, SequenceState};
use bucket::{BucketState, Chunk};
use catalog::{Catalog, RelationId, TableId};
use journal::Position;
use sdds::{Bound, BucketId, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state at a position. Temporary relations are left out.
#[derive(Debug)]
pub struct Cut {
    /// The position in the journal.
    pub position: Position,
    /// The index in the log of the group.
    pub index: u64,
    /// The timestamp of the newest commit.
    pub timestamp: Timestamp,
    /// The catalog.
    pub catalog: Catalog,
    /// The next ids.
    pub counters: IdCounters,
    /// The sequences.
    pub sequences: BTreeMap<RelationId, SequenceState>,
    /// What belongs to a cluster.
    pub cluster: ClusterState,
    /// The tables.
    pub tables: Vec<TableCut>,
}

/// The tiles of a table in key order.
#[derive(Debug)]
pub struct TableCut {
    /// The table.
    pub id: TableId,
    /// The tiles.
    pub tiles: Vec<TileCut>,
}

/// A tile: it begins at a bound and ends where the next one begins.
#[derive(Debug)]
pub struct TileCut {
    /// Where it begins.
    pub low: Bound,
    /// `None` if another server owns it.
    pub bucket: Option<BucketCut>,
}

/// A bucket.
#[derive(Debug)]
pub struct BucketCut {
    /// The id.
    pub id: BucketId,
    /// Average accesses per second.
    pub accesses: u64,
    /// Its rows.
    pub state: Arc<BucketState>,
}

impl TableCut {
    /// Returns the states of its buckets.
    pub fn states(&self) -> impl Iterator<Item = &Arc<BucketState>> {
        let buckets = self.tiles.iter().filter_map(|tile| tile.bucket.as_ref());
        buckets.map(|bucket| &bucket.state)
    }
}

impl Cut {
    /// Returns the states of all buckets.
    pub fn states(&self) -> impl Iterator<Item = &Arc<BucketState>> {
        self.tables.iter().flat_map(|table| table.states())
    }

    /// Returns the chunks of all buckets and of prepared loads.
    pub fn chunks(&self) -> Vec<Arc<Chunk>> {
        let runs = self.states().flat_map(|state| state.runs());
        runs.flat_map(|run| &run.chunks).chain(self.cluster.chunks()).cloned().collect()
    }
}
