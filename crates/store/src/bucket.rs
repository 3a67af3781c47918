//! A bucket: the rows of one table whose keys lie in one range.
//!
//! Its state is one immutable value; a writer replaces it whole and readers keep what they loaded, so
//! nobody waits. Invariants: every key lies in the bucket's range; a key is in at most one run; a key's
//! delta versions are at or after its run's timestamp.

use crate::accesses::Accesses;
use crate::chunk::{Chunk, Run};
use crate::delta::{Delta, Version};
use crate::row::Row;
use arc_swap::ArcSwap;
use sdds::splitting::Sample;
use sdds::{BucketId, Key, KeyRange, Timestamp};
use std::sync::Arc;

/// A chunk is sampled in so many places for the median.
const SAMPLES_PER_CHUNK: usize = 32;

/// A bucket of a table's file.
#[derive(Debug)]
pub(crate) struct Bucket {
    pub(crate) id: BucketId,
    pub(crate) range: KeyRange,
    pub(crate) accesses: Accesses,
    state: ArcSwap<BucketState>,
}

impl Bucket {
    pub(crate) fn new(id: BucketId, range: KeyRange, state: BucketState) -> Arc<Self> {
        Self::accessed(id, range, state, Accesses::default())
    }

    /// One that was accessed before.
    pub(crate) fn accessed(
        id: BucketId,
        range: KeyRange,
        state: BucketState,
        accesses: Accesses,
    ) -> Arc<Self> {
        Arc::new(Self { id, range, accesses, state: ArcSwap::from_pointee(state) })
    }

    /// What the bucket holds now.
    pub(crate) fn state(&self) -> Arc<BucketState> {
        self.state.load_full()
    }

    /// Replaces what the bucket holds. Only for the one who applies the log.
    pub(crate) fn replace(&self, state: BucketState) {
        self.state.store(Arc::new(state));
    }
}

/// What a bucket holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct BucketState {
    pub(crate) delta: Delta,
    pub(crate) runs: Vec<Arc<Run>>,
    /// Live rows at the newest commit.
    pub(crate) rows: u64,
    /// The newest commit that wrote here.
    pub(crate) newest: Timestamp,
}

impl BucketState {
    /// Bytes of runs and delta.
    pub(crate) fn bytes(&self) -> u64 {
        self.delta.bytes() + self.runs.iter().map(|run| run.bytes).sum::<u64>()
    }

    /// About how many bytes there will be once the delta is folded: what a bucket is split and merged by. What versions cost
    /// in the delta comes and goes with each compaction; a bucket that was split for it would merge again.
    pub(crate) fn weight(&self) -> u64 {
        self.delta.row_bytes() + self.runs.iter().map(|run| run.bytes).sum::<u64>()
    }

    /// Where the runs hold a key, and since when.
    pub(crate) fn find_in_runs(&self, key: &Key) -> Option<(&Arc<Chunk>, usize, Timestamp)> {
        self.runs
            .iter()
            .find_map(|run| run.find(key).map(|(chunk, row)| (chunk, row, run.timestamp)))
    }

    /// When a key was last written, as far as this bucket remembers.
    pub(crate) fn last_write(&self, key: &Key) -> Option<Timestamp> {
        match self.delta.get(key) {
            Some(version) => Some(version.timestamp),
            None => self.find_in_runs(key).map(|(_, _, timestamp)| timestamp),
        }
    }

    /// Whether a key has a row at the newest commit.
    pub(crate) fn is_live(&self, key: &Key) -> bool {
        match self.delta.get(key) {
            Some(version) => version.row.is_some(),
            None => self.find_in_runs(key).is_some(),
        }
    }

    /// Writes one row, or with `None` removes it.
    pub(crate) fn write(
        &mut self,
        key: Key,
        row: Option<Row>,
        timestamp: Timestamp,
        horizon: Timestamp,
    ) {
        let traced = self.delta.get(&key).is_some() || self.find_in_runs(&key).is_some();
        self.rows += u64::from(row.is_some());
        self.rows -= u64::from(traced && self.is_live(&key));
        self.newest = self.newest.max(timestamp);
        if row.is_some() || traced {
            self.delta.write(key, timestamp, row, horizon);
        }
    }

    /// Takes a run in. The bucket holds no trace of its keys.
    pub(crate) fn add_run(&mut self, run: Arc<Run>) {
        self.rows += run.rows;
        self.newest = self.newest.max(run.timestamp);
        self.runs.push(run);
    }

    /// The part of the state with keys of a range; shares the runs' columns.
    pub(crate) fn cut(&self, range: &KeyRange) -> Self {
        let delta = self.delta.cut(range);
        let runs: Vec<_> = self.runs.iter().filter_map(|run| run.cut(range)).collect();
        let mut part = Self { delta, runs, rows: 0, newest: self.newest };
        part.rows = part.count_rows();
        part
    }

    /// Two neighbours' states in one.
    pub(crate) fn join(self, upper: Self) -> Self {
        let mut runs = self.runs;
        runs.extend(upper.runs);
        Self {
            delta: self.delta.union(upper.delta),
            runs,
            rows: self.rows + upper.rows,
            newest: self.newest.max(upper.newest),
        }
    }

    /// Live rows at the newest commit, counted again.
    pub(crate) fn count_rows(&self) -> u64 {
        let in_runs: u64 = self.runs.iter().map(|run| run.rows).sum();
        let mut rows = in_runs;
        for (key, version) in self.delta.iter() {
            rows += u64::from(version.row.is_some());
            rows -= u64::from(self.find_in_runs(key).is_some());
        }
        rows
    }

    /// Keys and sizes, in key order, from which the median is taken.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        let mut samples = Vec::new();
        for chunk in self.runs.iter().flat_map(|run| &run.chunks) {
            let step = chunk.rows().div_ceil(SAMPLES_PER_CHUNK);
            let keys = chunk.keys();
            let places = (0..chunk.rows()).step_by(step);
            let bytes = chunk.bytes() / places.len() as u64;
            samples.extend(places.map(|row| Sample { key: keys.key(row), bytes }));
        }
        let rows = self.delta.iter().map(|(key, version)| {
            let bytes = version.row.as_ref().map_or(0, |row| row.len() as u64);
            Sample { key: key.clone(), bytes }
        });
        samples.extend(rows);
        samples.sort_by(|a, b| a.key.cmp(&b.key));
        samples
    }

    /// The version of a key that a snapshot sees, if the delta has one.
    pub(crate) fn version_at(&self, key: &Key, snapshot: Timestamp) -> Option<&Arc<Version>> {
        self.delta.get(key)?.at(snapshot)
    }
}
