//! The source of a move.

use super::piece::Pieces;
use crate::Error;
use crate::error::missing;
use crate::file::{TableFile, Tile};
use crate::holds::HoldId;
use crate::machine::Machine;
use crate::store::Store;
use bucket::{Bucket, BucketState, Delta, Run, Version};
use catalog::{Table, TableId};
use durable::Command;
use sdds::{Bound, KeyRange, Partition};
use std::sync::Arc;

/// The reason why keys cannot be frozen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Busy {
    /// Running transactions have written to the keys. Try again when they have ended.
    #[error("running transactions have written to the keys")]
    Written,
    /// The table was truncated or dropped. The move has failed.
    #[error("the table was emptied or dropped")]
    Gone,
}

/// Keys that are moving to another server. Dropping it before [`Self::finish`] cancels the move.
#[derive(Debug)]
pub struct MoveOut {
    store: Arc<Store>,
    table: TableId,
    file: Arc<TableFile>,
    range: KeyRange,
    hold: HoldId,
    /// The state of each bucket that was sent last, in key order. Moving buckets neither split nor
    /// compact.
    sent: Vec<Arc<BucketState>>,
    is_frozen: bool,
}

impl Store {
    /// Begins to move a range of keys out. Its buckets are compacted first if needed.
    ///
    /// # Errors
    /// [`Error::Catalog`] if the table does not exist; [`Error::NotOwned`] if some of the keys are
    /// not owned here or are moving already; 0A000 with a data directory.
    pub fn move_out(self: &Arc<Self>, table: TableId, range: &KeyRange) -> Result<MoveOut, Error> {
        self.refuse_with_data("moving keys to another server")?;
        self.compact_within(table, range);
        let mut machine = self.machine();
        let published = Arc::clone(machine.head());
        let file = Arc::clone(published.files.get(&table).ok_or_else(|| missing(table))?);
        let not_owned = || Error::NotOwned { range: range.clone() };
        if !file.owns(range) {
            return Err(not_owned());
        }
        let hold = self.holds().lock().begin_move(table, range).ok_or_else(not_owned)?;
        for border in [&range.low, &range.high] {
            if !self.cut(&mut machine, table, &file, border) {
                self.holds().lock().end_move(hold);
                return Err(not_owned());
            }
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

    /// Splits the bucket that contains a border, so that a bucket begins there; returns whether one
    /// does.
    fn cut(&self, machine: &mut Machine, table: TableId, file: &TableFile, border: &Bound) -> bool {
        let Bound::At(key) = border else { return true };
        let directory = file.directory();
        let (range, tile) = directory.locate(key);
        if range.low == *border || tile.owned().is_none() {
            return true;
        }
        self.try_propose(machine, Command::Split { table, at: key.clone() })
    }
}

impl MoveOut {
    /// Returns the table.
    pub fn table(&self) -> TableId {
        self.table
    }

    /// Returns the range of keys.
    pub fn range(&self) -> &KeyRange {
        &self.range
    }

    /// Returns the average accesses to the keys per second.
    pub fn accesses(&self) -> u64 {
        let directory = self.file.directory();
        let held = directory.cover(&self.range).filter_map(|(_, tile)| tile.held());
        held.map(|bucket| bucket.accesses.rate()).sum()
    }

    /// Returns what has not been sent yet: everything in the first call, then what was written
    /// since the previous call. Reads and writes continue.
    ///
    /// # Errors
    /// [`Error::Catalog`] if the table was dropped.
    pub fn copy(&mut self) -> Result<Pieces, Error> {
        let mut pieces = Pieces::new(self.definition()?);
        let directory = self.file.directory();
        let held = directory.cover(&self.range).filter_map(|(_, tile)| tile.held());
        let states: Vec<Arc<BucketState>> = held.map(|bucket| bucket.state()).collect();
        let sent = std::mem::replace(&mut self.sent, states);
        let before = |at: usize| sent.get(at).map(Arc::as_ref);
        for (at, state) in self.sent.iter().enumerate() {
            let old: &[Arc<Run>] = before(at).map_or(&[], |before| before.runs());
            let is_new = |run: &&Arc<Run>| !old.iter().any(|sent| Arc::ptr_eq(sent, run));
            state.runs().iter().filter(is_new).for_each(|run| add_run(&mut pieces, run));
        }
        let nothing = Delta::default();
        for (at, state) in self.sent.iter().enumerate() {
            let old = before(at).map_or(&nothing, |before| before.delta());
            for (key, chain) in state.delta().changed_since(old) {
                let mut version: Option<&Arc<Version>> = Some(chain);
                while let Some(at) = version {
                    pieces.add_version(key.clone(), at.timestamp, at.row.clone());
                    version = at.older.as_ref();
                }
            }
        }
        Ok(pieces)
    }

    /// Freezes the keys: new reads and writes are refused, running reads continue.
    ///
    /// # Errors
    /// [`Busy`]. Nothing has changed then.
    pub fn freeze(&mut self) -> Result<(), Busy> {
        let machine = self.store.machine();
        let published = Arc::clone(machine.head());
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

    /// Changes the tiles of the buckets.
    fn retile(&self, tile: fn(Arc<Bucket>) -> Tile) {
        let mut directory = Partition::clone(&self.file.directory());
        for (range, old) in self.file.directory().cover(&self.range) {
            if let Some(bucket) = old.held() {
                directory.assign(&range, tile(Arc::clone(bucket)));
            }
        }
        self.file.replace_directory(directory, &self.range);
    }

    /// Returns what [`Self::copy`] has not sent of the frozen keys.
    ///
    /// # Errors
    /// [`Error::Catalog`] if the table was dropped.
    pub fn rest(&mut self) -> Result<Pieces, Error> {
        assert!(self.is_frozen, "the rest is known once the keys are frozen");
        self.copy()
    }

    /// Ends the move after another server has adopted the frozen keys: drops their rows.
    pub fn finish(self) {
        assert!(self.is_frozen, "keys are frozen before they are given away");
        let mut machine = self.store.machine();
        let published = Arc::clone(machine.head());
        if published.files.get(&self.table).map(Arc::as_ptr) == Some(Arc::as_ptr(&self.file)) {
            let (table, range) = (self.table, self.range.clone());
            machine.commit_unlogged(Command::Release { table, range });
        }
    }

    fn definition(&self) -> Result<Arc<Table>, Error> {
        let catalog = self.store.catalog();
        catalog.table_by_id(self.table).cloned().ok_or_else(|| missing(self.table))
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
                self.store.queue().request(self.table, range.low);
            }
        }
    }
}

fn add_run(pieces: &mut Pieces, run: &Arc<Run>) {
    for chunk in &run.chunks {
        pieces.add_rows(run.timestamp, chunk, 0..chunk.rows());
    }
}
