//! COPY TO STDOUT.

use super::wrong_direction;
use crate::context::Inner;
use crate::context::outcome::{Rows, Tag};
use crate::copy::query_of;
use copy_formats::RowWriter;
use executor::Control;
use futures::StreamExt;
use parser::Statement;
use parser::client_copy::Options;
use parser::commands::{Command, Copied, Copy};
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::Result;

/// A COPY TO STDOUT in progress.
pub struct CopyOut {
    rows: Rows,
    writer: RowWriter,
    /// Number of rows sent.
    count: u64,
    /// Whether everything has been sent.
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
        options.check_columns(false, |name| rows.fields.iter().any(|field| field.name == name))?;
        let writer = RowWriter::new(options, Arc::clone(&rows.fields), item_oid);
        Ok(Self { rows, writer, count: 0, ended: false })
    }

    /// How many columns are sent.
    pub fn columns(&self) -> usize {
        self.writer.columns()
    }

    /// Whether the format is binary.
    pub fn is_binary(&self) -> bool {
        self.writer.is_binary()
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
        self.writer.begin(row);
        match self.rows.stream.next().await {
            Some(batch) => {
                let batch = batch?;
                self.count += batch.num_rows() as u64;
                self.writer.write(&batch, row)?;
                Ok(true)
            }
            None => {
                if !std::mem::replace(&mut self.ended, true) {
                    self.writer.end(row);
                }
                Ok(false)
            }
        }
    }

    /// The command tag, with the number of rows sent.
    pub fn tag(&self) -> Tag {
        Tag::counted("COPY", self.count)
    }
}
