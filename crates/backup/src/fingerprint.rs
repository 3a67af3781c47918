//! The fingerprint of rows: equal for the same rows in the same batches, whatever the buffers behind them look like.
//!
//! It tells which parts of a table are unchanged since the last backup, without writing them as Parquet again. Rows
//! whose fingerprints differ may be equal: they are then written again.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use ring::digest::{Context, Digest};
use std::sync::Arc;
use store::catalog::ipc;

/// Length that stands for NULL.
const NULL_LENGTH: u32 = u32::MAX;

/// Returns the fingerprint of a batch.
pub(crate) fn of(batch: &RecordBatch) -> Result<Digest, ArrowError> {
    let mut digest = crate::digest::begin();
    digest.update(&(batch.num_rows() as u64).to_le_bytes());
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        // A file has the names of its columns, too.
        let head = [field.name().clone(), field.data_type().to_string()];
        add_values(head.iter().map(|text| Some(text.as_bytes())), &mut digest);
        add_column(column, &mut digest)?;
    }
    Ok(digest.finish())
}

fn add_column(column: &Arc<dyn Array>, digest: &mut Context) -> Result<(), ArrowError> {
    match column.data_type() {
        DataType::Utf8View => {
            add_values(column.as_string_view().iter().map(|v| v.map(str::as_bytes)), digest);
        }
        DataType::BinaryView => add_values(column.as_binary_view().iter(), digest),
        DataType::Boolean => {
            add_nulls(column, digest);
            add_bits(column.as_boolean().values(), digest);
        }
        other => match other.primitive_width() {
            Some(width) => {
                add_nulls(column, digest);
                let data = column.to_data();
                let (from, bytes) = (data.offset() * width, data.len() * width);
                digest.update(&data.buffers()[0][from..from + bytes]);
            }
            None => {
                let batch = RecordBatch::try_from_iter([("", Arc::clone(column))])?;
                digest.update(&ipc::write(&batch.schema(), &[batch])?);
            }
        },
    }
    Ok(())
}

/// Adds values of any length.
fn add_values<'a>(values: impl Iterator<Item = Option<&'a [u8]>>, digest: &mut Context) {
    let mut bytes = Vec::new();
    for value in values {
        let length = value.map_or(NULL_LENGTH, |value| value.len() as u32);
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(value.unwrap_or_default());
    }
    digest.update(&bytes);
}

fn add_nulls(column: &Arc<dyn Array>, digest: &mut Context) {
    match column.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => digest.update(&[0]),
        Some(nulls) => {
            digest.update(&[1]);
            add_bits(nulls.inner(), digest);
        }
    }
}

fn add_bits(bits: &BooleanBuffer, digest: &mut Context) {
    for chunk in bits.bit_chunks().iter_padded() {
        digest.update(&chunk.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, BooleanArray, Int64Array, ListArray, StringViewArray};
    use arrow::datatypes::Int32Type;

    fn batch() -> RecordBatch {
        let long = "a text that is too long for a view";
        let columns: [(&str, ArrayRef); 4] = [
            ("a", Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4)]))),
            ("b", Arc::new(StringViewArray::from(vec![Some("x"), Some(long), None, Some(long)]))),
            ("c", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, None]))),
            (
                "d",
                Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([
                    Some(vec![Some(1), None]),
                    None,
                    Some(vec![]),
                    Some(vec![Some(7)]),
                ])),
            ),
        ];
        RecordBatch::try_from_iter(columns).expect("a batch")
    }

    fn fingerprint(batch: &RecordBatch) -> Vec<u8> {
        of(batch).expect("a fingerprint").as_ref().to_vec()
    }

    #[test]
    fn it_depends_on_the_rows_and_not_on_buffers() {
        let all = batch();
        let twice = arrow::compute::concat_batches(&all.schema(), [&all, &all]).expect("rows");
        assert_eq!(fingerprint(&twice.slice(4, 4)), fingerprint(&all));
        assert_ne!(fingerprint(&all.slice(0, 3)), fingerprint(&all.slice(1, 3)));
        for column in 0..all.num_columns() {
            let other = twice.slice(3, 4).column(column).clone();
            let mut columns = all.columns().to_vec();
            columns[column] = other;
            let changed = RecordBatch::try_new(all.schema(), columns).expect("a batch");
            assert_ne!(fingerprint(&changed), fingerprint(&all), "column {column}");
        }
        let renamed = all.columns().iter().zip(["a", "b", "c", "e"]);
        let renamed = RecordBatch::try_from_iter(renamed.map(|(c, name)| (name, Arc::clone(c))));
        assert_ne!(fingerprint(&renamed.expect("a batch")), fingerprint(&all));
    }
}
