//! The state of a bucket: an immutable value of delta and runs.

use crate::chunk::{Chunk, Run};
use crate::delta::{Delta, Version};
use crate::row::Row;
use sdds::splitting::Sample;
use sdds::{Key, KeyRange, Timestamp};
use std::sync::Arc;

/// Number of rows of a chunk that are sampled for the median.
const SAMPLES_PER_CHUNK: usize = 32;

/// The state of a bucket.
///
/// Invariants: every key lies in the range of the bucket; a key is in at most one run; the versions
/// of a key in the delta are not older than its run.
#[derive(Debug, Clone, Default)]
pub struct BucketState {
    pub(crate) delta: Delta,
    pub(crate) runs: Vec<Arc<Run>>,
    /// Number of live rows at the newest commit.
    pub(crate) rows: u64,
    /// Timestamp of the newest commit that wrote to the bucket.
    pub(crate) newest: Timestamp,
    /// Number of compactions: the result of one that began before another one ended is stale.
    pub(crate) compactions: u64,
}

impl BucketState {
    /// Returns the recent row versions.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// Returns the runs.
    pub fn runs(&self) -> &[Arc<Run>] {
        &self.runs
    }

    /// Returns the number of live rows at the newest commit.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the timestamp of the newest commit that wrote to the bucket.
    pub fn newest(&self) -> Timestamp {
        self.newest
    }

    /// Returns the bytes of runs and delta.
    pub fn bytes(&self) -> u64 {
        self.delta.bytes() + self.runs.iter().map(|run| run.bytes).sum::<u64>()
    }

    /// Returns the approximate bytes after compaction, by which a bucket is split and merged. The
    /// overhead of versions in the delta does not count: a bucket that splits because of it would
    /// merge after the next compaction.
    pub fn weight(&self) -> u64 {
        self.delta.row_bytes() + self.runs.iter().map(|run| run.bytes).sum::<u64>()
    }

    /// Finds a key in the runs; returns the timestamp of the run too.
    pub fn find_in_runs(&self, key: &Key) -> Option<(&Arc<Chunk>, usize, Timestamp)> {
        self.runs
            .iter()
            .find_map(|run| run.find(key).map(|(chunk, row)| (chunk, row, run.timestamp)))
    }

    /// Returns when a key was last written, as far as the bucket knows.
    pub fn last_write(&self, key: &Key) -> Option<Timestamp> {
        match self.delta.get(key) {
            Some(version) => Some(version.timestamp),
            None => self.find_in_runs(key).map(|(_, _, timestamp)| timestamp),
        }
    }

    /// Whether a key has a row at the newest commit.
    pub fn is_live(&self, key: &Key) -> bool {
        match self.delta.get(key) {
            Some(version) => version.row.is_some(),
            None => self.find_in_runs(key).is_some(),
        }
    }

    /// Writes a row, or removes it (`None`). No snapshot before `horizon` will read it. The removal of a row that is not there
    /// is remembered, too: whoever has written the key since an earlier snapshot conflicts with it.
    pub fn write(&mut self, key: Key, row: Option<Row>, timestamp: Timestamp, horizon: Timestamp) {
        let traced = self.delta.get(&key).is_some() || self.find_in_runs(&key).is_some();
        self.rows += u64::from(row.is_some());
        self.rows -= u64::from(traced && self.is_live(&key));
        self.newest = self.newest.max(timestamp);
        self.delta.write(key, timestamp, row, horizon);
    }

    /// Adds a run. The bucket must not contain any of its keys, not even as tombstones.
    pub(crate) fn add_run(&mut self, run: Arc<Run>) {
        self.rows += run.rows;
        self.newest = self.newest.max(run.timestamp);
        self.runs.push(run);
    }

    /// Returns the part of the state within a range. The columns of the runs are shared.
    pub fn cut(&self, range: &KeyRange) -> Self {
        let delta = self.delta.cut(range);
        let runs: Vec<_> = self.runs.iter().filter_map(|run| run.cut(range)).collect();
        let (newest, compactions) = (self.newest, self.compactions);
        let mut part = Self { delta, runs, rows: 0, newest, compactions };
        part.rows = part.count_rows();
        part
    }

    /// Joins the states of two adjacent buckets.
    pub fn join(self, upper: Self) -> Self {
        let mut runs = self.runs;
        runs.extend(upper.runs);
        Self {
            delta: self.delta.union(upper.delta),
            runs,
            rows: self.rows + upper.rows,
            newest: self.newest.max(upper.newest),
            compactions: self.compactions.max(upper.compactions),
        }
    }

    /// Counts the live rows at the newest commit.
    pub(crate) fn count_rows(&self) -> u64 {
        let in_runs: u64 = self.runs.iter().map(|run| run.rows).sum();
        let mut rows = in_runs;
        for (key, version) in self.delta.iter() {
            rows += u64::from(version.row.is_some());
            rows -= u64::from(self.find_in_runs(key).is_some());
        }
        rows
    }

    /// Returns keys with sizes in key order, from which the median is computed.
    pub fn samples(&self) -> Vec<Sample> {
        let mut samples = Vec::new();
        for chunk in self.runs.iter().flat_map(|run| &run.chunks) {
            let step = chunk.rows().div_ceil(SAMPLES_PER_CHUNK);
            let keys = chunk.keys();
            let places = (0..chunk.rows()).step_by(step);
            let bytes = chunk.bytes() / places.len() as u64;
            samples.extend(places.map(|row| Sample { key: keys.key(row), bytes }));
        }
        let rows = self.delta.iter().map(|(key, version)| {
            let bytes = version.row.as_ref().map_or(0, |row| row.bytes());
            Sample { key: key.clone(), bytes }
        });
        samples.extend(rows);
        samples.sort_by(|a, b| a.key.cmp(&b.key));
        samples
    }

    /// Returns the version of a key in the delta that is visible at a snapshot.
    pub(crate) fn version_at(&self, key: &Key, snapshot: Timestamp) -> Option<&Arc<Version>> {
        self.delta.get(key)?.at(snapshot)
    }
}
