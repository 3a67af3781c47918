//! Batches of the rows in received bytes, in any format.

use crate::rows_of_text::{BATCH_ROWS, RowsOfText};
use crate::rows_of_values::RowsOfValues;
use crate::{binary, csv, text};
use datafusion::arrow::array::RecordBatch;
use parser::client_copy::{Form, Options};
use store::catalog::SqlType;
use values::error::Result;

/// Bytes of values after which a batch is full.
const BATCH_BYTES: usize = 8 << 20;

/// Cuts bytes into rows, and collects the rows into batches.
pub struct RowReader {
    reader: Reader,
    texts: RowsOfText,
    values: RowsOfValues,
}

enum Reader {
    Text(text::Reader),
    Csv(csv::Reader),
    Binary(binary::Reader),
}

impl RowReader {
    /// A reader of rows with these columns, for a table of a name.
    pub fn new(options: &Options, table: &str, names: Vec<String>, types: Vec<SqlType>) -> Self {
        let columns = types.len();
        Self {
            reader: match options.form {
                Form::Text => Reader::Text(text::Reader::new(options)),
                Form::Csv => Reader::Csv(csv::Reader::new(options, &names)),
                Form::Binary => Reader::Binary(binary::Reader::new(types)),
            },
            texts: RowsOfText::new(table, names, options),
            values: RowsOfValues::new(columns),
        }
    }

    /// Reads complete rows until a batch is full. Returns the number of bytes read. At the `end` of the data the rest is a
    /// row.
    ///
    /// # Errors
    /// 22P04 for data that is not in the format.
    pub fn read(&mut self, bytes: &[u8], end: bool) -> Result<usize> {
        let mut used = 0;
        loop {
            // Parts are small compared to a batch, so a check after each suffices.
            let rest = &bytes[used..];
            let step = match &mut self.reader {
                Reader::Text(reader) => reader.read(rest, end, &mut self.texts)?,
                Reader::Csv(reader) => reader.read(rest, end, &mut self.texts)?,
                Reader::Binary(reader) => {
                    let values = &mut self.values;
                    reader.read(rest, |row, bytes| values.add(row, bytes))?
                }
            };
            used += step;
            if step == 0 || used == bytes.len() || self.is_full() {
                return Ok(used);
            }
        }
    }

    /// Whether the rows read so far fill a batch.
    pub fn is_full(&self) -> bool {
        let (rows, bytes) = match &self.reader {
            Reader::Binary(_) => (self.values.count, self.values.bytes),
            Reader::Text(_) | Reader::Csv(_) => (self.texts.count, self.texts.bytes),
        };
        rows >= BATCH_ROWS || bytes >= BATCH_BYTES
    }

    /// The rows read so far, with the line number of the first, and starts a new batch. `None` if there are none.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn batch(&mut self) -> Result<Option<(RecordBatch, u64)>> {
        let first_line = self.texts.first_line;
        let batch = match &self.reader {
            Reader::Binary(_) => self.values.batch()?,
            Reader::Text(_) | Reader::Csv(_) => self.texts.batch()?,
        };
        Ok(batch.map(|batch| (batch, first_line)))
    }

    /// Checks that the data may end here. `rest` was not read.
    ///
    /// # Errors
    /// 22P04 if the last row is incomplete.
    pub fn finish(&self, rest: &[u8]) -> Result<()> {
        match &self.reader {
            Reader::Binary(reader) => reader.finish(rest),
            Reader::Text(_) | Reader::Csv(_) => Ok(()),
        }
    }
}
