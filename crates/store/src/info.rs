//! Information about the store for system tables and tests.

use bucket::{Bucket, BucketState, Run};
use catalog::TableId;
use sdds::{BucketId, Key, KeyRange, Timestamp};
use std::sync::Arc;
use std::time::SystemTime;

/// State of a bucket.
#[derive(Debug, Clone)]
pub struct BucketInfo {
    /// The id.
    pub id: BucketId,
    /// The range of keys.
    pub range: KeyRange,
    /// Number of live rows.
    pub rows: u64,
    /// Bytes of runs and delta.
    pub bytes: u64,
    /// Number of keys in the delta, tombstones included.
    pub delta_rows: u64,
    /// Bytes of the delta.
    pub delta_bytes: u64,
    /// The runs.
    pub runs: Vec<RunInfo>,
    /// Average accesses per second. Zero without a cluster.
    pub accesses: u64,
    /// Whether it is being moved to another server.
    pub is_leaving: bool,
}

/// Totals of a table on this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Holdings {
    /// Number of buckets, without those being moved out.
    pub buckets: u64,
    /// Number of live rows.
    pub rows: u64,
    /// Bytes of runs and deltas.
    pub bytes: u64,
}

impl Holdings {
    /// Returns the totals of one bucket.
    pub(crate) fn of(state: &BucketState) -> Self {
        Self { buckets: 1, rows: state.rows(), bytes: state.bytes() }
    }

    /// Replaces a part of the totals.
    pub(crate) fn change(&mut self, before: Self, after: Self) {
        self.buckets = self.buckets + after.buckets - before.buckets;
        self.rows = self.rows + after.rows - before.rows;
        self.bytes = self.bytes + after.bytes - before.bytes;
    }
}

/// State of a run.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// Number of rows, those superseded by the delta included.
    pub rows: u64,
    /// Bytes of its chunks.
    pub bytes: u64,
    /// Number of chunks.
    pub chunks: usize,
    /// The first key.
    pub first: Key,
    /// The last key.
    pub last: Key,
    /// Timestamp from which on snapshots see it.
    pub timestamp: Timestamp,
}

/// A split of a bucket.
#[derive(Debug, Clone)]
pub struct SplitInfo {
    /// The table.
    pub table: TableId,
    /// The time of the split.
    pub time: SystemTime,
    /// The first key of the upper part.
    pub at: Key,
    /// Number of live rows of both parts.
    pub rows: u64,
    /// Bytes of both parts.
    pub bytes: u64,
    /// Average accesses per second of both parts.
    pub accesses: u64,
    /// The reason.
    pub reason: &'static str,
}

/// Event counts since the store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Commits of transactions that had written something.
    pub commits: u64,
    /// Splits of buckets.
    pub splits: u64,
    /// Merges of two buckets.
    pub merges: u64,
    /// Compactions of buckets.
    pub compactions: u64,
    /// Conflicts.
    pub conflicts: u64,
    /// Number of log entries.
    pub log_position: u64,
}

impl BucketInfo {
    /// Describes a bucket. `is_leaving` says whether it is being moved to another server.
    pub(crate) fn of(bucket: &Bucket, is_leaving: bool) -> Self {
        let state = bucket.state();
        let run = |run: &Arc<Run>| RunInfo {
            rows: run.rows,
            bytes: run.bytes,
            chunks: run.chunks.len(),
            first: run.first().clone(),
            last: run.last().clone(),
            timestamp: run.timestamp,
        };
        Self {
            id: bucket.id,
            range: bucket.range.clone(),
            rows: state.rows(),
            bytes: state.bytes(),
            delta_rows: state.delta().len() as u64,
            delta_bytes: state.delta().bytes(),
            runs: state.runs().iter().map(run).collect(),
            accesses: bucket.accesses.rate(),
            is_leaving,
        }
    }
}
