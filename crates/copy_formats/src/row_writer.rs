//! Rows as bytes, in any format.

use crate::{binary, csv, text};
use bytes::{BufMut, BytesMut};
use datafusion::arrow::array::RecordBatch;
use parser::client_copy::{Form, Header, Options};
use std::sync::Arc;
use store::catalog::SqlType;
use values::binary::BinaryColumn;
use values::error::Result;
use values::field::Field;
use values::text::TextColumn;

/// What a row is passed to.
pub(crate) type Receive<'a> = &'a mut (dyn FnMut(&[u8]) + Send);

/// Writes batches as rows.
pub struct RowWriter {
    options: Options,
    fields: Arc<[Field]>,
    item_oid: fn(&SqlType) -> u32,
    /// Whether the header line has been written, if there is one.
    begun: bool,
    /// Whether the binary header has been written.
    header_written: bool,
}

impl RowWriter {
    /// A writer of rows with these columns. `item_oid` numbers the item types of arrays in the binary format.
    pub fn new(options: Options, fields: Arc<[Field]>, item_oid: fn(&SqlType) -> u32) -> Self {
        Self { options, fields, item_oid, begun: false, header_written: false }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.fields.len()
    }

    /// Whether the format is binary.
    pub fn is_binary(&self) -> bool {
        self.options.form == Form::Binary
    }

    /// Passes the header line to `row`, if the options ask for one. Only the first call does.
    pub fn begin(&mut self, row: Receive<'_>) {
        if std::mem::replace(&mut self.begun, true)
            || self.is_binary()
            || self.options.header == Header::None
        {
            return;
        }
        let mut line = Vec::new();
        for (index, field) in self.fields.iter().enumerate() {
            if index > 0 {
                line.push(self.options.delimiter);
            }
            self.value(&field.name, false, &mut line);
        }
        line.push(b'\n');
        row(&line);
    }

    /// Passes each row of a batch to `row`.
    ///
    /// # Errors
    /// Those of values without a form in the format.
    pub fn write(&mut self, batch: &RecordBatch, row: Receive<'_>) -> Result<()> {
        if self.is_binary() { self.binary(batch, row) } else { self.text(batch, row) }
    }

    /// Passes what ends the data to `row`.
    pub fn end(&mut self, row: Receive<'_>) {
        if self.is_binary() {
            let mut end = self.header();
            end.extend_from_slice(&binary::TRAILER.to_be_bytes());
            row(&end);
        }
    }

    fn value(&self, value: &str, force: bool, line: &mut Vec<u8>) {
        match self.options.form {
            Form::Csv => csv::write(value, &self.options, force, self.columns() == 1, line),
            _ => text::escape(value, self.options.delimiter, line),
        }
    }

    fn text(&self, batch: &RecordBatch, row: Receive<'_>) -> Result<()> {
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (array, field) in batch.columns().iter().zip(&*self.fields) {
            let force =
                self.options.force_quote.iter().any(|name| *name == field.name || name == "*");
            columns.push((TextColumn::of_field(array, field)?, force));
        }
        let (mut line, mut value) = (Vec::new(), String::new());
        for index in 0..batch.num_rows() {
            line.clear();
            for (position, (column, force)) in columns.iter().enumerate() {
                if position > 0 {
                    line.push(self.options.delimiter);
                }
                value.clear();
                if column.write(index, &mut value) {
                    self.value(&value, *force, &mut line);
                } else {
                    line.extend_from_slice(self.options.null.as_bytes());
                }
            }
            line.push(b'\n');
            row(&line);
        }
        Ok(())
    }

    /// The binary header at the first call, then nothing. Clients expect the header and the first
    /// row in one message.
    fn header(&mut self) -> Vec<u8> {
        if std::mem::replace(&mut self.header_written, true) {
            return Vec::new();
        }
        [&binary::SIGNATURE[..], &binary::HEADER].concat()
    }

    fn binary(&mut self, batch: &RecordBatch, row: Receive<'_>) -> Result<()> {
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (array, field) in batch.columns().iter().zip(&*self.fields) {
            columns.push(BinaryColumn::new(array, &field.sql_type, self.item_oid)?);
        }
        let mut line = BytesMut::new();
        for index in 0..batch.num_rows() {
            line.clear();
            line.put_slice(&self.header());
            line.put_u16(u16::try_from(columns.len()).unwrap_or(u16::MAX));
            for column in &columns {
                let place = line.len();
                line.put_i32(-1);
                if column.write(index, &mut line) {
                    let length = i32::try_from(line.len() - place - 4).unwrap_or(i32::MAX);
                    line[place..place + 4].copy_from_slice(&length.to_be_bytes());
                }
            }
            row(&line);
        }
        Ok(())
    }
}
