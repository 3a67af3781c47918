//! Building a small table column by column.

use crate::values::error::Result;
use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Int64Array, RecordBatch, StringViewArray, TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{Field, Schema};
use std::sync::Arc;

/// Columns of a table that is being built.
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

    pub(crate) fn text<T: Into<Option<String>>>(
        self,
        name: &str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        let values = values.into_iter().map(Into::into);
        self.push(name, Arc::new(values.collect::<StringViewArray>()))
    }

    pub(crate) fn number(self, name: &str, values: impl IntoIterator<Item = Option<i64>>) -> Self {
        self.push(name, Arc::new(values.into_iter().collect::<Int64Array>()))
    }

    pub(crate) fn count(self, name: &str, values: impl IntoIterator<Item = u64>) -> Self {
        self.number(name, values.into_iter().map(|value| i64::try_from(value).ok()))
    }

    pub(crate) fn flag(self, name: &str, values: impl IntoIterator<Item = bool>) -> Self {
        let values: Vec<bool> = values.into_iter().collect();
        self.push(name, Arc::new(BooleanArray::from(values)))
    }

    /// Microseconds since 1970.
    pub(crate) fn moment(self, name: &str, values: impl IntoIterator<Item = i64>) -> Self {
        let values = TimestampMicrosecondArray::from_iter_values(values);
        self.push(name, Arc::new(values.with_timezone("+00:00")))
    }

    pub(crate) fn batch(self) -> Result<RecordBatch> {
        Ok(RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays)?)
    }
}
