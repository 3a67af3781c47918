//! The source of a move.

use super::piece::Pieces;
use crate::Error;
use crate::error::missing;
use crate::file::TableFile;
use crate::holds::HoldId;
use crate::log::{Proposal, Record};
use crate::machine::Machine;
use crate::peers::Acknowledgement;
use crate::store::Store;
use bucket::{BucketState, Delta, Run, Version};
use catalog::{Table, TableId};
use durable::{Command, Frozen};
use journal::{Body, Position, Room};
use protocols::planted::{Bug, is_planted};
use sdds::{Bound, GroupId, KeyRange, MoveId, Timestamp};
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
    /// The disk has failed, and the server ends.
    #[error("the log has stopped")]
    Stopped,
}

/// Keys that are moving to another server. Dropping it before they are frozen cancels the move. Once they are frozen, it
/// ends with [`Self::finish`] or [`Self::thaw`]; dropping it then leaves them frozen.
#[derive(Debug)]
pub struct MoveOut {
    store: Arc<Store>,
    frozen: Frozen,
    file: Arc<TableFile>,
    hold: HoldId,
    /// Room in the journal for the freeze, and for its end.
    freezing: Option<Room>,
    ending: Option<Room>,
    /// The state of each bucket that was sent last, in key order. Moving buckets neither split nor
    /// compact.
    sent: Vec<Arc<BucketState>>,
    is_frozen: bool,
}

impl Store {
    /// Begins to move a range of keys to another group. Its buckets are compacted first if needed.
    ///
    /// # Errors
    /// [`Error::Catalog`] if the table does not exist; [`Error::NotOwned`] if some of the keys are
    /// not owned here or are moving already.
    pub fn move_out(
        self: &Arc<Self>,
        of: MoveId,
        table: TableId,
        range: &KeyRange,
        to: GroupId,
    ) -> Result<MoveOut, Error> {
        self.compact_within(table, range);
        let low = self.split_at(table, &range.low)?;
        let high = self.split_at(table, &range.high)?;
        let mut machine = self.machine();
        let published = Arc::clone(machine.head());
        let file = Arc::clone(published.files.get(&table).ok_or_else(|| missing(table))?);
        let not_owned = || Error::NotOwned { range: range.clone() };
        if !file.owns(range) {
            return Err(not_owned());
        }
        let hold = self.holds().lock().begin_move(table, range).ok_or_else(not_owned)?;
        for split in [low, high].into_iter().flatten() {
            if let Err(error) = cut(&mut machine, &file, split) {
                self.holds().lock().end_move(hold);
                return Err(error.into());
            }
        }
        let (store, frozen) = (Arc::clone(self), Frozen { of, table, range: range.clone(), to });
        Ok(MoveOut {
            store,
            frozen,
            file,
            hold,
            freezing: None,
            ending: None,
            sent: Vec::new(),
            is_frozen: false,
        })
    }

    /// Returns the keys that were frozen when the server ended. Whether they were adopted is to be asked.
    pub fn frozen(&self) -> Vec<Frozen> {
        self.machine().cluster.frozen.values().cloned().collect()
    }

    /// Ends a move from before a restart: the keys were adopted, or never will be. Waits for room in the journal.
    ///
    /// # Errors
    /// 53100 if the disk is full, 58030 if it fails. The keys are still frozen then.
    pub fn end_frozen(&self, frozen: &Frozen, is_adopted: bool) -> Result<(), Error> {
        self.propose(end_of(frozen, is_adopted)).map(drop)
    }

    fn compact_within(&self, table: TableId, range: &KeyRange) {
        let Some(file) = self.snapshots().newest().files.get(&table).cloned() else { return };
        for (tile, _) in file.directory().cover(range) {
            self.compact_bucket(table, &tile.low);
        }
    }

    /// Makes the split ready that lets a bucket begin at a border.
    fn split_at(&self, table: TableId, border: &Bound) -> Result<Option<Proposal>, Error> {
        let Bound::At(key) = border else { return Ok(None) };
        let command = Command::Split { table, at: key.clone() };
        let record = self.ready_record(&command)?;
        Ok(Some(Proposal { command, record }))
    }
}

/// Splits a bucket, unless one begins at the key already.
fn cut(machine: &mut Machine, file: &TableFile, split: Proposal) -> Result<(), journal::Error> {
    let Command::Split { at, .. } = &split.command else { return Ok(()) };
    let directory = file.directory();
    let (range, tile) = directory.locate(at);
    if range.low == Bound::At(at.clone()) || tile.owned().is_none() {
        return Ok(());
    }
    machine.propose(split).map(drop)
}

impl MoveOut {
    /// Returns the table.
    pub fn table(&self) -> TableId {
        self.frozen.table
    }

    /// Returns the range of keys.
    pub fn range(&self) -> &KeyRange {
        &self.frozen.range
    }

    /// Returns the newest timestamp that this server knows.
    pub fn seen(&self) -> Timestamp {
        self.store.snapshots().newest().timestamp.max(self.store.holds().lock().observed())
    }

    /// Returns a timestamp: versions that only snapshots before it need may be gone.
    pub fn complete_from(&self) -> Timestamp {
        if is_planted(Bug::EarlyCleanUp) {
            return Timestamp::ZERO;
        }
        let snapshots = self.store.snapshots();
        let horizon = snapshots.asked_from().min(snapshots.newest().timestamp);
        horizon.max(self.store.readable_from())
    }

    /// Returns the average accesses to the keys per second.
    pub fn accesses(&self) -> u64 {
        let directory = self.file.directory();
        let held = directory.cover(&self.frozen.range).filter_map(|(_, tile)| tile.held());
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
        let held = directory.cover(&self.frozen.range).filter_map(|(_, tile)| tile.held());
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

    /// Asks for room in the journal, before [`Self::freeze`]: nothing refuses the move later.
    ///
    /// # Errors
    /// 53100 if the disk is full, 58030 if it fails.
    pub async fn reserve(&mut self) -> Result<(), Error> {
        let (Some(durable), None) = (self.store.durable(), &self.ending) else { return Ok(()) };
        let freeze = Command::Freeze(self.frozen.clone());
        let longest = [freeze, end_of(&self.frozen, true), end_of(&self.frozen, false)];
        let catalog = self.store.catalog();
        let bodies = longest.iter().filter_map(|command| durable::encode(command, &catalog));
        let bytes = bodies.map(|(_, body)| body.len()).max().unwrap_or(0);
        let journal = durable.journal();
        self.freezing = Some(journal.room(bytes).await?);
        self.ending = Some(journal.room(bytes).await?);
        Ok(())
    }

    /// Freezes the keys: new reads and writes are refused, running reads continue. Room was
    /// [reserved](Self::reserve). Another server may be told of it when the result has ended.
    ///
    /// # Errors
    /// [`Busy`]. Nothing has changed then.
    pub fn freeze(&mut self) -> Result<Acknowledgement, Busy> {
        let mut machine = self.store.machine();
        let published = Arc::clone(machine.head());
        let file = published.files.get(&self.frozen.table);
        if file.map(Arc::as_ptr) != Some(Arc::as_ptr(&self.file)) {
            return Err(Busy::Gone);
        }
        let held = self.store.holds().lock();
        if held.has_writes_in(self.frozen.table, &self.frozen.range) {
            return Err(Busy::Written);
        }
        let command = Command::Freeze(self.frozen.clone());
        let position = propose(&mut machine, command, self.freezing.take());
        let position = position.map_err(|_| Busy::Stopped)?;
        drop((held, machine));
        self.is_frozen = true;
        let journal = self.store.journal();
        Ok(Acknowledgement::after(journal.map(|journal| journal.durable(position))))
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
        self.end(true);
    }

    /// Ends the move after it has become certain that no other server adopts the frozen keys: they are served again.
    pub fn thaw(self) {
        self.end(false);
    }

    fn end(mut self, is_adopted: bool) {
        assert!(self.is_frozen, "keys are frozen before they are given away");
        let mut machine = self.store.machine();
        let published = Arc::clone(machine.head());
        let file = published.files.get(&self.frozen.table);
        let is_same = file.map(Arc::as_ptr) == Some(Arc::as_ptr(&self.file));
        if is_same {
            let command = end_of(&self.frozen, is_adopted);
            // A journal that has stopped ends the server.
            let _ = propose(&mut machine, command, self.ending.take());
        }
        drop(machine);
        self.store.holds().note_unfrozen();
    }

    fn definition(&self) -> Result<Arc<Table>, Error> {
        let catalog = self.store.catalog();
        catalog.table_by_id(self.frozen.table).cloned().ok_or_else(|| missing(self.frozen.table))
    }
}

impl Drop for MoveOut {
    fn drop(&mut self) {
        self.store.holds().lock().end_move(self.hold);
        for (range, tile) in self.file.directory().cover(&self.frozen.range) {
            if tile.owned().is_some() {
                self.store.queue().request(self.frozen.table, range.low);
            }
        }
    }
}

/// The command that ends a freeze.
fn end_of(frozen: &Frozen, is_adopted: bool) -> Command {
    match is_adopted {
        true => Command::Release { table: frozen.table, range: frozen.range.clone() },
        false => Command::Thaw { of: frozen.of },
    }
}

/// Appends a command for which there is room if there is a journal.
fn propose(
    machine: &mut Machine,
    command: Command,
    room: Option<Room>,
) -> Result<Position, journal::Error> {
    let encoded = durable::encode(&command, &machine.head().catalog);
    let record = encoded.zip(room).map(|((kind, body), room)| {
        let body = Body::new(body);
        Record { kind, body, room }
    });
    machine.propose(Proposal { command, record })
}

fn add_run(pieces: &mut Pieces, run: &Arc<Run>) {
    for chunk in &run.chunks {
        pieces.add_rows(run.timestamp, chunk, 0..chunk.rows());
    }
}
