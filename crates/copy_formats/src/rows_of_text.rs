//! Batches of text values. The load casts them to the types of the columns.

use super::text::{Line, not_utf8};
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringViewBuilder};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use parser::client_copy::{Header, Options};
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// Maximum number of rows of a batch.
pub(crate) const BATCH_ROWS: usize = store::CHUNK_ROWS;

/// Collects lines of text values into a batch.
pub(crate) struct RowsOfText {
    table: String,
    names: Vec<String>,
    schema: SchemaRef,
    builders: Vec<StringViewBuilder>,
    /// The kind of header line that is still expected.
    header: Header,
    /// The column names read from the header line.
    named: Vec<String>,
    /// The column of the next value.
    column: usize,
    /// Number of rows collected.
    pub(crate) count: usize,
    /// Bytes of the values collected.
    pub(crate) bytes: usize,
    /// The current line number, from 1.
    line: u64,
    /// The line number of the first row collected.
    pub(crate) first_line: u64,
}

impl RowsOfText {
    /// No rows yet, of a table's columns of these names.
    pub(crate) fn new(table: &str, names: Vec<String>, options: &Options) -> Self {
        let fields = names.iter().map(|name| Field::new(name, DataType::Utf8View, true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let builder =
            || StringViewBuilder::with_capacity(BATCH_ROWS).with_fixed_block_size(64 << 10);
        let builders = names.iter().map(|_| builder()).collect();
        let header = options.header;
        let table = table.to_owned();
        let (named, column, count, bytes) = (Vec::new(), 0, 0, 0);
        Self {
            table,
            names,
            schema,
            builders,
            header,
            named,
            column,
            count,
            bytes,
            line: 1,
            first_line: 1,
        }
    }

    /// Returns the collected rows and starts a new batch; `None` if there are none.
    pub(crate) fn batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.count == 0 {
            return Ok(None);
        }
        let finish = |builder: &mut StringViewBuilder| Arc::new(builder.finish()) as ArrayRef;
        let arrays = self.builders.iter_mut().map(finish).collect();
        (self.count, self.bytes) = (0, 0);
        self.first_line = self.line;
        Ok(Some(RecordBatch::try_new(Arc::clone(&self.schema), arrays)?))
    }

    /// The error context.
    fn place(&self) -> String {
        format!("COPY {}, line {}", self.table, self.line)
    }

    fn bad(&self, message: String) -> Error {
        Error::new(SqlState::BadCopyFileFormat, message).with_context(self.place())
    }

    fn check_header(&mut self) -> Result<()> {
        let (names, named) = (&self.names, std::mem::take(&mut self.named));
        if self.header == Header::Match && *names != named {
            let message = format!(
                "column name mismatch in header line: got \"{}\", expected \"{}\"",
                named.join(","),
                names.join(",")
            );
            return Err(self.bad(message));
        }
        self.header = Header::None;
        self.first_line = 2;
        Ok(())
    }
}

impl Line for RowsOfText {
    fn value(&mut self, value: Option<&[u8]>) -> Result<()> {
        let text = value.map(std::str::from_utf8).transpose();
        let text = text.map_err(|_| not_utf8().with_context(self.place()))?;
        if self.header != Header::None {
            self.named.push(text.unwrap_or_default().to_owned());
            return Ok(());
        }
        let Some(builder) = self.builders.get_mut(self.column) else {
            return Err(self.bad("extra data after last expected column".to_owned()));
        };
        self.bytes += text.map_or(0, str::len);
        match text {
            Some(text) => builder.try_append_value(text)?,
            None => builder.append_null(),
        }
        self.column += 1;
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if self.header != Header::None {
            self.check_header()?;
        } else if let Some(missing) = self.names.get(self.column) {
            return Err(self.bad(format!("missing data for column \"{missing}\"")));
        } else {
            self.column = 0;
            self.count += 1;
        }
        self.line += 1;
        Ok(())
    }
}
