//! Rows that are found one by one, as columns.

use crate::Error;
use arrow::array::{Array, ArrayRef, new_empty_array};
use arrow::compute::concat;
use catalog::Table;

/// Rows that are found one by one.
pub(crate) struct Gathered {
    values: Vec<Vec<ArrayRef>>,
    positions: Vec<usize>,
}

impl Gathered {
    pub(crate) fn new(columns: &[usize]) -> Self {
        Self { values: vec![Vec::new(); columns.len()], positions: Vec::new() }
    }

    /// Adds the row of the key at a position.
    pub(crate) fn add(&mut self, position: usize, row: Option<Vec<ArrayRef>>) {
        let Some(row) = row else { return };
        self.positions.push(position);
        self.values.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }

    /// Returns the columns and the positions.
    pub(crate) fn finish(
        self,
        table: &Table,
        columns: &[usize],
    ) -> Result<(Vec<ArrayRef>, Vec<usize>), Error> {
        let mut arrays = Vec::with_capacity(columns.len());
        for (values, &column) in self.values.iter().zip(columns) {
            let empty = new_empty_array(&table.columns[column].sql_type.arrow());
            let mut parts: Vec<&dyn Array> = vec![&empty];
            parts.extend(values.iter().map(AsRef::as_ref));
            arrays.push(concat(&parts)?);
        }
        Ok((arrays, self.positions))
    }
}
