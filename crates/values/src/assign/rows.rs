//! Numbers with a scale each, and values with their texts, as what readers know that do not know these.

use super::input;
use crate::error::Result;
use crate::numbers::{DIGITS_MAX, holds_open};
use crate::shown;
use crate::style::Style;
use crate::types::of_arrow;
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::ScalarValue;
use std::sync::Arc;
use store::catalog::SqlType;

/// A value as one of another Arrow type.
///
/// # Errors
/// There is no cast, or the value is not of the type.
pub fn converted(value: &ScalarValue, to: &DataType) -> Result<ScalarValue> {
    if !holds_open(to) && !holds_open(&value.data_type()) {
        return Ok(value.cast_to(to)?);
    }
    let array = input(&value.to_array()?, &of_arrow(to), Style::default())?;
    Ok(ScalarValue::try_from_array(&array, 0)?)
}

/// Rows in which numbers with a scale each, and values with their texts, are texts.
///
/// # Errors
/// Arrow refuses the columns.
pub fn as_texts(batch: &RecordBatch) -> Result<RecordBatch> {
    with_numbers(batch, &SqlType::Text)
}

/// Rows in which numbers with a scale each are decimals with 16 digits behind the point, for files that others read.
///
/// # Errors
/// 22003: a number has more than 22 digits before the point. 0A000: it is NaN or an infinity.
pub fn as_decimals(batch: &RecordBatch) -> Result<RecordBatch> {
    with_numbers(batch, &SqlType::Numeric { precision: DIGITS_MAX, scale: 16 })
}

fn with_numbers(batch: &RecordBatch, to: &SqlType) -> Result<RecordBatch> {
    let is_open = |column: &ArrayRef| holds_open(column.data_type());
    if !batch.columns().iter().any(|column| is_open(column) || shown::has_texts(column)) {
        return Ok(batch.clone());
    }
    let columns = batch.columns().iter().map(|column| match is_open(column) {
        true => input(column, &with_items(column.data_type(), to), Style::default()),
        false => Ok(shown::texts(column)),
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let schema = batch.schema();
    let fields =
        schema.fields().iter().zip(&columns).map(|(field, column)| {
            field.as_ref().clone().with_data_type(column.data_type().clone())
        });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}

/// A type, or that of arrays of it where values are arrays.
fn with_items(of: &DataType, item: &SqlType) -> SqlType {
    match of {
        DataType::List(field) => SqlType::Array(Box::new(with_items(field.data_type(), item))),
        _ => item.clone(),
    }
}
