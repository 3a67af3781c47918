//! Separates the rows of a bulk load by whether the table knows their keys.
//!
//! A run must contain only keys that are unknown to its bucket. A row whose key is live is a
//! duplicate. A row whose key was deleted, but is still known, is written to the delta, above the
//! tombstone. Chunks outside of all known keys are not examined row by row.

use crate::Error;
use crate::read::TableView;
use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use bucket::{Chunk, Layout, Trace, take_rows};
use sdds::{Bound, Key, KeyRange};
use std::sync::Arc;

/// The rows of a load, separated.
pub(crate) struct Separated {
    /// Chunks of unknown keys.
    pub(crate) absent: Vec<Arc<Chunk>>,
    /// Rows whose keys were deleted.
    pub(crate) traced: Vec<RecordBatch>,
}

impl TableView {
    /// Separates the rows of a load.
    pub(crate) fn separate_known(&self, chunks: &[Arc<Chunk>]) -> Result<Separated, Error> {
        let mut separated =
            Separated { absent: Vec::with_capacity(chunks.len()), traced: Vec::new() };
        for chunk in chunks {
            if self.is_unknown_between(chunk.first(), chunk.last())? {
                separated.absent.push(Arc::clone(chunk));
            } else {
                self.separate_chunk(chunk, &mut separated)?;
            }
        }
        Ok(separated)
    }

    fn is_unknown_between(&self, first: &Key, last: &Key) -> Result<bool, Error> {
        let range = KeyRange::new(Bound::At(first.clone()), Bound::At(last.successor()));
        let range = range.expect("a chunk's last key is not before its first");
        let sources = match self.sources(&range) {
            // Keys of other servers lie between, so each row is checked.
            Err(Error::NotOwned { .. }) => return Ok(false),
            sources => sources?,
        };
        Ok(sources.iter().all(|(_, source)| source.is_untraced(&range)))
    }

    fn separate_chunk(&self, chunk: &Arc<Chunk>, separated: &mut Separated) -> Result<(), Error> {
        let keys = chunk.keys();
        let (mut absent, mut traced) = (Vec::new(), Vec::new());
        for row in 0..chunk.rows() {
            let key = keys.key(row);
            match self.source_of(&key)?.trace(&key) {
                Trace::Live => return Err(self.duplicate(&key)),
                Trace::Dead => traced.push(row as u32),
                Trace::None => absent.push(row as u32),
            }
        }
        if traced.is_empty() {
            separated.absent.push(Arc::clone(chunk));
            return Ok(());
        }
        let all = 0..chunk.rows();
        let columns: Vec<ArrayRef> = (0..self.table().columns.len())
            .map(|column| chunk.column(self.table(), column, &all))
            .collect();
        let rows = take_rows(&columns, &UInt32Array::from(traced))?;
        separated.traced.push(RecordBatch::try_new(self.table().arrow_schema(), rows)?);
        if !absent.is_empty() {
            let rows = take_rows(&columns, &UInt32Array::from(absent))?;
            separated.absent.push(Arc::new(Chunk::new(&Layout::of(self.table()), rows)?));
        }
        Ok(())
    }
}
