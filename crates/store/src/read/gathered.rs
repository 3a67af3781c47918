//! Rows that are found one by one, as columns.

use crate::Error;
use arrow::array::{Array, ArrayRef, new_empty_array};
use arrow::compute::interleave;
use bucket::{Chunk, Located};
use catalog::Table;
use std::collections::HashMap;
use std::sync::Arc;

/// Rows that are found one by one. Those of chunks are copied together at the end.
pub(crate) struct Gathered {
    parts: Vec<Part>,
    /// The numbers of the chunks among the parts, by their addresses. The parts hold them.
    chunks: HashMap<usize, usize>,
    /// The part of each row, and the row in it.
    rows: Vec<(usize, usize)>,
    positions: Vec<usize>,
}

/// Where rows are.
enum Part {
    Chunk(Arc<Chunk>),
    /// The columns of one row.
    Values(Vec<ArrayRef>),
}

impl Gathered {
    pub(crate) fn new() -> Self {
        let (parts, chunks) = (Vec::new(), HashMap::new());
        Self { parts, chunks, rows: Vec::new(), positions: Vec::new() }
    }

    /// Adds the row of the key at a position: its values in the columns.
    pub(crate) fn add(&mut self, position: usize, row: Option<Vec<ArrayRef>>) {
        self.add_located(position, row.map(Located::Values));
    }

    /// Adds the row of the key at a position.
    pub(crate) fn add_located(&mut self, position: usize, row: Option<Located>) {
        let next = self.parts.len();
        let place = match row {
            None => return,
            Some(Located::Values(values)) => {
                self.parts.push(Part::Values(values));
                (next, 0)
            }
            Some(Located::InChunk(chunk, row)) => {
                let part = *self.chunks.entry(Arc::as_ptr(&chunk).addr()).or_insert(next);
                if part == next {
                    self.parts.push(Part::Chunk(chunk));
                }
                (part, row)
            }
        };
        self.rows.push(place);
        self.positions.push(position);
    }

    /// Returns the columns and the positions.
    pub(crate) fn finish(
        self,
        table: &Table,
        columns: &[usize],
    ) -> Result<(Vec<ArrayRef>, Vec<usize>), Error> {
        let mut arrays = Vec::with_capacity(columns.len());
        for (number, &column) in columns.iter().enumerate() {
            arrays.push(self.column(table, number, column)?);
        }
        Ok((arrays, self.positions))
    }

    /// The values in a column of the table, which has a number among those of the rows.
    fn column(&self, table: &Table, number: usize, column: usize) -> Result<ArrayRef, Error> {
        if self.parts.is_empty() {
            return Ok(new_empty_array(&table.columns[column].sql_type.arrow()));
        }
        let mut arrays = Vec::with_capacity(self.parts.len());
        let mut has_one_row = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let (array, has_one) = match part {
                Part::Values(values) => (Arc::clone(&values[number]), true),
                Part::Chunk(chunk) => match chunk.whole_column(table.columns[column].id) {
                    Some(whole) => (Arc::clone(whole), false),
                    // All rows of the chunk have the same value.
                    None => (chunk.column(table, column, &(0..1)), true),
                },
            };
            arrays.push(array);
            has_one_row.push(has_one);
        }
        let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        let place = |&(part, row): &(usize, usize)| (part, if has_one_row[part] { 0 } else { row });
        let places: Vec<(usize, usize)> = self.rows.iter().map(place).collect();
        Ok(interleave(&arrays, &places)?)
    }
}
