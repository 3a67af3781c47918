//! What the store tells about itself: for system tables, the demo's map, and tests.

use crate::bucket::BucketState;
use crate::catalog::TableId;
use crate::file::Tile;
use sdds::{BucketId, Key, KeyRange, Timestamp};
use std::time::SystemTime;

/// A bucket at one moment.
#[derive(Debug, Clone)]
pub struct BucketInfo {
    /// Its id.
    pub id: BucketId,
    /// The keys that it is responsible for.
    pub range: KeyRange,
    /// Live rows.
    pub rows: u64,
    /// Bytes of runs and delta.
    pub bytes: u64,
    /// Keys in the delta, tombstones included.
    pub delta_rows: u64,
    /// Bytes of the delta.
    pub delta_bytes: u64,
    /// Its runs.
    pub runs: Vec<RunInfo>,
    /// How often it is accessed a second, on average over a while; only where there are other servers.
    pub accesses: u64,
    /// Whether it is about to be another server's.
    pub is_leaving: bool,
}

/// What is owned here of a table, at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Holdings {
    /// Buckets; those about to be another server's are not counted.
    pub buckets: u64,
    /// Live rows.
    pub rows: u64,
    /// Bytes of runs and deltas.
    pub bytes: u64,
}

impl Holdings {
    /// One bucket.
    pub(crate) fn of(state: &BucketState) -> Self {
        Self { buckets: 1, rows: state.rows, bytes: state.bytes() }
    }

    /// Part of it is replaced.
    pub(crate) fn change(&mut self, before: Self, after: Self) {
        self.buckets = self.buckets + after.buckets - before.buckets;
        self.rows = self.rows + after.rows - before.rows;
        self.bytes = self.bytes + after.bytes - before.bytes;
    }
}

/// A run at one moment.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// Rows, those that the delta supersedes included.
    pub rows: u64,
    /// Bytes of its chunks.
    pub bytes: u64,
    /// How many chunks it has.
    pub chunks: usize,
    /// Its first key.
    pub first: Key,
    /// Its last key.
    pub last: Key,
    /// Snapshots from this commit on see it.
    pub timestamp: Timestamp,
}

/// A bucket that became two.
#[derive(Debug, Clone)]
pub struct SplitInfo {
    /// The table.
    pub table: TableId,
    /// When.
    pub time: SystemTime,
    /// Where the upper half begins.
    pub at: Key,
    /// Live rows of both.
    pub rows: u64,
    /// Bytes of both.
    pub bytes: u64,
    /// How often it was accessed a second.
    pub accesses: u64,
    /// Why.
    pub reason: &'static str,
}

/// What has happened since the store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Transactions that were committed and had written something.
    pub commits: u64,
    /// Buckets that were split.
    pub splits: u64,
    /// Pairs of buckets that were merged.
    pub merges: u64,
    /// Buckets that were compacted.
    pub compactions: u64,
    /// Commits refused because somebody else was first.
    pub conflicts: u64,
    /// Entries of the log.
    pub log_position: u64,
}

impl BucketInfo {
    /// `None` for what is not here.
    pub(crate) fn of(tile: &Tile) -> Option<Self> {
        let bucket = tile.held()?;
        let state = bucket.state();
        let run = |run: &std::sync::Arc<crate::chunk::Run>| RunInfo {
            rows: run.rows,
            bytes: run.bytes,
            chunks: run.chunks.len(),
            first: run.first().clone(),
            last: run.last().clone(),
            timestamp: run.timestamp,
        };
        Some(Self {
            id: bucket.id,
            range: bucket.range.clone(),
            rows: state.rows,
            bytes: state.bytes(),
            delta_rows: state.delta.len() as u64,
            delta_bytes: state.delta.bytes(),
            runs: state.runs.iter().map(run).collect(),
            accesses: bucket.accesses.rate(),
            is_leaving: tile.owned().is_none(),
        })
    }
}
