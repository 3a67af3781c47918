//! Values of variables.

use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::common::ScalarValue;
use plpgsql::Answer;
use store::catalog::SqlType;
use values::error::{Error, Result};
use values::field::Field;

/// A value with its type.
#[derive(Debug, Clone)]
pub struct Value {
    /// The value.
    pub scalar: ScalarValue,
    /// The type.
    pub of: SqlType,
}

impl Value {
    /// The value of a row in a column.
    ///
    /// # Errors
    /// The array is of an unknown type.
    pub fn at(array: &dyn Array, row: usize, of: &SqlType) -> Result<Self> {
        let scalar = ScalarValue::try_from_array(array, row)?;
        // The type of a NULL is that of the variable.
        let scalar = match scalar {
            ScalarValue::Null => ScalarValue::try_from(&of.arrow())?,
            scalar => scalar,
        };
        Ok(Self { scalar, of: of.clone() })
    }

    /// The items of an array; `None` for NULL.
    pub(crate) fn items(&self) -> Result<Option<Vec<Self>>> {
        let SqlType::Array(item) = &self.of else {
            let message = "FOREACH expression must yield an array, not type ";
            let state = values::error::SqlState::DatatypeMismatch;
            return Err(Error::new(state, format!("{message}{}", self.of)));
        };
        let ScalarValue::List(list) = &self.scalar else { return Ok(None) };
        if list.is_null(0) {
            return Ok(None);
        }
        let items = list.value(0);
        let value = |row| Self::at(&items, row, item);
        (0..items.len()).map(value).collect::<Result<_>>().map(Some)
    }
}

/// The rows of some batches.
pub(crate) fn answer(fields: &[Field], batches: &[RecordBatch]) -> Result<Answer<Value>> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let pairs = batch.columns().iter().zip(fields);
            let values = pairs.map(|(array, field)| Value::at(array, row, &field.sql_type));
            rows.push(values.collect::<Result<_>>()?);
        }
    }
    let columns = fields.iter().map(|field| field.name.clone()).collect();
    Ok(Answer { columns, count: rows.len() as u64, rows, has_rows: true })
}
