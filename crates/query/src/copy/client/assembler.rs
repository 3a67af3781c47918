//! What a client sends becomes rows of the table: cast, completed, checked. An error says on which line and in which
//! column it is; with ON_ERROR ignore such rows are passed over.

use crate::dml::assembly::Assembly;
use crate::values::error::{Error, Result, SqlState};
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::DataType;

/// So many of the lines that were passed over are told of.
const REJECTED_TOLD: usize = 20;

/// Casts batches to a table's shape.
pub(crate) struct Assembler {
    pub(crate) assembly: Assembly,
    pub(crate) ignore_errors: bool,
    pub(crate) reject_limit: Option<u64>,
    pub(crate) rejected: u64,
    /// The first lines that were passed over, and why.
    pub(crate) first_rejected: Vec<String>,
}

impl Assembler {
    /// The rows of a batch that can be read.
    pub(crate) fn assemble(
        &mut self,
        batch: &RecordBatch,
        first_line: u64,
    ) -> Result<Vec<RecordBatch>> {
        match self.assembly.assemble(batch) {
            Ok(batch) => Ok(vec![batch]),
            Err(error) if batch.num_rows() <= 1 => {
                let error = error.with_context(self.place(batch, first_line));
                self.reject(first_line, error)?;
                Ok(Vec::new())
            }
            Err(_) => {
                let half = batch.num_rows() / 2;
                let upper = batch.slice(half, batch.num_rows() - half);
                let mut rows = self.assemble(&batch.slice(0, half), first_line)?;
                rows.extend(self.assemble(&upper, first_line + half as u64)?);
                Ok(rows)
            }
        }
    }

    /// `COPY t, line 2, column id: "x2"`: where a row is, and the value that is not of its column's type.
    fn place(&self, row: &RecordBatch, line: u64) -> String {
        let mut place = format!("COPY {}, line {line}", self.assembly.table().name);
        if let Some((input, column)) = self.assembly.refused(row) {
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
        if self.first_rejected.len() < REJECTED_TOLD {
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
