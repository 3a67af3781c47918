//! The state of a store at a position of the log: what a checkpoint contains. Taken under the log's
//! lock by copying pointers, and written without it.

use crate::file::{TableFile, Tile};
use crate::machine::{IdCounters, Machine, SequenceState};
use bucket::{BucketState, Chunk};
use catalog::{Catalog, Relation, RelationId, TableId};
use journal::Position;
use sdds::{Bound, BucketId, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state at a position. Temporary relations are left out.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) position: Position,
    /// The index in the log of the group.
    pub(crate) index: u64,
    pub(crate) timestamp: Timestamp,
    pub(crate) catalog: Catalog,
    pub(crate) counters: IdCounters,
    pub(crate) sequences: BTreeMap<RelationId, SequenceState>,
    pub(crate) tables: Vec<TableCut>,
}

/// The tiles of a table in key order.
#[derive(Debug)]
pub(crate) struct TableCut {
    pub(crate) id: TableId,
    pub(crate) tiles: Vec<TileCut>,
}

/// A tile: it begins at a bound and ends where the next one begins.
#[derive(Debug)]
pub(crate) struct TileCut {
    pub(crate) low: Bound,
    /// `None` if another server owns it.
    pub(crate) bucket: Option<BucketCut>,
}

/// A bucket.
#[derive(Debug)]
pub(crate) struct BucketCut {
    pub(crate) id: BucketId,
    /// Average accesses per second.
    pub(crate) accesses: u64,
    pub(crate) state: Arc<BucketState>,
}

impl Cut {
    /// Takes the state of a machine, whose lock the caller holds.
    pub(crate) fn of(machine: &Machine) -> Self {
        let head = machine.head();
        let is_shared =
            |id: RelationId| !head.catalog.relation_by_id(id).is_some_and(Relation::is_temporary);
        let files = head.files.iter().filter(|(id, _)| is_shared(id.relation()));
        let sequences = machine.sequences.iter().filter(|(id, _)| is_shared(**id));
        Self {
            position: machine.log.position,
            index: machine.log.index,
            timestamp: head.timestamp,
            catalog: head.catalog.shared(),
            counters: machine.counters,
            sequences: sequences.map(|(id, state)| (*id, *state)).collect(),
            tables: files.map(|(id, file)| table(*id, file)).collect(),
        }
    }

    /// Returns the states of all buckets.
    pub(crate) fn states(&self) -> impl Iterator<Item = &Arc<BucketState>> {
        let tiles = self.tables.iter().flat_map(|table| &table.tiles);
        tiles.filter_map(|tile| tile.bucket.as_ref()).map(|bucket| &bucket.state)
    }

    /// Returns the chunks of all buckets.
    pub(crate) fn chunks(&self) -> Vec<Arc<Chunk>> {
        let runs = self.states().flat_map(|state| state.runs());
        runs.flat_map(|run| run.chunks.iter().cloned()).collect()
    }
}

fn table(id: TableId, file: &TableFile) -> TableCut {
    let directory = file.directory();
    let tiles = directory.iter().map(|(range, tile)| {
        let bucket = Tile::held(tile).map(|bucket| BucketCut {
            id: bucket.id,
            accesses: bucket.accesses.rate(),
            state: bucket.state(),
        });
        TileCut { low: range.low, bucket }
    });
    TableCut { id, tiles: tiles.collect() }
}
