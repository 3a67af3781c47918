//! Builds a small table column by column.

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringViewArray,
    TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{Field, Schema};
use std::sync::Arc;
use values::Result;

/// The columns of a table. Each method adds a column.
#[derive(Default)]
pub(crate) struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn push(mut self, name: &str, array: ArrayRef) -> Self {
        self.fields.push(Field::new(name, array.data_type().clone(), true));
        self.arrays.push(array);
        self
    }

    /// A text column.
    pub(crate) fn text<T: Into<Option<String>>>(
        self,
        name: &str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        let values = values.into_iter().map(Into::into);
        self.push(name, Arc::new(values.collect::<StringViewArray>()))
    }

    /// A `bigint` column.
    pub(crate) fn number(self, name: &str, values: impl IntoIterator<Item = Option<i64>>) -> Self {
        self.push(name, Arc::new(values.into_iter().collect::<Int64Array>()))
    }

    /// A `bigint` column of counts. A count that is too large becomes NULL.
    pub(crate) fn count(self, name: &str, values: impl IntoIterator<Item = u64>) -> Self {
        self.number(name, values.into_iter().map(|value| i64::try_from(value).ok()))
    }

    /// A `double precision` column.
    pub(crate) fn real(self, name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        self.push(name, Arc::new(Float64Array::from_iter_values(values)))
    }

    /// A Boolean column.
    pub(crate) fn flag(self, name: &str, values: impl IntoIterator<Item = bool>) -> Self {
        let values: Vec<bool> = values.into_iter().collect();
        self.push(name, Arc::new(BooleanArray::from(values)))
    }

    /// A `timestamptz` column, from microseconds since 1970.
    pub(crate) fn timestamp(self, name: &str, values: impl IntoIterator<Item = i64>) -> Self {
        let values = TimestampMicrosecondArray::from_iter_values(values);
        self.push(name, Arc::new(values.with_timezone("+00:00")))
    }

    /// The table as a record batch.
    pub(crate) fn batch(self) -> Result<RecordBatch> {
        Ok(RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays)?)
    }
}
