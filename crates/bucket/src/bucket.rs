//! A bucket: the rows of a table whose keys lie in one range.

use crate::accesses::Accesses;
use crate::state::BucketState;
use arc_swap::ArcSwap;
use sdds::{BucketId, Key, KeyRange};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A bucket of a table. Its state is an immutable value: a writer replaces it, and readers keep the
/// value they have loaded, so neither waits for the other.
#[derive(Debug)]
pub struct Bucket {
    /// The id.
    pub id: BucketId,
    /// The range of keys.
    pub range: KeyRange,
    /// Access statistics.
    pub accesses: Accesses,
    state: ArcSwap<BucketState>,
}

impl Bucket {
    /// Creates a bucket without accesses.
    pub fn new(id: BucketId, range: KeyRange, state: BucketState) -> Arc<Self> {
        Self::accessed(id, range, state, Accesses::default())
    }

    /// Creates a bucket with access statistics.
    pub fn accessed(
        id: BucketId,
        range: KeyRange,
        state: BucketState,
        accesses: Accesses,
    ) -> Arc<Self> {
        Arc::new(Self { id, range, accesses, state: ArcSwap::from_pointee(state) })
    }

    /// Returns the current state.
    #[inline]
    pub fn state(&self) -> Arc<BucketState> {
        self.state.load_full()
    }

    /// Replaces the state. Called only by the state machine.
    pub fn replace(&self, state: BucketState) {
        self.state.store(Arc::new(state));
    }

    /// Checks the invariants of [`BucketState`] by reading all data, for tests.
    ///
    /// # Errors
    /// A description of the first violation.
    pub fn check(&self) -> Result<(), String> {
        let state = self.state();
        let mut keys = BTreeSet::new();
        for run in &state.runs {
            let bytes: u64 = run.chunks.iter().map(|chunk| chunk.count_bytes()).sum();
            if run.bytes != bytes {
                return Err(format!("a run counts {} bytes and holds {bytes}", run.bytes));
            }
            for chunk in &run.chunks {
                let encoder = chunk.keys();
                let mut previous: Option<Key> = None;
                for row in 0..chunk.rows() {
                    let key = encoder.key(row);
                    if previous.replace(key.clone()).is_some_and(|previous| previous >= key) {
                        return Err(format!("key {key} is out of order in its chunk"));
                    }
                    if !self.range.contains(&key) {
                        return Err(format!("run key {key} is outside"));
                    }
                    if state.delta.get(&key).is_some_and(|chain| chain.timestamp < run.timestamp) {
                        return Err(format!("the delta's version of {key} is older than its run"));
                    }
                    if !keys.insert(key.clone()) {
                        return Err(format!("key {key} is in two runs"));
                    }
                }
            }
        }
        if let Some((key, _)) = state.delta.iter().find(|(key, _)| !self.range.contains(key)) {
            return Err(format!("delta key {key} is outside"));
        }
        let (rows, counted) = (state.rows, state.count_rows());
        if rows != counted {
            return Err(format!("it counts {rows} rows and contains {counted}"));
        }
        let (bytes, counted) = (state.delta.bytes(), state.delta.count_bytes());
        if bytes != counted {
            return Err(format!("its delta counts {bytes} bytes and holds {counted}"));
        }
        Ok(())
    }
}
