//! Statistics of the store, and the check of its invariants.

use super::{Store, check};
use crate::file::{TableFile, Tile};
use crate::info::{BucketInfo, Counters, Holdings, SplitInfo};
use catalog::TableId;
use sdds::KeyRange;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Store {
    /// Returns the buckets of a table on this server in key order.
    pub fn bucket_infos(&self, table: TableId) -> Vec<BucketInfo> {
        match self.snapshots.newest().files.get(&table) {
            Some(file) => buckets(file),
            None => Vec::new(),
        }
    }

    /// Returns the totals of a table on this server, in constant time.
    pub fn holdings(&self, table: TableId) -> Holdings {
        let newest = self.snapshots.newest();
        newest.files.get(&table).map_or_else(Holdings::default, |file| file.holdings())
    }

    /// Returns the average accesses per second of a table on this server at the last update.
    pub fn accesses(&self, table: TableId) -> u64 {
        self.snapshots.newest().files.get(&table).map_or(0, |file| file.accesses())
    }

    /// Updates the average accesses of all buckets. To be called regularly and not concurrently,
    /// with the time since the last call.
    pub fn average_accesses(&self, elapsed: Duration) {
        self.snapshots.newest().files.values().for_each(|file| file.average_accesses(elapsed));
    }

    /// Returns the last splits, oldest first.
    pub fn splits(&self) -> Vec<SplitInfo> {
        self.machine().splits.iter().cloned().collect()
    }

    /// Returns the maximal ranges of keys owned here in key order, those that are moving out
    /// included.
    pub fn owned(&self, table: TableId) -> Vec<KeyRange> {
        self.snapshots.newest().files.get(&table).map_or_else(Vec::new, |file| file.owned())
    }

    /// Returns event counts.
    pub fn counters(&self) -> Counters {
        let machine = self.machine();
        let counts = machine.counts;
        Counters {
            commits: counts.commits,
            splits: counts.splits,
            merges: counts.merges,
            compactions: counts.compactions,
            conflicts: self.conflicts.load(Ordering::Relaxed),
            log_position: machine.log.commands(),
        }
    }

    /// Returns the last commands other than commits, one line each.
    pub fn log_tail(&self) -> Vec<String> {
        self.machine().log.tail()
    }

    /// Checks all invariants by reading all data. No transaction may be running, because
    /// uncommitted writes are accounted for too.
    ///
    /// # Errors
    /// A description of the first violation.
    pub fn check(&self) -> Result<(), String> {
        let machine = self.machine();
        let published = machine.head();
        let result = check::check(published, Some(self.memory.table_bytes()));
        drop(machine);
        result
    }
}

/// Describes the buckets of a file in key order.
fn buckets(file: &TableFile) -> Vec<BucketInfo> {
    let directory = file.directory();
    let of = |tile: &Tile| Some(BucketInfo::of(tile.held()?, tile.owned().is_none()));
    directory.iter().filter_map(|(_, tile)| of(tile)).collect()
}
