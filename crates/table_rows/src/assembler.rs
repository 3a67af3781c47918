//! Conversion of the client's data into rows of the table. An error names the line and the column.
//! With ON_ERROR ignore, rows that cannot be converted are skipped.

use crate::assembly::Assembly;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::DataType;
use values::error::{Error, Result, SqlState};

/// Maximum number of skipped lines in a message.
const REJECTED_SHOWN_MAX: usize = 20;

/// Converts batches into batches of a table.
pub struct Assembler {
    /// What makes rows of the columns.
    pub assembly: Assembly,
    /// Whether rows that cannot be converted are skipped.
    pub ignore_errors: bool,
    /// Maximum number of skipped rows; `None` for no limit.
    pub reject_limit: Option<u64>,
    /// Number of skipped rows.
    pub rejected: u64,
    /// The first skipped lines, with their errors.
    pub first_rejected: Vec<String>,
}

impl Assembler {
    /// Converts a batch. `first_line` is the line number of its first row.
    ///
    /// # Errors
    /// Those of casts and constraints, unless errors are ignored; 22P02 if more rows than the limit
    /// are skipped.
    pub fn assemble(&mut self, batch: &RecordBatch, first_line: u64) -> Result<Vec<RecordBatch>> {
        self.converted(batch, first_line, Assembly::assemble)
    }

    /// As [`Self::assemble`], without constraints: columns of rows.
    ///
    /// # Errors
    /// As of [`Self::assemble`].
    pub fn unchecked(
        &mut self,
        batch: &RecordBatch,
        first_line: u64,
    ) -> Result<Vec<Vec<ArrayRef>>> {
        self.converted(batch, first_line, Assembly::columns)
    }

    fn converted<T>(
        &mut self,
        batch: &RecordBatch,
        first_line: u64,
        convert: fn(&Assembly, &RecordBatch) -> Result<T>,
    ) -> Result<Vec<T>> {
        match convert(&self.assembly, batch) {
            Ok(batch) => Ok(vec![batch]),
            Err(error) if batch.num_rows() <= 1 => {
                let error = error.with_context(self.place(batch, first_line));
                self.reject(first_line, error)?;
                Ok(Vec::new())
            }
            Err(_) => {
                let half = batch.num_rows() / 2;
                let upper = batch.slice(half, batch.num_rows() - half);
                let mut rows = self.converted(&batch.slice(0, half), first_line, convert)?;
                rows.extend(self.converted(&upper, first_line + half as u64, convert)?);
                Ok(rows)
            }
        }
    }

    /// The error context of a row: `COPY t, line 2, column id: "x2"`. The column and its value are
    /// those that cannot be cast.
    fn place(&self, row: &RecordBatch, line: u64) -> String {
        let mut place = format!("COPY {}, line {line}", self.assembly.table().name);
        if let Some((input, column)) = self.assembly.mismatch(row) {
            place += &format!(", column {}", column.name);
            let values = row.column(input);
            if *values.data_type() == DataType::Utf8View && values.len() == 1 {
                place += &format!(": \"{}\"", values.as_string_view().value(0));
            }
        }
        place
    }

    fn reject(&mut self, line: u64, error: Error) -> Result<()> {
        if !self.ignore_errors {
            return Err(error);
        }
        self.rejected += 1;
        if self.first_rejected.len() < REJECTED_SHOWN_MAX {
            self.first_rejected.push(format!("line {line}: {}", error.message()));
        }
        match self.reject_limit {
            Some(limit) if self.rejected > limit => {
                let message = format!(
                    "skipped more than REJECT_LIMIT ({limit}) rows due to data type incompatibility"
                );
                Err(Error::new(SqlState::InvalidTextRepresentation, message)
                    .with_detail(self.first_rejected.join("; ")))
            }
            _ => Ok(()),
        }
    }
}
