//! What aggregates with states of their own have in common.

use datafusion::arrow::array::{Array, ArrayRef, BooleanArray};
use datafusion::common::{Result, ScalarValue};

/// Whether a filter takes a row.
pub(crate) fn takes(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}

/// The values of columns with a single row.
pub(crate) fn only_row(columns: &[ArrayRef]) -> Result<Vec<ScalarValue>> {
    columns.iter().map(|column| ScalarValue::try_from_array(column, 0)).collect()
}
