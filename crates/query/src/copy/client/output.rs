//! COPY TO STDOUT.

use super::wrong_direction;
use crate::context::Inner;
use crate::context::outcome::{Rows, Tag};
use crate::copy::query_of;
use bytes::{BufMut, BytesMut};
use copy_formats::{binary, csv, text};
use datafusion::arrow::array::RecordBatch;
use executor::Control;
use futures::StreamExt;
use parser::Statement;
use parser::client_copy::{Form, Header, Options};
use parser::commands::{Command, Copied, Copy};
use store::catalog::SqlType;
use values::binary::BinaryColumn;
use values::error::Result;
use values::text::TextColumn;

/// A COPY TO STDOUT in progress.
pub struct CopyOut {
    rows: Rows,
    options: Options,
    item_oid: fn(&SqlType) -> u32,
    /// Number of rows sent.
    count: u64,
    /// Whether the header line has been sent, if there is one.
    begun: bool,
    /// Whether the binary header has been sent.
    header_sent: bool,
    /// Whether the binary trailer has been sent.
    ended: bool,
}

/// The query whose rows a COPY TO STDOUT sends.
///
/// # Errors
/// 42601 for a COPY from the client; 42P01 for an unknown table.
pub(crate) async fn query(inner: &Inner, statement: &Statement) -> Result<Statement> {
    let copy = copy_of(statement)?;
    Options::of(&copy.options)?;
    match &copy.what {
        Copied::Query => statement.inner().ok_or_else(wrong_direction),
        Copied::Relation(table, columns) => {
            let mut conversation = inner.conversation.lock().await;
            let frame = inner.frame(&[], &statement.text);
            let snapshot = inner.shared.store.snapshot();
            let catalog = match conversation.open() {
                Some(open) => open.transaction.catalog(),
                None => snapshot.catalog(),
            };
            parser::one(&query_of(catalog, frame.path(), table, columns)?)
        }
    }
}

fn copy_of(statement: &Statement) -> Result<&Copy> {
    match statement.command() {
        Some(Command::Copy(copy)) if !copy.is_from => Ok(copy),
        _ => Err(wrong_direction()),
    }
}

impl CopyOut {
    /// Rows of the query of a COPY TO STDOUT. `item_oid` numbers the item types of arrays.
    ///
    /// # Errors
    /// 42601 for a COPY from the client.
    pub(crate) fn new(
        rows: Rows,
        statement: &Statement,
        item_oid: fn(&SqlType) -> u32,
    ) -> Result<Self> {
        let options = Options::of(&copy_of(statement)?.options)?;
        Ok(Self {
            rows,
            options,
            item_oid,
            count: 0,
            begun: false,
            header_sent: false,
            ended: false,
        })
    }

    /// How many columns are sent.
    pub fn columns(&self) -> usize {
        self.rows.fields.len()
    }

    /// Whether the format is binary.
    pub fn is_binary(&self) -> bool {
        self.options.form == Form::Binary
    }

    /// Cancels the COPY.
    pub fn control(&self) -> Control {
        self.rows.control.clone()
    }

    /// Passes the next rows to `row`, each as bytes. Returns false after the last row.
    ///
    /// # Errors
    /// Those of the query.
    pub async fn next(&mut self, row: &mut (dyn FnMut(&[u8]) + Send)) -> Result<bool> {
        if !std::mem::replace(&mut self.begun, true) {
            self.begin(row);
        }
        match self.rows.stream.next().await {
            Some(batch) => {
                let batch = batch?;
                self.count += batch.num_rows() as u64;
                match self.options.form {
                    Form::Binary => self.binary(&batch, row)?,
                    Form::Text | Form::Csv => self.text(&batch, row)?,
                }
                Ok(true)
            }
            None => {
                if self.is_binary() && !std::mem::replace(&mut self.ended, true) {
                    let mut end = self.header();
                    end.extend_from_slice(&binary::TRAILER.to_be_bytes());
                    row(&end);
                }
                Ok(false)
            }
        }
    }

    /// The command tag, with the number of rows sent.
    pub fn tag(&self) -> Tag {
        Tag::counted("COPY", self.count)
    }

    fn begin(&self, row: &mut (dyn FnMut(&[u8]) + Send)) {
        if !self.is_binary() && self.options.header != Header::None {
            let mut line = Vec::new();
            for (index, field) in self.rows.fields.iter().enumerate() {
                if index > 0 {
                    line.push(self.options.delimiter);
                }
                self.value(&field.name, false, &mut line);
            }
            line.push(b'\n');
            row(&line);
        }
    }

    fn value(&self, value: &str, force: bool, line: &mut Vec<u8>) {
        match self.options.form {
            Form::Csv => csv::write(value, &self.options, force, self.columns() == 1, line),
            _ => text::escape(value, self.options.delimiter, line),
        }
    }

    fn text(&self, batch: &RecordBatch, row: &mut (dyn FnMut(&[u8]) + Send)) -> Result<()> {
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (array, field) in batch.columns().iter().zip(&*self.rows.fields) {
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
        if std::mem::replace(&mut self.header_sent, true) {
            return Vec::new();
        }
        [&binary::SIGNATURE[..], &binary::HEADER].concat()
    }

    fn binary(&mut self, batch: &RecordBatch, row: &mut (dyn FnMut(&[u8]) + Send)) -> Result<()> {
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (array, field) in batch.columns().iter().zip(&*self.rows.fields) {
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
