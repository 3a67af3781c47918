//! The owner's side of a move.

use super::piece::Pieces;
use crate::Error;
use crate::bucket::BucketState;
use crate::catalog::{Table, TableId};
use crate::chunk::Run;
use crate::delta::{Delta, Version};
use crate::file::{TableFile, Tile};
use crate::holds::HoldId;
use crate::log::Entry;
use crate::machine::Machine;
use crate::store::Store;
use sdds::{Bound, KeyRange};
use std::sync::Arc;

/// Why keys cannot be frozen now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Busy {
    /// Running transactions have written there: it may be tried again when they have ended.
    #[error("running transactions have written to the keys")]
    Written,
    /// The table was emptied or dropped: this move comes to nothing.
    #[error("the table was emptied or dropped")]
    Gone,
}

/// Keys that are on their way to another server. Dropping it before [`Self::finish`] leaves everything as it was.
#[derive(Debug)]
pub struct MoveOut {
    store: Arc<Store>,
    table: TableId,
    file: Arc<TableFile>,
    range: KeyRange,
    hold: HoldId,
    /// What has been sent of each bucket, in key order: while it moves, it is neither divided nor compacted.
    sent: Vec<Arc<BucketState>>,
    is_frozen: bool,
}

impl Store {
    /// Begins to move keys away. Their buckets are compacted where that is due, and left alone from then on.
    ///
    /// # Errors
    /// [`Error::RelationMissing`]; [`Error::NotOwned`] where some are not owned here or are moving already.
    pub fn move_out(self: &Arc<Self>, table: TableId, range: &KeyRange) -> Result<MoveOut, Error> {
        self.compact_within(table, range);
        let mut machine = self.machine();
        let published = machine.snapshots.newest();
        let missing = || Error::RelationMissing { relation: format!("with id {}", table.0) };
        let file = Arc::clone(published.files.get(&table).ok_or_else(missing)?);
        let not_owned = || Error::NotOwned { range: range.clone() };
        if !file.owns(range) {
            return Err(not_owned());
        }
        let hold = self.holds().lock().begin_move(table, range).ok_or_else(not_owned)?;
        for border in [&range.low, &range.high] {
            cut(&mut machine, table, &file, border);
        }
        let (store, range) = (Arc::clone(self), range.clone());
        Ok(MoveOut { store, table, file, range, hold, sent: Vec::new(), is_frozen: false })
    }

    fn compact_within(&self, table: TableId, range: &KeyRange) {
        let Some(file) = self.snapshots().newest().files.get(&table).cloned() else { return };
        for (tile, _) in file.directory().cover(range) {
            self.compact_bucket(table, &tile.low);
        }
    }
}

/// Lets a bucket begin at a border.
fn cut(machine: &mut Machine, table: TableId, file: &TableFile, border: &Bound) {
    let Bound::At(key) = border else { return };
    let directory = file.directory();
    let (range, tile) = directory.locate(key);
    if range.low != *border && tile.owned().is_some() {
        machine.commit_entry(Entry::Split { table, at: key.clone() });
    }
}

impl MoveOut {
    /// The table.
    pub fn table(&self) -> TableId {
        self.table
    }

    /// The keys.
    pub fn range(&self) -> &KeyRange {
        &self.range
    }

    /// How often they are accessed a second.
    pub fn accesses(&self) -> u64 {
        let directory = self.file.directory();
        let held = directory.cover(&self.range).filter_map(|(_, tile)| tile.held());
        held.map(|bucket| bucket.accesses.rate()).sum()
    }

    /// What has not been sent yet, while everybody reads and writes: at first everything, then, as often as it is asked,
    /// what has been written since.
    ///
    /// # Errors
    /// [`Error::RelationMissing`] where the table was dropped.
    pub fn copy(&mut self) -> Result<Pieces, Error> {
        let mut pieces = Pieces::new(self.definition()?);
        let directory = self.file.directory();
        let held = directory.cover(&self.range).filter_map(|(_, tile)| tile.held());
        let states: Vec<Arc<BucketState>> = held.map(|bucket| bucket.state()).collect();
        let sent = std::mem::replace(&mut self.sent, states);
        let before = |at: usize| sent.get(at).map(Arc::as_ref);
        for (at, state) in self.sent.iter().enumerate() {
            let old: &[Arc<Run>] = before(at).map_or(&[], |before| &before.runs);
            let is_new = |run: &&Arc<Run>| !old.iter().any(|sent| Arc::ptr_eq(sent, run));
            state.runs.iter().filter(is_new).for_each(|run| add_run(&mut pieces, run));
        }
        let nothing = Delta::default();
        for (at, state) in self.sent.iter().enumerate() {
            let old = before(at).map_or(&nothing, |before| &before.delta);
            for (key, chain) in state.delta.changed_since(old) {
                let mut version: Option<&Arc<Version>> = Some(chain);
                while let Some(at) = version {
                    pieces.add_version(key.clone(), at.timestamp, at.row.clone());
                    version = at.older.as_ref();
                }
            }
        }
        Ok(pieces)
    }

    /// From now on nobody begins to read or write the keys here, and whoever has begun to read goes on.
    ///
    /// # Errors
    /// [`Busy`], when nothing has changed.
    pub fn freeze(&mut self) -> Result<(), Busy> {
        let machine = self.store.machine();
        let published = machine.snapshots.newest();
        if published.files.get(&self.table).map(Arc::as_ptr) != Some(Arc::as_ptr(&self.file)) {
            return Err(Busy::Gone);
        }
        let held = self.store.holds().lock();
        if held.has_writes_in(self.table, &self.range) {
            return Err(Busy::Written);
        }
        self.retile(Tile::Leaving);
        self.is_frozen = true;
        Ok(())
    }

    /// Attaches the buckets to the directory in another way.
    fn retile(&self, tile: fn(Arc<crate::bucket::Bucket>) -> Tile) {
        let mut directory = sdds::Partition::clone(&self.file.directory());
        for (range, old) in self.file.directory().cover(&self.range) {
            if let Some(bucket) = old.held() {
                directory.assign(&range, tile(Arc::clone(bucket)));
            }
        }
        self.file.replace_directory(directory, &self.range);
    }

    /// What of the frozen keys' rows [`Self::copy`] has not sent.
    ///
    /// # Errors
    /// [`Error::RelationMissing`] where the table was dropped.
    pub fn rest(&mut self) -> Result<Pieces, Error> {
        assert!(self.is_frozen, "the rest is known once the keys are frozen");
        self.copy()
    }

    /// Another server owns the frozen keys: their rows go from here.
    pub fn finish(self) {
        assert!(self.is_frozen, "keys are frozen before they are given away");
        let mut machine = self.store.machine();
        let published = machine.snapshots.newest();
        if published.files.get(&self.table).map(Arc::as_ptr) == Some(Arc::as_ptr(&self.file)) {
            let (table, range) = (self.table, self.range.clone());
            machine.commit_entry(Entry::Release { table, range });
        }
    }

    fn definition(&self) -> Result<Arc<Table>, Error> {
        let catalog = self.store.catalog();
        let missing = || Error::RelationMissing { relation: format!("with id {}", self.table.0) };
        catalog.table_by_id(self.table).cloned().ok_or_else(missing)
    }
}

impl Drop for MoveOut {
    fn drop(&mut self) {
        let machine = self.store.machine();
        if self.is_frozen {
            self.retile(Tile::Here);
        }
        self.store.holds().lock().end_move(self.hold);
        drop(machine);
        for (range, tile) in self.file.directory().cover(&self.range) {
            if tile.owned().is_some() {
                self.store.queue().ask(self.table, range.low);
            }
        }
    }
}

fn add_run(pieces: &mut Pieces, run: &Arc<Run>) {
    for chunk in &run.chunks {
        pieces.add_rows(run.timestamp, chunk, 0..chunk.rows());
    }
}
