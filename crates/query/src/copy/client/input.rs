//! COPY FROM STDIN.
//!
//! The task of the connection splits the data into values. Another task casts the values and loads
//! the rows. A bounded channel of batches connects them.

use super::wrong_direction;
use crate::context::Inner;
use crate::context::outcome::Tag;
use crate::copy::{copied_columns, refuse_view};
use crate::dml::named_target;
use copy_formats::RowReader;
use datafusion::arrow::array::RecordBatch;
use executor::{Control, Lease, Task};
use parser::Statement;
use parser::client_copy::{Form, Options};
use parser::commands::{Command, Copied, RelationName};
use scan::tables::Tables;
use std::sync::Arc;
use store::catalog::{Privileges, SqlType, Table};
use table_rows::expressions::plan_copied;
use tokio::sync::mpsc;
use values::error::{Error, Result, SqlState};

/// Capacity of the channel, in batches.
pub(crate) const BATCHES_AHEAD: usize = 4;
/// Maximum length of a row, in bytes.
const ROW_BYTES_MAX: usize = 256 << 20;

/// A message to the task that loads. Without an `End`, the load is canceled.
pub(crate) enum Piece {
    /// A batch, with the line number of its first row.
    Rows(RecordBatch, u64),
    /// All data has been sent.
    End,
}

/// A COPY FROM STDIN in progress. Dropping it cancels the COPY; no row is loaded.
pub struct CopyIn {
    columns: usize,
    binary: bool,
    reader: RowReader,
    /// The bytes of an incomplete row.
    pending: Vec<u8>,
    pieces: mpsc::Sender<Piece>,
    load: Task<Result<Loaded>>,
    control: Control,
    _lease: Option<Lease>,
}

/// The result of a load.
pub(crate) struct Loaded {
    /// Number of loaded rows.
    pub(crate) rows: u64,
}

/// The table that a client's rows go to, and the columns that they have.
async fn destination(
    inner: &Inner,
    statement: &Statement,
    name: &RelationName,
    columns: &[String],
    condition: Option<&str>,
) -> Result<(Arc<Table>, Vec<usize>)> {
    let mut conversation = inner.conversation.lock().await;
    conversation.refuse_if_failed()?;
    let frame = inner.frame(&[], &statement.text);
    let snapshot = inner.shared.store.snapshot();
    let tables: &dyn Tables = match conversation.open() {
        Some(open) => &open.transaction,
        None => &snapshot,
    };
    refuse_view(tables.catalog(), frame.path(), name)?;
    let table = named_target(&frame, tables, name, Privileges::INSERT)?;
    let given = copied_columns(&table, columns)?;
    if let Some(condition) = condition {
        plan_copied(&frame.planner(tables), &table, condition)?;
    }
    Ok((table, given))
}

impl CopyIn {
    /// Begins a COPY FROM STDIN in a session.
    ///
    /// # Errors
    /// As INSERT.
    pub(crate) async fn begin(inner: &Arc<Inner>, statement: &Statement) -> Result<Self> {
        let Some(Command::Copy(copy)) = statement.command() else {
            return Err(wrong_direction());
        };
        let (Copied::Relation(table, columns), true) = (&copy.what, copy.is_from) else {
            return Err(wrong_direction());
        };
        let mut options = Options::of(&copy.options)?;
        options.condition.clone_from(&copy.condition);
        let condition = copy.condition.as_deref();
        let place = destination(inner, statement, table, columns, condition).await?;
        let (definition, given) = place;
        let column = |index: &usize| &definition.columns[*index];
        let names: Vec<String> = given.iter().map(|index| column(index).name.clone()).collect();
        options.check_columns(true, |name| names.iter().any(|known| known == name))?;
        let types: Vec<SqlType> = given.iter().map(|i| column(i).sql_type.clone()).collect();
        let (pieces, receiver) = mpsc::channel(BATCHES_AHEAD);
        let text = statement.text.clone();
        let control = inner.begin_statement();
        let load = {
            let (definition, given) = (Arc::clone(&definition), given.clone());
            let (inner, control) = (Arc::clone(inner), control.clone());
            let options = options.clone();
            async move { inner.copy_load(&text, definition, given, &options, receiver, &control).await }
        };
        let lease = inner.shared.executors.as_ref().map(|all| all.lease(&control));
        let load = match &lease {
            Some(lease) => lease.spawn(&control, load),
            None => Task::new(tokio::spawn(control.scope(load)), control.clone()),
        };
        Ok(Self {
            columns: given.len(),
            binary: options.form == Form::Binary,
            reader: RowReader::new(&options, &definition.name, names, types),
            pending: Vec::new(),
            pieces,
            load,
            control,
            _lease: lease,
        })
    }

    /// How many columns the client sends.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether the format is binary.
    pub fn is_binary(&self) -> bool {
        self.binary
    }

    /// Reads the next part of the data. Parts may end anywhere.
    ///
    /// # Errors
    /// 22P04 for data that is not in the format; 54000 for a row that is too long; the error of the
    /// load, if it has failed.
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
        check_row_bytes(self.pending.len())
    }

    /// Sends the rows read so far to the load, and returns its error if it has failed. This reports
    /// an error early if a client sends its data slowly.
    ///
    /// # Errors
    /// As for [`Self::feed`].
    pub async fn load(&mut self) -> Result<()> {
        if self.load.is_finished() { self.failed().await } else { self.send().await }
    }

    /// Completes the load. Commits the rows if no transaction is open.
    ///
    /// # Errors
    /// As for [`Self::feed`], and those of a commit.
    pub async fn finish(mut self) -> Result<Tag> {
        let rest = std::mem::take(&mut self.pending);
        let used = self.read(&rest, true).await?;
        self.reader.finish(&rest[used..])?;
        self.send().await?;
        let sent = self.pieces.send(Piece::End).await;
        let loaded = self.outcome().await?;
        debug_assert!(sent.is_ok(), "a load that succeeds has received the end");
        Ok(Tag::counted("COPY", loaded.rows))
    }

    /// Reads the complete rows of `bytes` and returns the number of bytes read.
    async fn read(&mut self, bytes: &[u8], end: bool) -> Result<usize> {
        let mut used = 0;
        loop {
            used += self.reader.read(&bytes[used..], end)?;
            if !self.reader.is_full() {
                return Ok(used);
            }
            self.send().await?;
        }
    }

    /// Sends the rows read so far to the load.
    async fn send(&mut self) -> Result<()> {
        let Some((batch, first_line)) = self.reader.batch()? else { return Ok(()) };
        let sent = tokio::select! {
            biased;
            sent = self.pieces.send(Piece::Rows(batch, first_line)) => sent.is_ok(),
            error = self.control.overdue() => return Err(error),
        };
        if sent { Ok(()) } else { self.failed().await }
    }

    /// The outcome of the load, which has ended or got all rows.
    async fn outcome(&mut self) -> Result<Loaded> {
        tokio::select! {
            biased;
            loaded = &mut self.load => loaded.unwrap_or_else(|_| Err(ended_early())),
            error = self.control.overdue() => Err(error),
        }
    }

    /// The error of a load that has ended early.
    async fn failed(&mut self) -> Result<()> {
        self.outcome().await.and_then(|_| Err(ended_early()))
    }
}

/// Refuses a row that is too long.
pub(crate) fn check_row_bytes(bytes: usize) -> Result<()> {
    if bytes > ROW_BYTES_MAX {
        let message = format!("a row is longer than {} MiB", ROW_BYTES_MAX >> 20);
        return Err(Error::new(SqlState::ProgramLimitExceeded, message));
    }
    Ok(())
}

fn ended_early() -> Error {
    Error::new(SqlState::InternalError, "the load ended early")
}

/// The error 57014 of a load that is canceled before the end of the data.
pub(crate) fn canceled() -> Error {
    Error::new(SqlState::QueryCanceled, "COPY from stdin was canceled")
}
