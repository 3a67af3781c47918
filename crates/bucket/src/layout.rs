//! Layouts: the columns that a chunk or row was written with.
//!
//! Stored data keeps its layout when the columns of the table change. A reader finds a column in
//! the layout by id, and uses the column's `missing` value if it is not there.

use arrow::array::{ArrayRef, new_null_array};
use arrow::compute::take;
use arrow::datatypes::DataType;
use catalog::{ColumnId, Table};
use std::sync::Arc;

/// The columns of chunks or rows.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// The columns in order.
    pub columns: Vec<LayoutColumn>,
    /// Positions of the key columns, in key order.
    pub key: Vec<usize>,
}

/// A column of a layout.
///
/// The name is for messages. Layouts that differ only in names are equal: data does not change when a
/// column is renamed, and rows on disk have no names.
#[derive(Debug)]
pub struct LayoutColumn {
    /// The id.
    pub id: ColumnId,
    /// The name.
    pub name: String,
    /// The type.
    pub data_type: DataType,
}

impl PartialEq for LayoutColumn {
    fn eq(&self, other: &Self) -> bool {
        (self.id, &self.data_type) == (other.id, &other.data_type)
    }
}

impl Eq for LayoutColumn {}

impl Layout {
    /// Returns the layout for new data of a table.
    pub fn of(table: &Table) -> Arc<Self> {
        let column = |c: &catalog::Column| LayoutColumn {
            id: c.id,
            name: c.name.clone(),
            data_type: c.sql_type.arrow(),
        };
        let columns = table.columns.iter().map(column).collect();
        Arc::new(Self { columns, key: table.key_indices() })
    }

    /// Returns the position of a column.
    pub fn position(&self, id: ColumnId) -> Option<usize> {
        self.columns.iter().position(|column| column.id == id)
    }
}

/// Returns the values of a column in rows that were written without it.
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
