//! Adds the rows of a bulk load to a bucket.
//!
//! A run must contain only keys of which its bucket knows nothing. The transaction has separated the
//! rows of known keys, but compaction is not a command: where the load is replayed, the tombstone of
//! a key may still be in the delta, and would hide the row. Such rows are written above it.

use crate::chunk::{Chunk, Run, take_rows};
use crate::row::{RowEncoder, RowLayout};
use crate::state::BucketState;
use arrow::array::UInt32Array;
use sdds::{Bound, Key, KeyRange, Timestamp};
use std::collections::BTreeSet;
use std::sync::Arc;

impl BucketState {
    /// Adds a run that a transaction has loaded. No snapshot before `horizon` will read the bucket.
    pub fn load(&mut self, run: &Arc<Run>, horizon: Timestamp) {
        let mut chunks = Vec::with_capacity(run.chunks.len());
        let mut is_whole = true;
        for chunk in &run.chunks {
            let known = self.known_rows(chunk);
            if known.is_empty() {
                chunks.push(Arc::clone(chunk));
                continue;
            }
            is_whole = false;
            self.write_known(chunk, &known, run.timestamp, horizon);
            chunks.extend(without(chunk, &known));
        }
        if is_whole {
            self.add_run(Arc::clone(run));
        } else if !chunks.is_empty() {
            self.add_run(Run::new(run.timestamp, chunks));
        }
    }

    /// Returns the rows of a chunk whose keys are in the delta.
    fn known_rows(&self, chunk: &Chunk) -> BTreeSet<usize> {
        let last = Bound::At(chunk.last().successor());
        let Some(span) = KeyRange::new(Bound::At(chunk.first().clone()), last) else {
            unreachable!("a chunk's last key is not before its first");
        };
        self.delta.range(&span).filter_map(|(key, _)| chunk.search(key).ok()).collect()
    }

    fn write_known(
        &mut self,
        chunk: &Chunk,
        known: &BTreeSet<usize>,
        timestamp: Timestamp,
        horizon: Timestamp,
    ) {
        let layout = RowLayout::new(Arc::clone(&chunk.layout));
        let (keys, rows) = (chunk.keys(), RowEncoder::new(&layout, chunk.columns()));
        for row in known {
            let key: Key = keys.key(*row);
            let row = rows.encode(*row).expect("a load has checked the sizes of its values");
            self.write(key, Some(row), timestamp, horizon);
        }
    }
}

/// Returns the other rows of a chunk; `None` if there are none.
fn without(chunk: &Chunk, known: &BTreeSet<usize>) -> Option<Arc<Chunk>> {
    let rest = (0..chunk.rows()).filter(|row| !known.contains(row)).map(|row| row as u32);
    let rest = UInt32Array::from_iter_values(rest);
    if rest.values().is_empty() {
        return None;
    }
    let columns = take_rows(chunk.columns(), &rest).expect("the rows are in the chunk");
    let part = Chunk::new(&chunk.layout, columns);
    Some(Arc::new(part.expect("the types were keys when the whole was made")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_tables::{keyed, rows};
    use crate::{Bucket, Layout, key};
    use sdds::BucketId;

    fn at(number: u64) -> Timestamp {
        Timestamp(number)
    }

    fn run(of: &[(i64, &str)], timestamp: u64) -> Arc<Run> {
        let chunk = Chunk::new(&Layout::of(&keyed("t")), rows(of).columns().to_vec());
        Run::new(at(timestamp), vec![Arc::new(chunk.expect("sorted rows"))])
    }

    fn key_of(number: i64) -> Key {
        key::of_rows(&keyed("t"), &rows(&[(number, "")])).expect("a key").remove(0)
    }

    /// A load after a compaction was replayed without the compaction: the tombstone was above the
    /// run, and the row was lost.
    #[test]
    fn a_row_above_a_tombstone_is_seen() {
        let mut state = BucketState::default();
        state.load(&run(&[(1, "a"), (2, "b"), (3, "c")], 1), at(1));
        state.write(key_of(2), None, at(2), at(2));
        let snapshot = state.clone();
        state.load(&run(&[(2, "again"), (4, "d")], 3), at(2));
        assert!(state.is_live(&key_of(2)) && state.is_live(&key_of(4)));
        assert!(!snapshot.is_live(&key_of(2)));
        assert_eq!((state.rows(), state.delta().len(), state.runs().len()), (4, 1, 2));
        Bucket::new(BucketId(1), KeyRange::all(), state).check().expect("every invariant holds");
    }

    #[test]
    fn a_load_of_known_keys_alone_adds_no_run() {
        let mut state = BucketState::default();
        state.load(&run(&[(1, "a")], 1), at(1));
        state.write(key_of(1), None, at(2), at(2));
        state.load(&run(&[(1, "again")], 3), at(2));
        assert_eq!((state.rows(), state.runs().len()), (1, 1));
    }
}
