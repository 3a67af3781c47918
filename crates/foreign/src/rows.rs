//! Rows of columns.

use datafusion::arrow::array::{Array, ArrayRef};

/// The arguments of a row behind a state.
pub(crate) fn row_of(state: ArrayRef, arguments: &[ArrayRef], row: usize) -> Vec<ArrayRef> {
    let rest = arguments.iter().map(|argument| argument.slice(row, 1));
    std::iter::once(state).chain(rest).collect()
}
