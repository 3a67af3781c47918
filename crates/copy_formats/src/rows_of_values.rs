//! Batches of binary values.

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::ScalarValue;
use std::sync::Arc;
use values::error::Result;
use values::numbers;

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
            // Each decimal has its own scale.
            let column = same_scale(std::mem::take(column))?;
            arrays.push(ScalarValue::iter_to_array(column)?);
        }
        (self.count, self.bytes) = (0, 0);
        let fields = arrays.iter().map(|array| Field::new("", array.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Some(RecordBatch::try_new(schema, arrays)?))
    }
}

/// Decimals of one scale, or numbers with a scale each.
fn same_scale(column: Vec<ScalarValue>) -> Result<Vec<ScalarValue>> {
    let scale = |value: &ScalarValue| match value {
        ScalarValue::Decimal128(_, _, scale) => Some(*scale),
        _ => None,
    };
    let Some(first) = column.iter().find_map(scale) else { return Ok(column) };
    let is_other = |value: &ScalarValue| {
        scale(value).is_some_and(|scale| scale != first) || numbers::is_open(&value.data_type())
    };
    let is_mixed = column.iter().any(is_other);
    let one = DataType::Decimal128(38, first);
    let alike = column.into_iter().map(|value| match is_mixed {
        false => Ok(value.cast_to(&one)?),
        true if scale(&value).is_none() => Ok(value),
        true => Ok(ScalarValue::try_from_array(&numbers::opened(&value.to_array()?)?, 0)?),
    });
    alike.collect()
}
