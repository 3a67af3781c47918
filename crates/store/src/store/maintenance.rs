//! Maintenance: splits, merges and compaction of buckets, and checkpoints.
//!
//! A full bucket splits immediately, under the lock held by the writer; no rows are copied.
//! Compaction is requested and executed in one background thread, which ends with the store.

use super::Store;
use crate::Error;
use crate::cut;
use crate::file::{TableFile, Tile};
use crate::info::SplitInfo;
use crate::machine::Machine;
use crate::queue::Queue;
use bucket::{Bucket, compaction};
use catalog::{Table, TableId};
use durable::{Command, Durable};
use sdds::{Bound, Key, KeyRange, Timestamp, splitting};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

/// Buckets accessed this often per second together do not merge: they may have been split by
/// accesses.
const MERGED_ACCESSES_MAX: u64 = 50;

/// Length of the split history.
const SPLITS_REMEMBERED: usize = 256;

/// Starts the background thread.
pub(super) fn start(store: &Arc<Store>, queue: Arc<Queue>) {
    let store: Weak<Store> = Arc::downgrade(store);
    let work = move || {
        while let Some((table, low)) = queue.next() {
            let Some(store) = store.upgrade() else { return };
            store.compact_bucket(table, &low);
        }
    };
    let thread = std::thread::Builder::new().name("pando-compaction".to_owned());
    thread.spawn(work).expect("the process can start a thread");
}

/// The time between looks at the growth of the journal.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(1);

/// Starts the thread that makes checkpoints, which ends with the store. An error of the disk stops the
/// journal; a full disk does not.
pub(super) fn start_checkpoints(store: &Arc<Store>, bytes: u64) {
    let store: Weak<Store> = Arc::downgrade(store);
    let work = move || {
        while store.upgrade().is_some_and(|store| store.keep_journal_short(bytes)) {
            std::thread::sleep(CHECKPOINT_INTERVAL);
        }
    };
    let thread = std::thread::Builder::new().name("pando-checkpoint".to_owned());
    thread.spawn(work).expect("the process can start a thread");
}

impl Store {
    /// Makes a checkpoint if the journal has grown by a number of bytes. Returns whether there can be another one.
    fn keep_journal_short(&self, bytes: u64) -> bool {
        let Some(durable) = self.durable() else { return false };
        if durable.journal().stopped().is_some() {
            return false;
        }
        if durable.bytes_since_checkpoint() >= bytes {
            match self.make_checkpoint(durable) {
                Ok(_) | Err(journal::Error::Full { .. }) => {}
                Err(error) => durable.journal().fail(&error.to_string()),
            }
        }
        true
    }

    /// Writes the state to a checkpoint, and removes what is not needed any more of the journal.
    /// Returns its size in bytes; 0 without a data directory.
    ///
    /// # Errors
    /// 53100 if the disk is full, 58030 if it fails.
    pub fn checkpoint(&self) -> Result<u64, Error> {
        match self.durable() {
            Some(durable) => Ok(self.make_checkpoint(durable)?),
            None => Ok(0),
        }
    }

    fn make_checkpoint(&self, durable: &Durable) -> Result<u64, journal::Error> {
        durable.checkpoint(|| cut::of(&self.machine()))
    }

    /// Splits the buckets of ranges until each fits, and requests compaction of those that need it.
    pub(crate) fn settle(&self, machine: &mut Machine, table: &Table, ranges: &[KeyRange]) {
        let Some(file) = machine.head().files.get(&table.id).cloned() else { return };
        let directory = file.directory();
        let mut buckets: Vec<Arc<Bucket>> = Vec::new();
        for range in ranges {
            buckets.extend(directory.cover(range).filter_map(|(_, tile)| tile.owned().cloned()));
        }
        while let Some(bucket) = buckets.pop() {
            if self.holds().lock().is_moving(table.id, &bucket.range) {
                continue;
            }
            let state = bucket.state();
            if !splitting::should_split(state.weight(), state.rows(), table.bucket_size) {
                if compaction::is_due(&state, table.bucket_size) {
                    self.queue().request(table.id, bucket.range.low.clone());
                }
                continue;
            }
            let samples = state.samples();
            let Some(at) = splitting::median(&samples).cloned() else { continue };
            if !self.split(machine, table.id, &bucket, &at, "bytes above bucket_size") {
                self.queue().request_later(table.id, bucket.range.low.clone());
                continue;
            }
            let directory = file.directory();
            let (lower, upper) =
                (directory.next_before(&Bound::At(at.clone())), directory.locate(&at));
            buckets.extend(upper.1.owned().cloned());
            buckets.extend(lower.and_then(|(_, tile)| tile.owned().cloned()));
        }
    }

    /// Splits the bucket of a range at the median of its accesses; returns whether it did. It does
    /// not if the range is not that of a bucket, or nearly all accesses are to one key.
    pub fn split_by_accesses(&self, table: TableId, range: &KeyRange) -> bool {
        let mut machine = self.machine();
        let Some(file) = machine.head().files.get(&table).cloned() else {
            return false;
        };
        let bucket = bucket_from(&file, &range.low).filter(|bucket| bucket.range == *range);
        let Some(bucket) = bucket else { return false };
        if self.holds().lock().is_moving(table, range) {
            return false;
        }
        let Some(at) = bucket.accesses.middle().filter(|at| range.split_at(at).is_some()) else {
            return false;
        };
        self.split(&mut machine, table, &bucket, &at, "accesses")
    }

    /// The timestamp up to which versions can be folded: no snapshot before it is needed, and no transaction that is
    /// prepared commits at or before it. One that is prepared later commits after it.
    fn fold_horizon(&self) -> Timestamp {
        let horizon = self.snapshots().horizon();
        match self.holds().lock().oldest_prepared() {
            Some(oldest) => horizon.min(oldest),
            None => horizon,
        }
    }

    /// Compacts the bucket that begins at `low`, then merges or splits it as its new size requires.
    pub(crate) fn compact_bucket(&self, table: TableId, low: &Bound) {
        let published = self.snapshots().newest();
        let Some(table) = published.catalog.table_by_id(table) else { return };
        let Some(file) = published.files.get(&table.id) else { return };
        let Some(bucket) = bucket_from(file, low) else { return };
        let horizon = self.fold_horizon();
        let folded = compaction::fold(table, &bucket, horizon);
        let folded = folded.expect("what is stored can be read and written again");
        let mut machine = self.machine();
        let same_file = machine.head().files.get(&table.id).map(Arc::as_ptr);
        let same_bucket = bucket_from(file, low).as_ref().map(Arc::as_ptr);
        if same_file != Some(Arc::as_ptr(file)) || same_bucket != Some(Arc::as_ptr(&bucket)) {
            return;
        }
        if self.holds().lock().is_moving(table.id, &bucket.range) {
            return;
        }
        // Another thread may have compacted it meanwhile.
        if let Some(folded) = folded.filter(|folded| folded.is_current(&bucket.state())) {
            machine.change_bucket(file, &bucket, |state| folded.install(state));
            machine.counts.compactions += 1;
        }
        let state = bucket.state();
        if compaction::is_due(&state, table.bucket_size) {
            self.queue().request_later(table.id, low.clone());
            if self.fold_horizon() > horizon {
                self.queue().horizon_moved();
            }
        }
        self.merge_if_small(&mut machine, table, file, &bucket);
        if splitting::should_split(state.weight(), state.rows(), table.bucket_size) {
            self.settle(&mut machine, table, std::slice::from_ref(&bucket.range));
        }
    }

    fn merge_if_small(
        &self,
        machine: &mut Machine,
        table: &Table,
        file: &TableFile,
        bucket: &Bucket,
    ) {
        let directory = file.directory();
        let before = directory.next_before(&bucket.range.low).map(|(_, neighbour)| neighbour);
        let after = directory.next_after(&bucket.range.low).map(|(_, neighbour)| neighbour);
        let weight = bucket.state().weight();
        let small = |neighbour: &&Arc<Bucket>| {
            splitting::should_merge(weight, neighbour.state().weight(), table.bucket_size)
                && bucket.accesses.rate() + neighbour.accesses.rate() < MERGED_ACCESSES_MAX
                && !self.holds().lock().is_moving(table.id, &neighbour.range)
        };
        let (before, after) = (before.and_then(Tile::owned), after.and_then(Tile::owned));
        let low = match (before.filter(small), after.filter(small)) {
            (Some(neighbour), _) => neighbour.range.low.clone(),
            (None, Some(_)) => bucket.range.low.clone(),
            (None, None) => return,
        };
        if self.try_propose(machine, Command::Merge { table: table.id, low: low.clone() }) {
            self.queue().request(table.id, low);
        }
    }

    /// Splits a bucket, and records the reason; returns whether there was room for the command.
    fn split(
        &self,
        machine: &mut Machine,
        table: TableId,
        bucket: &Bucket,
        at: &Key,
        reason: &'static str,
    ) -> bool {
        let state = bucket.state();
        let (rows, bytes, accesses) = (state.rows(), state.bytes(), bucket.accesses.rate());
        if !self.try_propose(machine, Command::Split { table, at: at.clone() }) {
            return false;
        }
        if machine.splits.len() == SPLITS_REMEMBERED {
            machine.splits.pop_front();
        }
        let (time, at) = (SystemTime::now(), at.clone());
        machine.splits.push_back(SplitInfo { table, time, at, rows, bytes, accesses, reason });
        true
    }
}

fn bucket_from(file: &TableFile, low: &Bound) -> Option<Arc<Bucket>> {
    let directory = file.directory();
    let point = KeyRange { low: low.clone(), high: Bound::PosInf };
    let (range, tile) = directory.cover(&point).next()?;
    tile.owned().filter(|_| range.low == *low).cloned()
}
