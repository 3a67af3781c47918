//! Builds a system table row by row. A row has the cells of some columns; the others have defaults.

use crate::shape::{Shape, ShapeColumn};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use values::Result;
use values::cells::{Cell, array};

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

    /// Adds a row. Other columns are NULL, or zero, false or empty if they are NOT NULL.
    pub(crate) fn row<const N: usize>(&mut self, cells: [(&str, Cell); N]) {
        self.row_of(cells);
    }

    /// As [`Self::row`], of cells from several places.
    pub(crate) fn row_of<'a>(&mut self, cells: impl IntoIterator<Item = (&'a str, Cell)>) {
        let default = |column: &ShapeColumn| {
            if column.required { Cell::zero(column.form) } else { Cell::Null }
        };
        let mut row: Vec<Cell> = self.shape.columns.iter().map(default).collect();
        for (name, cell) in cells {
            match self.shape.position(name) {
                Some(position) => row[position] = cell,
                None => debug_assert!(false, "{} has no column {name}", self.shape.name),
            }
        }
        self.rows.push(row);
    }

    /// Adds the rows of a file of tab-separated values whose first line has the names of the
    /// columns. A row is added if `keep` is true for its value of the column `by`.
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

    /// Sets all `bigint` columns of the last row that are NULL to 0, for counters of events that do
    /// not occur here.
    pub(crate) fn zero_other_counts(&mut self) {
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

    /// Sets a column of the rows in which another one has a value.
    pub(crate) fn set_where(&mut self, (of, is): (&str, &Cell), name: &str, cell: &Cell) {
        let (Some(of), Some(position)) = (self.shape.position(of), self.shape.position(name))
        else {
            return;
        };
        for row in self.rows.iter_mut().filter(|row| row[of] == *is) {
            row[position] = cell.clone();
        }
    }

    /// The rows as a record batch.
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
