//! Compaction: folds the versions that every snapshot sees alike from the delta into one run of
//! full chunks.
//!
//! It is computed concurrently with writers from an immutable state, and installed in one step:
//! versions up to the horizon leave the delta, and the folded runs are replaced. Chunks without
//! changes are shared, not rewritten. Compaction changes no query result, so it is not logged: each
//! replica compacts on its own.

use crate::Error;
use crate::arrays::compact_views;
use crate::bucket::Bucket;
use crate::chunk::{CHUNK_ROWS, Chunk, Run};
use crate::layout::Layout;
use crate::source::Source;
use crate::state::BucketState;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{Field, Schema};
use catalog::Table;
use sdds::{BucketId, KeyRange, Timestamp};
use std::sync::Arc;

/// A bucket is compacted when its delta exceeds the bucket size divided by this.
const DELTA_PART: u64 = 8;
/// A delta up to this size in bytes is not compacted.
const DELTA_BYTES_MIN: u64 = 2 << 10;
/// A delta whose bytes are more than this many times those of the rows is compacted: most of its keys have been deleted, and
/// readers pass over them.
const OVERHEAD_MAX: u64 = 4;
/// A delta with fewer bytes is not compacted for its deleted keys.
const OVERHEAD_BYTES_MIN: u64 = 64 << 10;
/// A delta above this size in bytes is always compacted.
const DELTA_BYTES_MAX: u64 = 8 << 20;
/// A bucket with more runs than this is compacted.
const RUNS_MAX: usize = 4;
/// A chunk with fewer rows than this is joined with its neighbours.
const CHUNK_ROWS_MIN: usize = CHUNK_ROWS / 4;

/// Whether a bucket should be compacted.
pub fn is_due(state: &BucketState, bucket_size: u64) -> bool {
    let limit = (bucket_size / DELTA_PART).clamp(DELTA_BYTES_MIN, DELTA_BYTES_MAX);
    let overhead = OVERHEAD_BYTES_MIN + OVERHEAD_MAX * state.weight();
    state.delta.bytes() > limit.min(overhead) || state.runs.len() > RUNS_MAX
}

/// The result of compacting a state.
pub struct Folded {
    before: Arc<BucketState>,
    horizon: Timestamp,
    run: Option<Arc<Run>>,
}

/// Folds everything up to the horizon; returns `None` if there is nothing to fold.
///
/// # Errors
/// [`Error::Arrow`] if stored rows cannot be read or written again, which is a defect.
pub fn fold(
    table: &Arc<Table>,
    bucket: &Bucket,
    horizon: Timestamp,
) -> Result<Option<Folded>, Error> {
    let before = bucket.state();
    let runs: Vec<_> = before.runs.iter().filter(|r| r.timestamp <= horizon).cloned().collect();
    let changed = before.delta.iter().any(|(_, chain)| chain.at(horizon).is_some());
    if !changed && runs.len() <= 1 {
        return Ok(None);
    }
    let old = BucketState { runs, ..BucketState::clone(&before) };
    let source =
        Source { bucket: BucketId(0), state: Some(Arc::new(old)), snapshot: horizon, writes: None };
    let chunks = fold_chunks(table, &source, &bucket.range)?;
    let run = (!chunks.is_empty()).then(|| Run::new(horizon, chunks));
    Ok(Some(Folded { before, horizon, run }))
}

fn fold_chunks(
    table: &Arc<Table>,
    source: &Source,
    range: &KeyRange,
) -> Result<Vec<Arc<Chunk>>, Error> {
    let mut morsels = Vec::new();
    source.morsels(table, range, &mut morsels);
    let columns: Vec<usize> = (0..table.columns.len()).collect();
    // Rows at the horizon may contain NULL in columns that are NOT NULL now.
    let fields = table.columns.iter().map(|c| Field::new(&c.name, c.sql_type.arrow(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let layout = Layout::of(table);
    let mut chunks = Vec::new();
    let mut pending: Vec<RecordBatch> = Vec::new();
    for morsel in &morsels {
        let whole = morsel.whole_chunk().filter(|chunk| chunk.layout == layout);
        if let Some(chunk) = whole.filter(|chunk| chunk.rows() >= CHUNK_ROWS_MIN) {
            write_chunks(&layout, &mut pending, &mut chunks)?;
            chunks.push(Arc::clone(chunk));
            continue;
        }
        pending.push(morsel.read(&columns, &schema)?);
        if pending.iter().map(RecordBatch::num_rows).sum::<usize>() >= CHUNK_ROWS {
            write_chunks(&layout, &mut pending, &mut chunks)?;
        }
    }
    write_chunks(&layout, &mut pending, &mut chunks)?;
    Ok(chunks)
}

fn write_chunks(
    layout: &Arc<Layout>,
    pending: &mut Vec<RecordBatch>,
    chunks: &mut Vec<Arc<Chunk>>,
) -> Result<(), Error> {
    let batches = std::mem::take(pending);
    let Some(first) = batches.first() else { return Ok(()) };
    let batch = concat_batches(&first.schema(), &batches)?;
    for start in (0..batch.num_rows()).step_by(CHUNK_ROWS) {
        let rows = batch.slice(start, CHUNK_ROWS.min(batch.num_rows() - start));
        let columns: Vec<ArrayRef> = rows.columns().iter().map(compact_views).collect();
        chunks.push(Arc::new(Chunk::new(layout, columns)?));
    }
    Ok(())
}

impl Folded {
    /// Whether the state has not been compacted since this was computed.
    pub fn is_current(&self, state: &BucketState) -> bool {
        self.before.compactions == state.compactions
    }

    /// Replaces what was folded, in a state that may contain newer writes. It must be current.
    pub fn install(self, state: &mut BucketState) {
        assert!(self.is_current(state), "of two compactions at once, one is dropped");
        state.compactions += 1;
        for (key, chain) in self.before.delta.iter() {
            if chain.at(self.horizon).is_none() {
                continue;
            }
            let newer = state.delta.get(key).and_then(|chain| chain.newer_than(self.horizon));
            state.delta.put(key.clone(), newer);
        }
        state.runs.retain(|run| run.timestamp > self.horizon);
        if let Some(run) = self.run {
            state.runs.insert(0, run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{RowEncoder, RowLayout};
    use crate::test_tables::{keyed, rows};
    use crate::{Bucket, key};

    /// Two compactions of one bucket at once left its rows in two runs.
    #[test]
    fn of_two_compactions_at_once_the_second_is_stale() {
        let table = Arc::new(keyed("t"));
        let batch = rows(&[(1, "a"), (2, "b")]);
        let encoder = RowEncoder::new(&RowLayout::new(Layout::of(&table)), batch.columns());
        let mut state = BucketState::default();
        for (row, key) in key::of_rows(&table, &batch).expect("keys").into_iter().enumerate() {
            let encoded = encoder.encode(row).expect("encoded");
            state.write(key, Some(encoded), Timestamp(1), Timestamp(1));
        }
        let bucket = Bucket::new(BucketId(1), KeyRange::all(), state);
        let fold = |horizon| fold(&table, &bucket, Timestamp(horizon)).expect("folded");
        let (first, second) = (fold(5).expect("a delta"), fold(4).expect("a delta"));
        let mut state = BucketState::clone(&bucket.state());
        assert!(first.is_current(&state) && second.is_current(&state));
        first.install(&mut state);
        assert!(!second.is_current(&state));
        bucket.replace(state);
        bucket.check().expect("every invariant holds");
    }
}
