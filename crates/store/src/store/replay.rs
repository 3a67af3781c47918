//! Applies a checkpoint and the commands after it to a store that nobody uses yet.
//!
//! Buckets are compacted as they grow, so that a replay takes no more memory than the store did.
//! Splits and merges are commands: they are replayed, not decided again.

use super::Store;
use super::committing::Touched;
use crate::file::{TableFile, Tile};
use crate::log::Proposal;
use crate::machine::Machine;
use crate::snapshot::Published;
use bucket::{Accesses, Bucket, Layouts, Place, compaction};
use catalog::{RelationId, TableId, ids};
use durable::{BucketCut, ChunkFiles, ChunkReader, Command, Cut, Decoder, Flaw, TableCut};
use journal::Position;
use sdds::{Bound, KeyRange, Partition};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A replay that is running.
pub(super) struct Replay<'a> {
    store: &'a Store,
    layouts: Layouts,
    chunks: ChunkReader,
}

impl<'a> Replay<'a> {
    pub(super) fn new(store: &'a Store, files: Arc<ChunkFiles>) -> Self {
        Self { store, layouts: Layouts::default(), chunks: ChunkReader::new(files) }
    }

    /// Returns the bytes of chunk files that were read.
    pub(super) fn bytes(&self) -> u64 {
        self.chunks.bytes()
    }

    /// Executes `work` with what is needed to decode commands.
    pub(super) fn decode<T>(&mut self, work: impl FnOnce(&mut Decoder<'_>) -> T) -> T {
        let chunks = &mut self.chunks;
        let mut chunk = |place: &Place| chunks.chunk(place);
        work(&mut Decoder { layouts: &mut self.layouts, chunk: &mut chunk })
    }

    /// Begins with the state of a checkpoint.
    pub(super) fn restore(&mut self, cut: Cut) {
        let mut machine = self.store.machine();
        let bytes = cut.states().map(|state| state.bytes()).sum();
        self.store.memory().tables_changed(0, bytes);
        machine.log.position = cut.position;
        machine.log.index = cut.index;
        machine.counters = cut.counters;
        machine.sequences = cut.sequences;
        machine.cluster = cut.cluster;
        let files = cut.tables.into_iter().map(|table| (table.id, file(table))).collect();
        machine.restore(Published {
            timestamp: cut.timestamp,
            catalog: Arc::new(cut.catalog),
            files,
        });
        for frozen in machine.cluster.frozen.values() {
            machine.retile(frozen.table, &frozen.range, Tile::Leaving);
        }
    }

    /// Applies a command of the journal.
    ///
    /// # Errors
    /// [`journal::Error::Damaged`] if it cannot be decoded or is not the next one.
    pub(super) fn take(&mut self, from: &journal::Command<'_>) -> Result<(), journal::Error> {
        let mut machine = self.store.machine();
        let (group, index) = (self.store.group(), machine.log.index + 1);
        from.expect(group, index)?;
        let decoded = self.decode(|decoder| durable::decode(from.kind, from.body, decoder));
        let command = decoded.map_err(|flaw| match flaw {
            Flaw::Form(flaw) => from.damaged(flaw),
            Flaw::Chunk(error) => error,
        })?;
        let touched = touched(&machine, &command);
        machine.log.position = from.position;
        machine.log.index = index;
        machine.propose(Proposal { command, record: None })?;
        for (table, ranges) in touched.0 {
            compact(&mut machine, table, &ranges);
        }
        Ok(())
    }

    /// Ends the replay: ids continue after those that were allocated.
    pub(super) fn finish(&self, last: Position) {
        let mut machine = self.store.machine();
        machine.log.position = last;
        let counters = machine.counters;
        let relation = counters.relation.checked_sub(1).map(RelationId);
        let next = relation.map_or(1, |last| ids::relation_number(last) + 1);
        self.store.next_relation.store(next, Ordering::Relaxed);
        self.store.row_ids.store(counters.row, Ordering::Relaxed);
        self.store.row_ids_logged.store(counters.row, Ordering::Relaxed);
    }
}

/// Makes the file of a table from its tiles.
fn file(table: TableCut) -> Arc<TableFile> {
    let mut directory = Partition::new(Tile::Elsewhere);
    let highs: Vec<Bound> = table.tiles[1..].iter().map(|tile| tile.low.clone()).collect();
    let highs = highs.into_iter().chain([Bound::PosInf]);
    for (tile, high) in table.tiles.into_iter().zip(highs) {
        let range = KeyRange { low: tile.low, high };
        let held = tile.bucket.map(|BucketCut { id, accesses, state }| {
            let (state, accesses) = (Arc::unwrap_or_clone(state), Accesses::of_rate(accesses));
            Tile::Here(Bucket::accessed(id, range.clone(), state, accesses))
        });
        if let Some(tile) = held {
            directory.assign(&range, tile);
        }
    }
    TableFile::of(directory)
}

/// Returns the ranges that a command writes to.
fn touched(machine: &Machine, command: &Command) -> Touched {
    let writes = match command {
        Command::Commit { writes, .. } => Some(writes),
        Command::Decide { transaction, outcome: Some(_) } => {
            machine.cluster.prepared.get(transaction).map(|part| &part.writes)
        }
        _ => None,
    };
    writes.map_or_else(|| Touched(Vec::new()), |writes| Touched::by(machine, writes))
}

/// Compacts the buckets of some ranges that have grown.
fn compact(machine: &mut Machine, table: TableId, ranges: &[KeyRange]) {
    let head = Arc::clone(machine.head());
    let (Some(table), Some(file)) = (head.catalog.table_by_id(table), head.files.get(&table))
    else {
        return;
    };
    let horizon = machine.snapshots.horizon();
    let directory = file.directory();
    let tiles = ranges.iter().flat_map(|range| directory.cover(range));
    for bucket in tiles.filter_map(|(_, tile)| tile.owned()) {
        if !compaction::is_due(&bucket.state(), table.bucket_size) {
            continue;
        }
        let folded = compaction::fold(table, bucket, horizon);
        if let Some(folded) = folded.expect("what is stored can be read and written again") {
            machine.change_bucket(file, bucket, |state| folded.install(state));
        }
    }
}
