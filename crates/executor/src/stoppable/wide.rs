//! Rows that are too wide for a join.
//!
//! A join copies values that are not texts once for each pair of rows, a batch at a time. An array of ten megabytes in a
//! batch of 8,192 rows would be 80 GB at once, which no allocator has, and a failed allocation ends the process.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Schema};
use values::error::{Error, Result, SqlState};

/// Rows of a batch that a join makes.
const JOINED_ROWS: usize = 8192;

/// Bytes of a batch that a join may make.
const JOINED_BYTES_MAX: usize = 4 << 30;

/// The columns whose values a join copies, and that may be wide.
pub(super) fn copied_columns(schema: &Schema) -> Vec<usize> {
    let is_copied = |data_type: &DataType| {
        data_type.is_nested()
            || matches!(
                data_type,
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary
            )
    };
    let columns = schema.fields().iter().enumerate();
    columns.filter(|(_, field)| is_copied(field.data_type())).map(|(column, _)| column).collect()
}

/// Refuses a batch of a join's input whose rows are too wide.
///
/// # Errors
/// 53200.
pub(super) fn check_width(batch: &RecordBatch, copied: &[usize]) -> Result<()> {
    let rows = batch.num_rows();
    if copied.is_empty() || rows == 0 {
        return Ok(());
    }
    let sizes = copied.iter().map(|column| batch.column(*column).to_data().get_slice_memory_size());
    let bytes: usize = sizes.map(|size| size.unwrap_or(0)).sum();
    let wide = bytes / rows;
    if wide.saturating_mul(JOINED_ROWS) <= JOINED_BYTES_MAX {
        return Ok(());
    }
    let message = format!("out of memory: a join would copy values of {wide} bytes for each row");
    Err(Error::new(SqlState::OutOfMemory, message)
        .with_hint("Join first, and make large arrays or documents from the result."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{ArrayRef, Int64Array, ListArray};
    use datafusion::arrow::datatypes::Int64Type;
    use std::sync::Arc;

    fn lists(items: usize) -> RecordBatch {
        let list = Some((0..items).map(|item| Some(item as i64)));
        let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>([list]));
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        RecordBatch::try_from_iter([("number", numbers), ("list", lists)]).expect("a batch")
    }

    #[test]
    fn only_wide_values_are_refused() {
        for (items, is_refused) in [(1000, false), (1_000_000, true)] {
            let batch = lists(items);
            let copied = copied_columns(&batch.schema());
            assert_eq!(copied, [1]);
            assert_eq!(check_width(&batch, &copied).is_err(), is_refused, "{items}");
        }
    }
}
