//! Rows as bytes: Arrow IPC streams of one batch.

use super::codec::invalid_message;
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use bytes::Bytes;
use std::io::Cursor;
use std::sync::Arc;
use store::{Error, compact_views};

/// Target size of a piece in bytes. A piece may be larger by one row.
pub const PIECE_BYTES: usize = 1 << 20;

/// Encodes a batch, without string data that belongs to other rows.
///
/// # Errors
/// Those of Arrow.
pub fn write(batch: &RecordBatch) -> Result<Bytes, Error> {
    let batch = &compact(batch);
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
    writer.write(batch)?;
    Ok(writer.into_inner()?.into())
}

/// Decodes a batch.
///
/// # Errors
/// 08P01, or those of Arrow.
pub fn read(bytes: &[u8]) -> Result<RecordBatch, Error> {
    let mut reader = StreamReader::try_new(Cursor::new(bytes), None)?;
    match reader.next() {
        Some(batch) => Ok(batch?),
        None => Err(invalid_message("rows are missing")),
    }
}

/// Copies the strings of a batch: a few filtered rows may refer to the string data of a whole
/// chunk.
fn compact(batch: &RecordBatch) -> RecordBatch {
    let columns = batch.columns().iter().map(compact_views).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let compacted = RecordBatch::try_new_with_options(batch.schema(), columns, &options);
    compacted.unwrap_or_else(|_| batch.clone())
}

/// Divides a batch into pieces that are small enough to send.
pub fn pieces(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> + use<> {
    let batch = compact(batch);
    let rows = batch.num_rows();
    let bytes = batch.get_array_memory_size().max(1);
    let step = (rows * PIECE_BYTES / bytes).clamp(1, rows.max(1));
    (0..rows.max(1)).step_by(step).map(move |start| batch.slice(start, step.min(rows - start)))
}

/// A batch of unnamed columns.
///
/// # Errors
/// The columns differ in length.
pub fn of_columns(columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, Error> {
    let fields = columns.iter().map(|column| Field::new("", column.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, Int64Array, StringViewArray};

    #[test]
    fn a_batch_comes_back_in_pieces() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..300_000));
        let texts = (0..300_000).map(|n| (n % 7 != 0).then(|| format!("{n:>40}")));
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter(texts));
        let whole = of_columns(vec![numbers, texts], 300_000).expect("columns of one length");
        let mut rows = 0;
        for piece in pieces(&whole) {
            let bytes = write(&piece).expect("writable");
            let back = read(&bytes).expect("as written");
            assert_eq!(back, whole.slice(rows, back.num_rows()));
            rows += back.num_rows();
        }
        assert_eq!(rows, whole.num_rows());
    }

    #[test]
    fn rows_do_not_travel_with_the_texts_of_others() {
        let texts = (0..8000).map(|n| Some(format!("{n:>200}")));
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter(texts));
        let whole = of_columns(vec![texts], 8000).expect("one column");
        let few = whole.slice(4000, 8);
        assert_eq!(pieces(&few).count(), 1);
        let bytes = write(&few).expect("writable");
        assert!(bytes.len() < 8 * 400 + 1000, "{} bytes for eight rows", bytes.len());
        assert_eq!(read(&bytes).expect("as written"), few);
    }

    #[test]
    fn what_is_not_a_batch_is_an_error() {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let batch = of_columns(vec![column], 3).expect("one column");
        let bytes = write(&batch).expect("writable");
        for end in 0..bytes.len() - 16 {
            let _ = read(&bytes[..end]).map(|batch| assert!(batch.column(0).len() <= 3));
        }
        assert!(read(b"").is_err() && read(b"garbage, and more of it").is_err());
    }

    #[test]
    fn an_empty_batch_is_one_piece() {
        let batch = of_columns(vec![], 0).expect("nothing");
        assert_eq!(pieces(&batch).count(), 1);
    }
}
