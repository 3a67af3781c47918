//! Which rows of a bulk load meet something in the table.
//!
//! A run may only hold keys of which the table has no trace. Rows whose key is live are duplicates; rows
//! whose key was deleted, but is still known, go to the delta, over the tombstone. Whole chunks that lie
//! outside everything present are not looked at row by row.

use crate::Error;
use crate::chunk::{Chunk, take_rows};
use crate::ingest::duplicate;
use crate::layout::Layout;
use crate::view::TableView;
use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use sdds::{Bound, Key, KeyRange};
use std::sync::Arc;

/// A load's rows, sorted out.
pub(crate) struct SortedOut {
    /// Chunks of keys that the table knows nothing of.
    pub(crate) absent: Vec<Arc<Chunk>>,
    /// Rows whose key was deleted.
    pub(crate) traced: Vec<RecordBatch>,
}

/// What a table knows of a key.
enum Trace {
    None,
    Dead,
    Live,
}

impl TableView {
    /// Sorts chunks of a load out against the table.
    pub(crate) fn sort_out_present(&self, chunks: &[Arc<Chunk>]) -> Result<SortedOut, Error> {
        let mut sorted = SortedOut { absent: Vec::with_capacity(chunks.len()), traced: Vec::new() };
        for chunk in chunks {
            if self.knows_nothing_between(chunk.first(), chunk.last())? {
                sorted.absent.push(Arc::clone(chunk));
            } else {
                self.sort_out_chunk(chunk, &mut sorted)?;
            }
        }
        Ok(sorted)
    }

    fn knows_nothing_between(&self, first: &Key, last: &Key) -> Result<bool, Error> {
        let range = KeyRange::new(Bound::At(first.clone()), Bound::At(last.successor()));
        let range = range.expect("a chunk's last key is not before its first");
        let sources = match self.sources(&range) {
            // Other servers' keys lie between: each row's own key says whether it is here.
            Err(Error::NotOwned { .. }) => return Ok(false),
            sources => sources?,
        };
        Ok(sources.iter().all(|(_, source)| {
            let state = source.state.iter().all(|state| {
                state.delta.range(&range).next().is_none()
                    && state.runs.iter().all(|run| run.chunks_in(&range).next().is_none())
            });
            let own = source.writes.iter().all(|writes| {
                writes.changes_in(&range).next().is_none()
                    && writes.runs.iter().all(|run| run.chunks_in(&range).next().is_none())
            });
            state && own
        }))
    }

    fn sort_out_chunk(&self, chunk: &Arc<Chunk>, sorted: &mut SortedOut) -> Result<(), Error> {
        let keys = chunk.keys();
        let (mut absent, mut traced) = (Vec::new(), Vec::new());
        for row in 0..chunk.rows() {
            let key = keys.key(row);
            match self.trace(&key)? {
                Trace::Live => return Err(duplicate(self.table(), &key)),
                Trace::Dead => traced.push(row as u32),
                Trace::None => absent.push(row as u32),
            }
        }
        if traced.is_empty() {
            sorted.absent.push(Arc::clone(chunk));
            return Ok(());
        }
        let all = 0..chunk.rows();
        let columns: Vec<ArrayRef> = (0..self.table().columns.len())
            .map(|column| chunk.column(self.table(), column, &all))
            .collect();
        let rows = take_rows(&columns, &UInt32Array::from(traced))?;
        sorted.traced.push(RecordBatch::try_new(self.table().arrow_schema(), rows)?);
        if !absent.is_empty() {
            let rows = take_rows(&columns, &UInt32Array::from(absent))?;
            sorted.absent.push(Arc::new(Chunk::new(&Layout::of(self.table()), rows)?));
        }
        Ok(())
    }

    fn trace(&self, key: &Key) -> Result<Trace, Error> {
        let source = self.source_of(key)?;
        if source.find(key).is_some() {
            return Ok(Trace::Live);
        }
        let own = source
            .writes
            .as_ref()
            .is_some_and(|w| w.changes.contains_key(key) || w.find_in_runs(key).is_some());
        let committed = source.state.as_ref().is_some_and(|state| state.last_write(key).is_some());
        Ok(if own || committed { Trace::Dead } else { Trace::None })
    }
}
