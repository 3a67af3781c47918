//! Rows to be written by their owner, and their division into messages.

use crate::Error;
use arrow::array::{RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::take_record_batch;
use bucket::IndexChanges;
use bucket::arrays::{array_bytes, compact_views};
use sdds::Key;
use std::ops::Range;

/// Maximum size of a message with rows in bytes, unless a single row is larger.
pub(crate) const BATCH_BYTES_MAX: u64 = 8 << 20;

/// Rows to be written by their owner.
#[derive(Debug, Clone)]
pub enum Write {
    /// New rows with all columns of the table. Existing keys are errors.
    Insert(RecordBatch),
    /// Like `Insert`, in bulk: the rows become a run.
    Load(RecordBatch),
    /// Rows with all columns that replace those with the same keys.
    Upsert(RecordBatch),
    /// Keys whose rows are deleted.
    Delete(Vec<Key>),
    /// Keys that must have a row when the transaction commits, and keep it until then.
    Require(Vec<Key>),
}

/// What a write has done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// The number of rows or keys.
    pub rows: u64,
    /// What changes in indexes. The coordinator writes it to the owners of the entries.
    pub entries: IndexChanges,
}

impl Write {
    /// Returns the number of rows or keys.
    pub fn len(&self) -> usize {
        match self {
            Self::Insert(rows) | Self::Load(rows) | Self::Upsert(rows) => rows.num_rows(),
            Self::Delete(keys) | Self::Require(keys) => keys.len(),
        }
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the part with the rows at some ascending positions.
    pub(crate) fn picked(&self, places: &[u32]) -> Result<Self, Error> {
        if places.len() == self.len() {
            return Ok(self.clone());
        }
        let keys = |all: &[Key]| places.iter().map(|place| all[*place as usize].clone()).collect();
        let rows = |rows| take_record_batch(rows, &UInt32Array::from(places.to_vec()));
        Ok(match self {
            Self::Insert(all) => Self::Insert(rows(all)?),
            Self::Load(all) => Self::Load(rows(all)?),
            Self::Upsert(all) => Self::Upsert(rows(all)?),
            Self::Delete(all) => Self::Delete(keys(all)),
            Self::Require(all) => Self::Require(keys(all)),
        })
    }

    /// Divides the write into pieces, each with the positions of its rows.
    pub(crate) fn pieces(self) -> Vec<(Range<usize>, Self)> {
        match self {
            Self::Insert(rows) => of_batch(&rows, Self::Insert),
            Self::Load(rows) => of_batch(&rows, Self::Load),
            Self::Upsert(rows) => of_batch(&rows, Self::Upsert),
            Self::Delete(keys) => of_keys(&keys, Self::Delete),
            Self::Require(keys) => of_keys(&keys, Self::Require),
        }
    }
}

fn of_keys(keys: &[Key], write: fn(Vec<Key>) -> Write) -> Vec<(Range<usize>, Write)> {
    let bytes = |range: &Range<usize>| {
        keys[range.clone()].iter().map(|key| key.as_bytes().len() as u64 + 8).sum()
    };
    let ranges = divided(0..keys.len(), &bytes);
    ranges.into_iter().map(|range| (range.clone(), write(keys[range].to_vec()))).collect()
}

fn of_batch(rows: &RecordBatch, write: fn(RecordBatch) -> Write) -> Vec<(Range<usize>, Write)> {
    let columns = rows.columns().iter().map(compact_views).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    let compacted = RecordBatch::try_new_with_options(rows.schema(), columns, &options);
    let rows = compacted.unwrap_or_else(|_| rows.clone());
    let bytes = |range: &Range<usize>| {
        rows.slice(range.start, range.len()).columns().iter().map(array_bytes).sum()
    };
    let ranges = divided(0..rows.num_rows(), &bytes);
    let piece = |range: Range<usize>| (range.clone(), write(rows.slice(range.start, range.len())));
    ranges.into_iter().map(piece).collect()
}

/// Halves a range until each part is small enough or a single row.
fn divided(range: Range<usize>, bytes: &impl Fn(&Range<usize>) -> u64) -> Vec<Range<usize>> {
    if range.len() <= 1 || bytes(&range) <= BATCH_BYTES_MAX {
        return vec![range];
    }
    let middle = range.start + range.len() / 2;
    let mut parts = divided(range.start..middle, bytes);
    parts.extend(divided(middle..range.end, bytes));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_tables::rows;

    #[test]
    fn pieces_are_small_and_are_the_whole() {
        let long = "x".repeat(1 << 20);
        let pairs: Vec<(i64, &str)> =
            (0..1000).map(|key| (key, if key % 37 == 0 { &*long } else { "short" })).collect();
        let whole = rows(&pairs);
        let mut next = 0;
        for (range, piece) in Write::Insert(whole.clone()).pieces() {
            let Write::Insert(piece) = piece else { panic!("an insert stays one") };
            assert_eq!(range.start, next);
            assert_eq!(piece, whole.slice(range.start, range.len()));
            let bytes: u64 = piece.columns().iter().map(array_bytes).sum();
            assert!(bytes <= BATCH_BYTES_MAX, "{bytes}");
            next = range.end;
        }
        assert_eq!(next, 1000);
        let few = rows(&pairs[1..20]);
        assert_eq!(Write::Upsert(few).pieces().len(), 1);
    }
}
