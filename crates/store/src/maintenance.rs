//! Keeping buckets in shape: splitting what is full, merging what is small, compacting what has changed.
//!
//! Splits happen at once, under the lock of whoever filled the bucket, and copy no rows. Compaction is
//! asked for and happens in one background thread, which sleeps when there is nothing to do and ends
//! with the store.

use crate::bucket::Bucket;
use crate::catalog::{Table, TableId};
use crate::compaction;
use crate::file::{TableFile, Tile};
use crate::info::SplitInfo;
use crate::log::Entry;
use crate::machine::Machine;
use crate::store::Store;
use parking_lot::{Condvar, Mutex};
use sdds::{Bound, Key, KeyRange, splitting};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

/// Buckets that are accessed so often a second do not merge: they may have been split for that.
const MERGED_ACCESSES_MAX: u64 = 50;

/// As many splits are remembered.
const SPLITS_REMEMBERED: usize = 256;

/// Buckets that wait for compaction.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<QueueState>,
    is_blocked: AtomicBool,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: BTreeSet<(TableId, Bound)>,
    /// Still due after a compaction: a snapshot looks at what would be folded.
    blocked: BTreeSet<(TableId, Bound)>,
    closed: bool,
}

impl Queue {
    pub(crate) fn ask(&self, table: TableId, low: Bound) {
        self.state.lock().waiting.insert((table, low));
        self.changed.notify_one();
    }

    fn ask_later(&self, table: TableId, low: Bound) {
        self.state.lock().blocked.insert((table, low));
        self.is_blocked.store(true, Ordering::Release);
    }

    /// Asks again for what a snapshot was in the way of. To be called when the oldest snapshot has gone.
    pub(crate) fn horizon_moved(&self) {
        if !self.is_blocked.swap(false, Ordering::AcqRel) {
            return;
        }
        let mut state = self.state.lock();
        let blocked = std::mem::take(&mut state.blocked);
        state.waiting.extend(blocked);
        self.changed.notify_one();
    }

    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    /// Waits for the next bucket; `None` when the store goes.
    fn next(&self) -> Option<(TableId, Bound)> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(next) = state.waiting.pop_first() {
                return Some(next);
            }
            self.changed.wait(&mut state);
        }
    }
}

/// Starts the background thread.
pub(crate) fn start(store: &Arc<Store>, queue: Arc<Queue>) {
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

impl Store {
    /// Splits the buckets of a range until each fits, and asks for compaction of those that need it.
    pub(crate) fn settle(&self, machine: &mut Machine, table: &Table, ranges: &[KeyRange]) {
        let Some(file) = machine.snapshots.newest().files.get(&table.id).cloned() else { return };
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
            if !splitting::should_split(state.weight(), state.rows, table.bucket_size) {
                if compaction::is_due(&state, table.bucket_size) {
                    self.queue().ask(table.id, bucket.range.low.clone());
                }
                continue;
            }
            let samples = state.samples();
            let Some(at) = splitting::median(&samples).cloned() else { continue };
            split(machine, table.id, &bucket, &at, "bytes above bucket_size");
            let directory = file.directory();
            let (lower, upper) =
                (directory.next_before(&Bound::At(at.clone())), directory.locate(&at));
            buckets.extend(upper.1.owned().cloned());
            buckets.extend(lower.and_then(|(_, tile)| tile.owned().cloned()));
        }
    }

    /// Splits the bucket of a range between its visitors, if there is one; whether that was done. It is not where nearly all
    /// of them come to one key.
    pub fn split_by_accesses(&self, table: TableId, range: &KeyRange) -> bool {
        let mut machine = self.machine();
        let Some(file) = machine.snapshots.newest().files.get(&table).cloned() else {
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
        split(&mut machine, table, &bucket, &at, "accesses");
        true
    }

    /// Compacts the bucket that begins at `low`, then merges or splits it if its size now asks for that.
    pub(crate) fn compact_bucket(&self, table: TableId, low: &Bound) {
        let published = self.snapshots().newest();
        let Some(table) = published.catalog.table_by_id(table) else { return };
        let Some(file) = published.files.get(&table.id) else { return };
        let Some(bucket) = bucket_from(file, low) else { return };
        let horizon = self.snapshots().horizon();
        let folded = compaction::fold(table, &bucket, horizon);
        let folded = folded.expect("what is stored can be read and written again");
        let mut machine = self.machine();
        let same_file = machine.snapshots.newest().files.get(&table.id).map(Arc::as_ptr);
        let same_bucket = bucket_from(file, low).as_ref().map(Arc::as_ptr);
        if same_file != Some(Arc::as_ptr(file)) || same_bucket != Some(Arc::as_ptr(&bucket)) {
            return;
        }
        if self.holds().lock().is_moving(table.id, &bucket.range) {
            return;
        }
        if let Some(folded) = folded {
            machine.change_bucket(file, &bucket, |state| folded.install(state));
            machine.counts.compactions += 1;
        }
        let state = bucket.state();
        if compaction::is_due(&state, table.bucket_size) {
            self.queue().ask_later(table.id, low.clone());
            if self.snapshots().horizon() > horizon {
                self.queue().horizon_moved();
            }
        }
        self.merge_if_small(&mut machine, table, file, &bucket);
        if splitting::should_split(state.weight(), state.rows, table.bucket_size) {
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
        machine.commit_entry(Entry::Merge { table: table.id, low: low.clone() });
        self.queue().ask(table.id, low);
    }
}

/// Splits a bucket, and notes why.
fn split(machine: &mut Machine, table: TableId, bucket: &Bucket, at: &Key, reason: &'static str) {
    let state = bucket.state();
    if machine.splits.len() == SPLITS_REMEMBERED {
        machine.splits.pop_front();
    }
    machine.splits.push_back(SplitInfo {
        table,
        time: SystemTime::now(),
        at: at.clone(),
        rows: state.rows,
        bytes: state.bytes(),
        accesses: bucket.accesses.rate(),
        reason,
    });
    machine.commit_entry(Entry::Split { table, at: at.clone() });
}

fn bucket_from(file: &TableFile, low: &Bound) -> Option<Arc<Bucket>> {
    let directory = file.directory();
    let point = KeyRange { low: low.clone(), high: Bound::PosInf };
    let (range, tile) = directory.cover(&point).next()?;
    tile.owned().filter(|_| range.low == *low).cloned()
}
