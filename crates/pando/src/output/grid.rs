//! A table of texts: what boxes are made of.

use super::types::Column;
use super::window::Window;
use pando::{Error, RecordBatch, text::TextColumn};
use std::ops::Range;

/// Which side values line up on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// What stands over a column.
#[derive(Debug, Clone)]
pub(crate) struct Heading {
    /// The column's name.
    pub(crate) name: String,
    /// Its type, where that is told.
    pub(crate) type_name: Option<String>,
    /// How its values line up.
    pub(crate) align: Align,
}

/// Rows of texts under headings. All texts stand in one string, as results can be long.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    /// One a column.
    pub(crate) headings: Vec<Heading>,
    /// Before this row others are left out.
    pub(crate) gap: Option<usize>,
    text: String,
    /// Row after row; `None` for NULL.
    cells: Vec<Option<Range<usize>>>,
    rows: usize,
}

impl Heading {
    /// A column without a type.
    pub(crate) fn new(name: impl Into<String>, align: Align) -> Self {
        Self { name: name.into(), type_name: None, align }
    }

    fn of_column(column: &Column) -> Self {
        let (name, type_name) = (column.name.clone(), Some(column.type_name.clone()));
        Self { name, type_name, align: column.kind.align() }
    }
}

impl Grid {
    /// A table without rows.
    pub(crate) fn new(headings: Vec<Heading>) -> Self {
        Self { headings, gap: None, text: String::new(), cells: Vec::new(), rows: 0 }
    }

    /// What is shown of a result.
    pub(crate) fn of_window(columns: &[Column], window: &Window) -> Result<Self, Error> {
        let mut grid = Self::new(columns.iter().map(Heading::of_column).collect());
        for batch in &window.head {
            grid.push_batch(batch)?;
        }
        if !window.tail.is_empty() {
            grid.gap = Some(grid.rows);
        }
        for batch in &window.tail {
            grid.push_batch(batch)?;
        }
        Ok(grid)
    }

    /// Adds a row of texts; `None` is shown as nothing where a table of ours has no answer.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = String>) {
        for cell in row {
            let start = self.text.len();
            self.text.push_str(&cell);
            self.cells.push(Some(start..self.text.len()));
        }
        self.rows += 1;
        assert_eq!(self.cells.len(), self.rows * self.headings.len(), "a cell for each heading");
    }

    fn push_batch(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let columns =
            batch.columns().iter().map(|c| TextColumn::new(c)).collect::<Result<Vec<_>, _>>()?;
        self.cells.reserve(columns.len() * batch.num_rows());
        for row in 0..batch.num_rows() {
            for column in &columns {
                let start = self.text.len();
                let written = column.write(row, &mut self.text);
                self.cells.push(written.then_some(start..self.text.len()));
            }
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The text at a place; `None` for NULL.
    pub(crate) fn cell(&self, row: usize, column: usize) -> Option<&str> {
        let range = self.cells[row * self.headings.len() + column].clone()?;
        Some(&self.text[range])
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use arrow::array::{ArrayRef, AsArray, Int64Array, StringViewArray};
    use arrow::datatypes::Int64Type;
    use pando::{Field, SqlType};
    use std::sync::Arc;

    /// One column `n` of numbers.
    pub(crate) fn numbers(values: Range<i64>) -> RecordBatch {
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
        RecordBatch::try_from_iter([("n", column)]).expect("one column")
    }

    /// The numbers of [`numbers`].
    pub(crate) fn values(batch: &RecordBatch) -> Vec<i64> {
        batch.column(0).as_primitive::<Int64Type>().values().to_vec()
    }

    /// Three rows that are awkward in one way or another, and what their columns are.
    pub(crate) fn awkward() -> (Vec<Column>, RecordBatch) {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(-20), None]));
        let texts = vec![Some("plain"), Some("two\nlines, \"quoted\""), Some("")];
        let texts: ArrayRef = Arc::new(StringViewArray::from(texts));
        let batch = RecordBatch::try_from_iter([("id", numbers), ("näme", texts)]).expect("fits");
        let column = |name: &str, sql_type| Column::of_field(&Field::new(name, sql_type));
        (vec![column("id", SqlType::BigInt), column("näme", SqlType::Text)], batch)
    }

    /// [`awkward`] as a grid.
    pub(crate) fn awkward_grid() -> Grid {
        let (columns, batch) = awkward();
        let total = batch.num_rows() as u64;
        let window = Window { head: vec![batch], total, ..Window::default() };
        Grid::of_window(&columns, &window).expect("has text")
    }

    #[test]
    fn a_grid_tells_null_from_nothing() {
        let grid = awkward_grid();
        assert_eq!(grid.rows(), 3);
        assert_eq!((grid.cell(2, 0), grid.cell(2, 1)), (None, Some("")));
    }
}
