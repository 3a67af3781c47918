//! Which columns a piece of storage has: chunks and rows keep the layout that they were written with.
//!
//! A table's columns change; what is written stays as it is. A reader asks a layout where a column is,
//! by the column's id, and takes the column's `missing` value where the layout lacks it.

use crate::catalog::{ColumnId, Table};
use arrow::array::{ArrayRef, new_null_array};
use arrow::compute::take;
use arrow::datatypes::DataType;
use std::sync::Arc;

/// The columns of some chunks or rows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) columns: Vec<LayoutColumn>,
    /// Positions of the key's columns, in key order.
    pub(crate) key: Vec<usize>,
}

/// A column of a layout.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LayoutColumn {
    pub(crate) id: ColumnId,
    pub(crate) name: String,
    pub(crate) data_type: DataType,
}

impl Layout {
    /// The layout of what is written to a table now.
    pub(crate) fn of(table: &Table) -> Arc<Self> {
        let column = |c: &crate::catalog::Column| LayoutColumn {
            id: c.id,
            name: c.name.clone(),
            data_type: c.sql_type.arrow(),
        };
        let columns = table.columns.iter().map(column).collect();
        Arc::new(Self { columns, key: table.key_indices() })
    }

    /// Where a column is.
    pub(crate) fn position(&self, id: ColumnId) -> Option<usize> {
        self.columns.iter().position(|column| column.id == id)
    }
}

/// What rows hold in a column that they were written without.
pub(crate) fn missing_values(table: &Table, column: usize, rows: usize) -> ArrayRef {
    let column = &table.columns[column];
    match &column.missing {
        None => new_null_array(&column.sql_type.arrow(), rows),
        Some(value) => {
            let zeros = arrow::array::UInt32Array::from(vec![0; rows]);
            take(value, &zeros, None).expect("position 0 of one value exists")
        }
    }
}
