//! Batches of binary values.

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::ScalarValue;
use std::sync::Arc;
use values::error::Result;

/// Collects rows of values into a batch.
pub(crate) struct RowsOfValues {
    columns: Vec<Vec<ScalarValue>>,
    /// Number of rows collected.
    pub(crate) count: usize,
    /// Bytes that the client sent for them.
    pub(crate) bytes: usize,
}

impl RowsOfValues {
    /// No rows yet, of a number of columns.
    pub(crate) fn new(columns: usize) -> Self {
        Self { columns: vec![Vec::new(); columns], count: 0, bytes: 0 }
    }

    /// Adds a row of a length in bytes.
    pub(crate) fn add(&mut self, row: Vec<ScalarValue>, bytes: usize) {
        self.columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        self.count += 1;
        self.bytes += bytes;
    }

    /// Returns the collected rows and starts a new batch; `None` if there are none.
    pub(crate) fn batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.count == 0 {
            return Ok(None);
        }
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            // Each decimal has its own scale. The largest scale holds all of them.
            let column = same_scale(std::mem::take(column))?;
            arrays.push(ScalarValue::iter_to_array(column)?);
        }
        (self.count, self.bytes) = (0, 0);
        let fields = arrays.iter().map(|array| Field::new("", array.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Some(RecordBatch::try_new(schema, arrays)?))
    }
}

fn same_scale(column: Vec<ScalarValue>) -> Result<Vec<ScalarValue>> {
    let scales = column.iter().filter_map(|value| match value {
        ScalarValue::Decimal128(_, _, scale) => Some(*scale),
        _ => None,
    });
    let Some(widest) = scales.max() else { return Ok(column) };
    let to = DataType::Decimal128(38, widest);
    Ok(column.into_iter().map(|value| value.cast_to(&to)).collect::<Result<_, _>>()?)
}
