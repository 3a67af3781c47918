//! COPY FROM STDIN: bytes in pieces, rows into the table.
//!
//! The connection's task cuts bytes into values; another one casts them and loads the rows. Between them
//! go batches, so both work at once and neither runs far ahead.

use super::rows_of_text::{BATCH_ROWS, RowsOfText};
use super::rows_of_values::RowsOfValues;
use super::wrong_direction;
use super::{binary, csv, text};
use crate::copy::copied;
use crate::dml::target;
use crate::outcome::Tag;
use crate::session::Session;
use datafusion::arrow::array::RecordBatch;
use datafusion::sql::sqlparser::ast::Ident;
use futures::future::BoxFuture;
use parser::client_copy::Form;
use parser::client_copy::What;
use parser::{Body, Statement};
use std::sync::Arc;
use store::catalog::{Privileges, SqlType, Table};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use values::error::{Error, Result, SqlState};

/// Bytes of values of a batch, at most.
const BATCH_BYTES: usize = 8 << 20;
/// Batches that may wait to be loaded.
const BATCHES_AHEAD: usize = 4;
/// Bytes of a row that has not come to its end yet.
const ROW_BYTES_MAX: usize = 256 << 20;

/// What goes to the task that loads: a batch with the number of its first line, or the end of a whole load.
pub(crate) enum Piece {
    Rows(RecordBatch, u64),
    End,
}

/// A load from the client that is still going on. Dropping it undoes it.
pub struct CopyIn {
    columns: usize,
    binary: bool,
    reader: Reader,
    pending: Vec<u8>,
    rows: RowsOfText,
    values: RowsOfValues,
    pieces: mpsc::Sender<Piece>,
    load: JoinHandle<Result<Loaded>>,
}

/// What a load has done.
pub(crate) struct Loaded {
    pub(crate) rows: u64,
}

enum Reader {
    Text(text::Reader),
    Csv(csv::Reader),
    Binary(binary::Reader),
}

impl Session {
    /// Begins a COPY FROM STDIN.
    ///
    /// # Errors
    /// As INSERT.
    pub fn copy_in<'a>(&'a self, statement: &'a Statement) -> BoxFuture<'a, Result<CopyIn>> {
        Box::pin(self.begin_copy_in(statement))
    }

    async fn begin_copy_in(&self, statement: &Statement) -> Result<CopyIn> {
        let Body::ClientCopy(copy) = statement.body() else { return Err(wrong_direction()) };
        let What::In { table, columns } = &copy.what else { return Err(wrong_direction()) };
        let (definition, given) = self.copy_target(statement, table, columns).await?;
        let column = |index: &usize| &definition.columns[*index];
        let names: Vec<String> = given.iter().map(|index| column(index).name.clone()).collect();
        let types: Vec<SqlType> = given.iter().map(|i| column(i).sql_type.clone()).collect();
        let (pieces, receiver) = mpsc::channel(BATCHES_AHEAD);
        let session = self.clone();
        let (text, options) = (statement.text.clone(), copy.options.clone());
        let workers = self.inner().shared.workers.clone().unwrap_or_else(Handle::current);
        let load =
            workers.spawn({
                let (definition, given) = (Arc::clone(&definition), given.clone());
                async move {
                    session.inner().copy_load(&text, definition, given, &options, receiver).await
                }
            });
        let options = &copy.options;
        Ok(CopyIn {
            columns: given.len(),
            binary: options.form == Form::Binary,
            reader: match options.form {
                Form::Text => Reader::Text(text::Reader::new(options)),
                Form::Csv => Reader::Csv(csv::Reader::new(options, &names)),
                Form::Binary => Reader::Binary(binary::Reader::new(types.clone())),
            },
            pending: Vec::new(),
            rows: RowsOfText::new(&definition.name, names, options),
            values: RowsOfValues::new(given.len()),
            pieces,
            load,
        })
    }

    async fn copy_target(
        &self,
        statement: &Statement,
        name: &datafusion::sql::sqlparser::ast::ObjectName,
        columns: &[Ident],
    ) -> Result<(Arc<Table>, Vec<usize>)> {
        let inner = self.inner();
        let mut conversation = inner.conversation.lock().await;
        conversation.refuse_if_failed()?;
        let frame = inner.frame(&[], &statement.text);
        let snapshot = inner.shared.store.snapshot();
        let table = match conversation.open() {
            Some(open) => target(&frame, &open.transaction, name, Privileges::INSERT)?,
            None => target(&frame, &snapshot, name, Privileges::INSERT)?,
        };
        let given = copied(&table, columns)?;
        Ok((table, given))
    }
}

impl CopyIn {
    /// How many columns the client sends.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether it sends them in binary.
    pub fn is_binary(&self) -> bool {
        self.binary
    }

    /// Takes some bytes.
    ///
    /// # Errors
    /// 22P04 where they are not in the format; what the load has failed with.
    pub async fn feed(&mut self, bytes: &[u8]) -> Result<()> {
        if self.pending.is_empty() {
            let used = self.read(bytes, false).await?;
            self.pending.extend_from_slice(&bytes[used..]);
        } else {
            let mut all = std::mem::take(&mut self.pending);
            all.extend_from_slice(bytes);
            let used = self.read(&all, false).await?;
            all.drain(..used);
            self.pending = all;
        }
        if self.pending.len() > ROW_BYTES_MAX {
            let message = format!("a row is longer than {} MiB", ROW_BYTES_MAX >> 20);
            return Err(Error::new(SqlState::ProgramLimitExceeded, message));
        }
        Ok(())
    }

    /// Loads what has come so far: what it fails with is told now, and not when a slow client has sent everything.
    ///
    /// # Errors
    /// As [`Self::feed`].
    pub async fn load(&mut self) -> Result<()> {
        if self.load.is_finished() { self.failed().await } else { self.send().await }
    }

    /// Ends the load: the rows are in the table, or committed where no transaction is open.
    ///
    /// # Errors
    /// As [`Self::feed`], and as a commit.
    pub async fn finish(mut self) -> Result<Tag> {
        let rest = std::mem::take(&mut self.pending);
        let used = self.read(&rest, true).await?;
        if let Reader::Binary(reader) = &self.reader {
            reader.finish(&rest[used..])?;
        }
        self.send().await?;
        let sent = self.pieces.send(Piece::End).await;
        let loaded = self.load.await.map_err(|error| {
            Error::new(SqlState::InternalError, format!("the load ended early: {error}"))
        })?;
        let loaded = loaded?;
        debug_assert!(sent.is_ok(), "a load that takes no end fails");
        Ok(Tag::counted("COPY", loaded.rows))
    }

    async fn read(&mut self, bytes: &[u8], end: bool) -> Result<usize> {
        // Pieces of bytes are small beside a batch: looking after each is often enough.
        let mut used = 0;
        loop {
            let piece = &bytes[used..];
            let step = match &mut self.reader {
                Reader::Text(reader) => reader.read(piece, end, &mut self.rows)?,
                Reader::Csv(reader) => reader.read(piece, end, &mut self.rows)?,
                Reader::Binary(reader) => {
                    let values = &mut self.values;
                    reader.read(piece, |row, bytes| values.add(row, bytes))?
                }
            };
            used += step;
            let (rows, size) = match &self.reader {
                Reader::Binary(_) => (self.values.count, self.values.bytes),
                _ => (self.rows.count, self.rows.bytes),
            };
            if rows >= BATCH_ROWS || size >= BATCH_BYTES {
                self.send().await?;
            }
            if step == 0 || used == bytes.len() {
                return Ok(used);
            }
        }
    }

    /// Hands over what has been read.
    async fn send(&mut self) -> Result<()> {
        let first_line = self.rows.first_line;
        let batch = match &self.reader {
            Reader::Binary(_) => self.values.batch()?,
            _ => self.rows.batch()?,
        };
        let Some(batch) = batch else { return Ok(()) };
        if self.pieces.send(Piece::Rows(batch, first_line)).await.is_ok() {
            return Ok(());
        }
        self.failed().await
    }

    /// What the load has failed with that takes no more.
    async fn failed(&mut self) -> Result<()> {
        match (&mut self.load).await {
            Ok(Err(error)) => Err(error),
            _ => Err(Error::new(SqlState::InternalError, "the load ended early")),
        }
    }
}

/// Why a load ends whose client did not send everything.
pub(crate) fn evicted() -> Error {
    Error::new(SqlState::QueryCanceled, "COPY from stdin was given up")
}
