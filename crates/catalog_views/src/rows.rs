//! Building a system table row by row: a row names the columns that it knows, the shape knows the rest.

use super::shape::{Shape, ShapeColumn};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use values::cells::{Cell, array};
use values::error::Result;

/// The rows of one system table.
pub(crate) struct TableRows {
    shape: &'static Shape,
    rows: Vec<Vec<Cell>>,
}

impl TableRows {
    /// A table without rows.
    pub(crate) fn new(shape: &'static Shape) -> Self {
        Self { shape, rows: Vec::new() }
    }

    /// Adds a row. Columns that are not named are NULL, or zero, false and empty where they may not be.
    pub(crate) fn row<const N: usize>(&mut self, cells: [(&str, Cell); N]) {
        let nothing = |column: &ShapeColumn| match column.required {
            true => Cell::zero(column.form),
            false => Cell::Null,
        };
        let mut row: Vec<Cell> = self.shape.columns.iter().map(nothing).collect();
        for (name, cell) in cells {
            match self.shape.position(name) {
                Some(position) => row[position] = cell,
                None => debug_assert!(false, "{} has no column {name}", self.shape.name),
            }
        }
        self.rows.push(row);
    }

    /// Adds the rows of a file: the first line names the columns, tabs stand between values. Rows for
    /// which `keep` says no are passed over; it sees the value of the file's column `by`.
    pub(crate) fn file(&mut self, text: &str, by: &str, keep: impl Fn(&str) -> bool) {
        let mut lines = text.lines();
        let names: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
        let positions: Vec<Option<usize>> =
            names.iter().map(|name| self.shape.position(name)).collect();
        let key = names.iter().position(|name| *name == by);
        for line in lines {
            let values: Vec<&str> = line.split('\t').collect();
            if !key.and_then(|key| values.get(key)).is_some_and(|value| keep(value)) {
                continue;
            }
            self.row([]);
            let Some(row) = self.rows.last_mut() else { continue };
            for (position, value) in positions.iter().zip(values) {
                if let Some(position) = position {
                    row[*position] = Cell::parse(value, self.shape.columns[*position].form);
                }
            }
        }
    }

    /// Sets a column of the last row.
    pub(crate) fn set_last(&mut self, name: &str, cell: Cell) {
        if let Some((position, row)) = self.shape.position(name).zip(self.rows.last_mut()) {
            row[position] = cell;
        }
    }

    /// Says 0 in every count of the last row that nobody gave: what is counted does not happen here.
    pub(crate) fn no_other_counts(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        for (column, cell) in self.shape.columns.iter().zip(row) {
            if column.type_name == "bigint" && matches!(cell, Cell::Null) {
                *cell = Cell::Number(0);
            }
        }
    }

    /// Sets a column of all rows so far.
    pub(crate) fn set_all(&mut self, name: &str, cell: Cell) {
        if let Some(position) = self.shape.position(name) {
            for row in &mut self.rows {
                row[position] = cell.clone();
            }
        }
    }

    /// The rows as Arrow holds them.
    pub(crate) fn batch(&self) -> Result<RecordBatch> {
        let columns = self.shape.columns.iter().enumerate();
        let arrays = columns.map(|(position, column)| {
            array(column.form, self.rows.iter().map(move |row| &row[position]))
        });
        let arrays = arrays.collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows.len()));
        Ok(RecordBatch::try_new_with_options(self.shape.arrow(), arrays, &options)?)
    }
}
