//! The results of calls, as arrays of the engine.

use crate::call_form::CallForm;
use datafusion::arrow::array::{ArrayRef, ListArray, StructArray, new_empty_array};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Fields};
use datafusion::common::{Result as EngineResult, ScalarValue, internal_err};
use lowering::Shape;
use std::sync::Arc;
use values::assign::converted;
use values::translate::external;

/// The results of some calls of a function.
pub enum Results {
    /// Plain values.
    Values(Vec<ScalarValue>),
    /// The rows of each call.
    Rows(Vec<Vec<Vec<ScalarValue>>>),
}

impl Results {
    /// No results yet, of calls of a form.
    pub fn with_capacity(form: &CallForm, calls: usize) -> Self {
        match form.is_value() {
            true => Self::Values(Vec::with_capacity(calls)),
            false => Self::Rows(Vec::with_capacity(calls)),
        }
    }

    /// The results as an array.
    ///
    /// # Errors
    /// A value is not of the type of its column.
    pub fn array(self, shape: &Shape) -> EngineResult<ArrayRef> {
        let data_type = shape.field.data_type();
        let rows = match self {
            Self::Values(values) => return column(data_type, values),
            Self::Rows(rows) => rows,
        };
        if shape.is_list {
            let DataType::List(item) = data_type else {
                return internal_err!("the rows of a function are no list");
            };
            let offsets = OffsetBuffer::from_lengths(rows.iter().map(Vec::len));
            let rows: Vec<_> = rows.into_iter().flatten().collect();
            let items = records(fields_of(item.data_type())?, rows)?;
            return Ok(Arc::new(ListArray::try_new(Arc::clone(item), offsets, items, None)?));
        }
        let first = rows.into_iter().map(|rows| rows.into_iter().next().unwrap_or_default());
        if shape.is_row {
            return records(fields_of(data_type)?, first.collect());
        }
        let values = first.map(|row| row.into_iter().next().unwrap_or(ScalarValue::Null));
        column(data_type, values.collect())
    }
}

fn fields_of(data_type: &DataType) -> EngineResult<&Fields> {
    match data_type {
        DataType::Struct(fields) => Ok(fields),
        other => internal_err!("{other} is no record"),
    }
}

fn records(fields: &Fields, rows: Vec<Vec<ScalarValue>>) -> EngineResult<ArrayRef> {
    let count = rows.len();
    let mut columns: Vec<Vec<ScalarValue>> =
        fields.iter().map(|_| Vec::with_capacity(count)).collect();
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    let arrays = fields.iter().zip(columns);
    let arrays = arrays.map(|(field, values)| column(field.data_type(), values));
    let arrays = arrays.collect::<EngineResult<Vec<_>>>()?;
    Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), arrays, None, count)?))
}

/// Values as an array of a type.
fn column(data_type: &DataType, values: Vec<ScalarValue>) -> EngineResult<ArrayRef> {
    if values.is_empty() {
        return Ok(new_empty_array(data_type));
    }
    let values = values.into_iter().map(|value| fitting(value, data_type));
    ScalarValue::iter_to_array(values.collect::<EngineResult<Vec<_>>>()?)
}

/// A value as one of the type of its column.
///
/// # Errors
/// It is of another type.
pub(crate) fn fitting(value: ScalarValue, data_type: &DataType) -> EngineResult<ScalarValue> {
    match value.data_type() == *data_type {
        true => Ok(value),
        false if value.is_null() => ScalarValue::try_from(data_type),
        false => converted(&value, data_type).map_err(external),
    }
}
