//! Takes the state of a store at a position of the log, for a checkpoint: pointers are copied under the
//! log's lock.

use crate::file::{TableFile, Tile};
use crate::machine::Machine;
use catalog::{Relation, RelationId, TableId};
use durable::{BucketCut, Cut, TableCut, TileCut};

/// Takes the state of a machine, whose lock the caller holds.
pub(crate) fn of(machine: &Machine) -> Cut {
    let head = machine.head();
    let is_shared =
        |id: RelationId| !head.catalog.relation_by_id(id).is_some_and(Relation::is_temporary);
    let files = head.files.iter().filter(|(id, _)| is_shared(id.relation()));
    let sequences = machine.sequences.iter().filter(|(id, _)| is_shared(**id));
    Cut {
        position: machine.log.position,
        index: machine.log.index,
        timestamp: head.timestamp,
        catalog: head.catalog.shared(),
        counters: machine.counters,
        sequences: sequences.map(|(id, state)| (*id, *state)).collect(),
        cluster: machine.cluster.clone(),
        tables: files.map(|(id, file)| table(*id, file)).collect(),
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
