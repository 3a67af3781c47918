//! Assembles the state of a bucket from runs and versions that arrive from another server in
//! rounds.

use crate::Error;
use crate::chunk::{Chunk, Run};
use crate::delta::Version;
use crate::row::Row;
use crate::state::BucketState;
use catalog::ipc::malformed;
use sdds::{Bound, Key, KeyRange, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A state that is being assembled.
#[derive(Debug, Default)]
pub struct Assembly {
    /// The completed rounds.
    state: BucketState,
    /// The current round.
    chunks: BTreeMap<Timestamp, Vec<Arc<Chunk>>>,
    versions: Vec<(Key, Timestamp, Option<Row>)>,
}

impl Assembly {
    /// Adds a chunk that is visible from a timestamp on.
    pub fn add_chunk(&mut self, timestamp: Timestamp, chunk: Arc<Chunk>) {
        self.chunks.entry(timestamp).or_default().push(chunk);
    }

    /// Whether a version may come next: versions are ordered by key, newest first.
    pub fn is_next(&self, key: &Key, timestamp: Timestamp) -> bool {
        self.versions
            .last()
            .is_none_or(|(last, at, _)| last < key || (last == key && timestamp < *at))
    }

    /// Adds a version for which [`Self::is_next`] holds.
    pub fn add_version(&mut self, key: Key, timestamp: Timestamp, row: Option<Row>) {
        self.versions.push((key, timestamp, row));
    }

    /// Ends a round: combines it with earlier rounds. The versions of a key replace earlier ones.
    ///
    /// # Errors
    /// [`Error::Arrow`] if a key is in two runs, or a version is older than the run of its key. The
    /// state is unusable then.
    pub fn end_round(&mut self) -> Result<(), Error> {
        let chunks = std::mem::take(&mut self.chunks);
        refuse_shared_keys(&self.state, chunks.values().flatten())?;
        for (timestamp, chunks) in chunks {
            for run in runs(timestamp, chunks) {
                put_run(&mut self.state, run)?;
            }
        }
        let mut chain: Option<(Key, Arc<Version>)> = None;
        for (key, timestamp, row) in std::mem::take(&mut self.versions).into_iter().rev() {
            let older = match chain.take() {
                Some((of, older)) if of == key => Some(older),
                done => {
                    put_chain(&mut self.state, done)?;
                    None
                }
            };
            chain = Some((key, Arc::new(Version::new(timestamp, row, older))));
        }
        put_chain(&mut self.state, chain)
    }

    /// Returns the state of all rounds.
    ///
    /// # Errors
    /// As [`Self::end_round`].
    pub fn finish(mut self) -> Result<BucketState, Error> {
        self.end_round()?;
        Ok(self.state)
    }
}

/// Divides chunks that became visible together into runs.
fn runs(timestamp: Timestamp, mut chunks: Vec<Arc<Chunk>>) -> impl Iterator<Item = Arc<Run>> {
    chunks.sort_by(|a, b| a.first().cmp(b.first()));
    let mut runs: Vec<Vec<Arc<Chunk>>> = Vec::new();
    for chunk in chunks {
        let ends_before =
            |run: &&mut Vec<Arc<Chunk>>| run.last().is_some_and(|c| c.last() < chunk.first());
        match runs.iter_mut().find(ends_before) {
            Some(run) => run.push(chunk),
            None => runs.push(vec![chunk]),
        }
    }
    runs.into_iter().map(move |run| Run::new(timestamp, run))
}

/// Adds a run to the received state.
fn put_run(state: &mut BucketState, run: Arc<Run>) -> Result<(), Error> {
    let span = KeyRange::new(Bound::At(run.first().clone()), Bound::At(run.last().successor()));
    let mut known = 0;
    for (_, chain) in span
        .iter()
        .flat_map(|span| state.delta.range(span))
        .filter(|(key, _)| run.find(key).is_some())
    {
        if chain.timestamp < run.timestamp {
            return Err(malformed("a version is older than its run").into());
        }
        known += 1;
    }
    state.add_run(run);
    state.rows -= known;
    Ok(())
}

/// Replaces the versions of a key in the received state.
fn put_chain(state: &mut BucketState, chain: Option<(Key, Arc<Version>)>) -> Result<(), Error> {
    let Some((key, newest)) = chain else { return Ok(()) };
    let in_run = state.find_in_runs(&key);
    if in_run.is_some_and(|(_, _, timestamp)| newest.timestamp < timestamp) {
        return Err(malformed("a version is older than its run").into());
    }
    let was_live = state.is_live(&key);
    state.newest = state.newest.max(newest.timestamp);
    state.rows += u64::from(newest.row.is_some());
    state.rows -= u64::from(was_live);
    state.delta.put(key, Some(newest));
    Ok(())
}

/// Refuses new chunks that have a key in common with each other or with earlier ones. Only
/// overlapping chunks are compared.
fn refuse_shared_keys<'a>(
    state: &'a BucketState,
    new: impl Iterator<Item = &'a Arc<Chunk>>,
) -> Result<(), Error> {
    let mut chunks: Vec<(&Arc<Chunk>, bool)> = new.map(|chunk| (chunk, true)).collect();
    if chunks.is_empty() {
        return Ok(());
    }
    chunks.extend(state.runs.iter().flat_map(|run| &run.chunks).map(|chunk| (chunk, false)));
    chunks.sort_by(|a, b| a.0.first().cmp(b.0.first()));
    let mut open: Vec<(&Arc<Chunk>, bool)> = Vec::new();
    for (chunk, is_new) in chunks {
        open.retain(|(earlier, _)| earlier.last() >= chunk.first());
        let others = || open.iter().filter(|(_, was_new)| is_new || *was_new);
        if others().next().is_some() {
            let keys = chunk.keys();
            let mut keys = (0..chunk.rows()).map(|row| keys.key(row));
            if keys.any(|key| others().any(|(earlier, _)| earlier.search(&key).is_ok())) {
                return Err(malformed("a key is in two runs").into());
            }
        }
        open.push((chunk, is_new));
    }
    Ok(())
}
