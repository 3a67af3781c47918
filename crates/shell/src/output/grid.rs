//! A grid of text cells under headings, for boxes.

use super::types::{Column, Kind};
use super::window::Window;
use arrow::array::RecordBatch;
use query::{Error, text::TextColumn};
use std::ops::Range;

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Left, for text.
    Left,
    /// Right, for numbers.
    Right,
}

/// The heading of a column.
#[derive(Debug, Clone)]
pub struct Heading {
    /// Name of the column.
    pub(crate) name: String,
    /// Name of its type, if it is shown.
    pub(crate) type_name: Option<String>,
    /// Alignment of its values.
    pub(crate) align: Align,
}

/// Rows of text cells. All cells share one string, which saves allocations for long results.
#[derive(Debug, Clone)]
pub struct Grid {
    /// The heading of each column.
    pub(crate) headings: Vec<Heading>,
    /// Before this row, rows are omitted.
    pub(crate) gap: Option<usize>,
    text: String,
    /// The ranges of the cells row by row; `None` for NULL.
    cells: Vec<Option<Range<usize>>>,
    rows: usize,
}

impl Heading {
    /// A heading without a type.
    pub fn new(name: impl Into<String>, align: Align) -> Self {
        Self { name: name.into(), type_name: None, align }
    }

    fn of_column(column: &Column) -> Self {
        let (name, type_name) = (column.name.clone(), Some(column.type_name.clone()));
        let align = if column.kind == Kind::Number { Align::Right } else { Align::Left };
        Self { name, type_name, align }
    }
}

impl Grid {
    /// A grid without rows.
    pub fn new(headings: Vec<Heading>) -> Self {
        Self { headings, gap: None, text: String::new(), cells: Vec::new(), rows: 0 }
    }

    /// The rows of a window.
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

    /// Adds a row.
    ///
    /// # Panics
    /// If the number of cells is not that of the headings.
    pub fn push(&mut self, row: impl IntoIterator<Item = String>) {
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

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The text of a cell; `None` for NULL.
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
    use query::{Field, SqlType};
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

    /// Three rows with special cases, and their columns.
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
    fn a_grid_distinguishes_null_from_an_empty_text() {
        let grid = awkward_grid();
        assert_eq!(grid.rows(), 3);
        assert_eq!((grid.cell(2, 0), grid.cell(2, 1)), (None, Some("")));
    }
}
