//! Commands that change the tiles of a table: splits, merges, and moves between servers.

use super::Machine;
use crate::file::Tile;
use crate::snapshot::Published;
use bucket::{Accesses, Bucket, BucketState};
use catalog::TableId;
use durable::Frozen;
use protocols::planted::{Bug, is_planted};
use sdds::{Bound, Key, KeyRange, MoveId, Partition};
use std::sync::Arc;

impl Machine {
    /// Splits a bucket. The parts share the columns of its runs.
    pub(super) fn apply_split(&mut self, table: TableId, at: &Key) {
        let Some(file) = self.head.files.get(&table).cloned() else { return };
        let mut directory = Partition::clone(&file.directory());
        let (range, Tile::Here(bucket)) = directory.locate(at) else { return };
        let Some((lower, upper)) = range.split_at(at) else { return };
        let bucket = Arc::clone(bucket);
        let state = bucket.state();
        let wrong = is_planted(Bug::BorderMisplaced).then(|| range.split_at(&at.successor()));
        let (low, high) = wrong.flatten().unwrap_or_else(|| (lower.clone(), upper.clone()));
        let (left, right) = (state.cut(&low), state.cut(&high));
        self.memory.tables_changed(state.bytes(), left.bytes() + right.bytes());
        let (accesses_left, accesses_right) = bucket.accesses.split(at);
        let left = Bucket::accessed(bucket.id, lower, left, accesses_left);
        let is_temporary = self.is_temporary(table, &self.head);
        let right = Bucket::accessed(self.bucket_id(is_temporary), upper, right, accesses_right);
        directory.split(at, Tile::Here(left), Tile::Here(right));
        file.replace_directory(directory, &range);
        self.counts.splits += 1;
    }

    /// Merges the bucket that begins at `low` with the next one.
    pub(super) fn apply_merge(&mut self, table: TableId, low: &Bound) {
        let Some(file) = self.head.files.get(&table).cloned() else { return };
        let mut directory = Partition::clone(&file.directory());
        let Some((upper_range, Tile::Here(upper))) = directory.next_after(low) else { return };
        let upper = Arc::clone(upper);
        let before = directory.next_before(&upper_range.low);
        let Some((lower_range, Tile::Here(lower))) = before else { return };
        let lower = Arc::clone(lower);
        let range = KeyRange { low: lower_range.low, high: upper_range.high };
        let state = BucketState::clone(&lower.state()).join(BucketState::clone(&upper.state()));
        let accesses = lower.accesses.join(&upper.accesses);
        let merged = Bucket::accessed(lower.id, range.clone(), state, accesses);
        directory.merge(low, Tile::Here(merged));
        file.replace_directory(directory, &range);
        self.counts.merges += 1;
    }

    /// Takes ownership of keys of another server, with their rows.
    pub(super) fn apply_adopt(
        &mut self,
        of: MoveId,
        table: TableId,
        range: KeyRange,
        state: BucketState,
        accesses: u64,
    ) {
        self.cluster.adopted.insert(of.from, of.number);
        let mut next = Published::clone(&self.head);
        let Some(file) = next.files.get(&table).cloned() else { return };
        next.timestamp = next.timestamp.max(state.newest());
        self.memory.tables_changed(0, state.bytes());
        let mut directory = Partition::clone(&file.directory());
        let accesses = Accesses::of_rate(accesses);
        let bucket = Bucket::accessed(self.bucket_id(false), range.clone(), state, accesses);
        directory.assign(&range, Tile::Here(bucket));
        file.replace_directory(directory, &range);
        self.publish(next);
    }

    /// Passes ownership of keys to another server. Keys owned by other servers are joined with
    /// adjacent ones into one tile.
    pub(super) fn apply_release(&mut self, table: TableId, range: KeyRange) {
        self.cluster.frozen.retain(|_, frozen| frozen.table != table || frozen.range != range);
        let Some(file) = self.head.files.get(&table).cloned() else { return };
        let mut directory = Partition::clone(&file.directory());
        let held = directory.cover(&range).filter_map(|(_, tile)| tile.held());
        let bytes = held.map(|bucket| bucket.state().bytes()).sum();
        self.memory.tables_changed(bytes, 0);
        let mut wide = range;
        if let Some((before, Tile::Elsewhere)) = directory.next_before(&wide.low) {
            wide.low = before.low;
        }
        if let (after, Tile::Elsewhere) = directory.at(&wide.high)
            && after.low == wide.high
        {
            wide.high = after.high;
        }
        directory.assign(&wide, Tile::Elsewhere);
        file.replace_directory(directory, &wide);
    }

    /// Stops reads and writes of keys that may be adopted elsewhere.
    pub(super) fn apply_freeze(&mut self, frozen: Frozen) {
        self.retile(frozen.table, &frozen.range, Tile::Leaving);
        self.cluster.frozen.insert(frozen.of, frozen);
    }

    /// Serves frozen keys again.
    pub(super) fn apply_thaw(&mut self, of: MoveId) {
        if let Some(frozen) = self.cluster.frozen.remove(&of) {
            self.retile(frozen.table, &frozen.range, Tile::Here);
        }
    }

    /// Changes the tiles of the buckets of a range.
    pub(crate) fn retile(&self, table: TableId, range: &KeyRange, tile: fn(Arc<Bucket>) -> Tile) {
        let Some(file) = self.head.files.get(&table) else { return };
        let mut directory = Partition::clone(&file.directory());
        for (range, old) in file.directory().cover(range) {
            if let Some(bucket) = old.held() {
                directory.assign(&range, tile(Arc::clone(bucket)));
            }
        }
        file.replace_directory(directory, range);
    }
}
