//! Rows as the SQL test files have them.

use arrow::array::{Array, ArrayRef, StringArray};
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use query::text::TextColumn;
use query::{Error, as_texts};
use std::sync::Arc;

/// The values of rows as texts: `NULL` for NULL, and `(empty)` for an empty text.
pub(crate) fn rows(batches: &[RecordBatch]) -> Result<Vec<Vec<String>>, Error> {
    let options = FormatOptions::new().with_null("NULL");
    let mut texts = Vec::new();
    for batch in batches {
        let batch = &as_texts(batch)?;
        let columns = batch.columns().iter().map(written).collect::<Result<Vec<_>, _>>()?;
        let columns = columns.iter().map(|column| ArrayFormatter::try_new(column, &options));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let value = |column: &ArrayFormatter<'_>| match column.value(row).to_string() {
                empty if empty.is_empty() => "(empty)".to_owned(),
                text => text,
            };
            texts.push(columns.iter().map(value).collect());
        }
    }
    Ok(texts)
}

/// Rows as PostgreSQL writes them, which Arrow writes in another way. Other values are unchanged.
fn written(column: &ArrayRef) -> Result<ArrayRef, Error> {
    let is_row = match column.data_type() {
        DataType::List(item) => matches!(item.data_type(), DataType::Struct(_)),
        of => matches!(of, DataType::Struct(_)),
    };
    if !is_row {
        return Ok(Arc::clone(column));
    }
    let values = TextColumn::new(column)?;
    let text = |row| {
        let mut text = String::new();
        values.write(row, &mut text).then_some(text)
    };
    Ok(Arc::new((0..column.len()).map(text).collect::<StringArray>()))
}
