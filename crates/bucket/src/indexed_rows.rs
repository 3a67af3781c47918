//! What an index has of some rows of its table.

use arrow::array::{Array, ArrayRef, BooleanArray};
use catalog::{Index, Table};
use std::sync::Arc;

/// What an index has of some rows: the values of its columns, and which of the rows.
#[derive(Debug, Clone, Default)]
pub struct IndexedRows {
    /// The values of its columns and expressions.
    pub columns: Vec<ArrayRef>,
    /// Whether each row fulfils its condition; `None` if it has none.
    pub fulfils: Option<BooleanArray>,
}

impl IndexedRows {
    /// Returns the rows of an index over columns of its table. `inputs` are those that it reads
    /// ([`Index::input_positions`]).
    pub fn plain(index: &Index, table: &Table, inputs: &[ArrayRef]) -> Self {
        let places = index.input_positions(table);
        let input = |column: usize| {
            let at = places.iter().position(|place| *place == column)?;
            inputs.get(at).map(Arc::clone)
        };
        let columns = index.positions(table).into_iter().filter_map(|column| input(column?));
        Self { columns: columns.collect(), fulfils: None }
    }

    /// Whether the index has a row.
    pub fn has(&self, row: usize) -> bool {
        self.fulfils.as_ref().is_none_or(|fulfils| fulfils.is_valid(row) && fulfils.value(row))
    }

    /// Whether any value of a row is NULL.
    pub fn has_null(&self, row: usize) -> bool {
        self.columns.iter().any(|column| column.is_null(row))
    }
}
