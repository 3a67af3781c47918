//! Cuts the rows of a table into pieces, each a file of a backup.
//!
//! A piece ends after a batch whose fingerprint says so, not after a number of rows: rows that are inserted or deleted
//! change the piece that they are in, and the cuts after it are where they were.

use crate::{Error, digest, fingerprint};
use arrow::array::RecordBatch;

/// A piece is not cut below this number of rows.
const ROWS_MIN: usize = 1 << 16;
/// A piece ends at this number of rows.
const ROWS_MAX: usize = 1 << 19;
/// A piece ends at this number of bytes in memory.
const BYTES_MAX: usize = 64 << 20;
/// Above the minimum, one of so many batches ends its piece.
const BATCHES_MEAN: u8 = 8;

/// Rows of a table in key order.
pub(crate) struct Piece {
    pub(crate) batches: Vec<RecordBatch>,
    pub(crate) rows: usize,
    /// The fingerprint of the rows.
    pub(crate) content: String,
}

/// Cuts the batches of one table into pieces.
#[derive(Default)]
pub(crate) struct Cutter {
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
    fingerprints: Vec<u8>,
}

impl Cutter {
    /// Adds a batch; returns the piece that it ends.
    pub(crate) fn add(&mut self, batch: RecordBatch) -> Result<Option<Piece>, Error> {
        if batch.num_rows() == 0 {
            return Ok(None);
        }
        let fingerprint = fingerprint::of(&batch).map_err(store::Error::from)?;
        self.rows += batch.num_rows();
        self.bytes += batch
            .columns()
            .iter()
            .map(|c| c.to_data().get_slice_memory_size().unwrap_or(0))
            .sum::<usize>();
        self.batches.push(batch);
        self.fingerprints.extend_from_slice(fingerprint.as_ref());
        let ends = fingerprint.as_ref()[0] < u8::MAX / BATCHES_MEAN && self.rows >= ROWS_MIN;
        let is_full = self.rows >= ROWS_MAX || self.bytes >= BYTES_MAX;
        Ok(if ends || is_full { self.finish() } else { None })
    }

    /// Returns the rows that are left; `None` if there are none.
    pub(crate) fn finish(&mut self) -> Option<Piece> {
        let all = std::mem::take(self);
        let content = digest::of(&all.fingerprints);
        (all.rows > 0).then_some(Piece { batches: all.batches, rows: all.rows, content })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Int64Array;
    use std::sync::Arc;

    /// Batches of 8192 rows; the row `changed` differs.
    fn contents(batches: i64, changed: i64) -> Vec<String> {
        let mut cutter = Cutter::default();
        let mut contents = Vec::new();
        for batch in 0..batches {
            let rows =
                (batch * 8192..(batch + 1) * 8192).map(|row| if row == changed { -1 } else { row });
            let column = Arc::new(Int64Array::from_iter_values(rows));
            let batch = RecordBatch::try_from_iter([("a", column as _)]).expect("a batch");
            contents.extend(cutter.add(batch).expect("cut").map(|piece| piece.content));
        }
        contents.extend(cutter.finish().map(|piece| piece.content));
        contents
    }

    #[test]
    fn a_changed_row_changes_the_pieces_around_it_only() {
        let before = contents(400, -1);
        let after = contents(400, 200 * 8192);
        let kept = before.iter().filter(|content| after.contains(content)).count();
        assert!(before.len() >= 10, "{} pieces", before.len());
        assert!(before.len() - kept <= 2, "{kept} of {}", before.len());
    }
}
