//! Converts a server's rows to batches of text, for the same output code as rows of this process.
//!
//! A batch has the rows that have arrived. Rows are shown as they come, and the memory does not grow with the result.

use super::cancelling::Cancelling;
use crate::error::SqlError;
use crate::protocol::{Connection, Event, values};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringViewBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum bytes of a batch.
const BATCH_BYTES: usize = 1 << 20;

/// The events of a statement's answer.
pub(super) struct Stream<'a> {
    pub(super) connection: &'a mut Connection,
    /// Notices between rows, shown after them.
    pub(super) notices: &'a mut VecDeque<SqlError>,
    pub(super) cancelling: &'a Cancelling,
}

impl Stream<'_> {
    /// Waits for the next event.
    pub(super) async fn step(&mut self) -> Result<Event, SqlError> {
        match self.cancelling.unless_cancelled(self.connection.receive()).await {
            Some(event) => event,
            None => Err(self.connection.abandon()),
        }
    }
}

/// The rows of the statement.
pub(super) fn batches(
    stream: Stream<'_>,
    width: usize,
) -> BoxStream<'_, Result<RecordBatch, SqlError>> {
    let text = |_| Field::new("", DataType::Utf8View, true);
    let schema = Arc::new(Schema::new((0..width).map(text).collect::<Vec<_>>()));
    let rows = Gathering { stream, schema, end: None };
    stream::try_unfold(rows, async |mut rows| Ok(rows.batch().await?.map(|batch| (batch, rows))))
        .boxed()
}

/// Collects rows to batches.
struct Gathering<'a> {
    stream: Stream<'a>,
    schema: SchemaRef,
    /// How the rows ended.
    end: Option<Result<(), SqlError>>,
}

impl Gathering<'_> {
    /// The next batch: the rows that have arrived, at least one.
    async fn batch(&mut self) -> Result<Option<RecordBatch>, SqlError> {
        let mut columns: Vec<_> =
            self.schema.fields().iter().map(|_| StringViewBuilder::new()).collect();
        let (mut rows, mut bytes) = (0, 0);
        while self.end.is_none() && bytes < BATCH_BYTES {
            let event = match rows {
                0 => Some(self.stream.step().await?),
                _ => self.stream.connection.arrived()?,
            };
            match event {
                None => break,
                Some(Event::Row(row)) => {
                    push(&row, &mut columns)?;
                    rows += 1;
                    bytes += row.len();
                }
                Some(Event::Notice(notice)) => self.stream.notices.push_back(notice),
                Some(Event::Failed(error)) => self.end = Some(Err(error)),
                Some(_) => self.end = Some(Ok(())),
            }
        }
        if rows == 0 {
            return self.end.take().unwrap_or(Ok(())).map(|()| None);
        }
        let columns = columns.into_iter().map(|mut c| Arc::new(c.finish()) as ArrayRef).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options);
        batch.map(Some).map_err(|error| SqlError::new("XX000", error.to_string()))
    }
}

fn push(row: &Bytes, columns: &mut [StringViewBuilder]) -> Result<(), SqlError> {
    let pushed = values(row, |index, value| {
        let column = columns.get_mut(index)?;
        column.append_option(value.map(String::from_utf8_lossy));
        Some(())
    });
    if pushed == Some(columns.len()) {
        return Ok(());
    }
    Err(SqlError::new("08P01", "a row does not match its description"))
}

/// COPY's data.
pub(super) fn data(stream: Stream<'_>) -> BoxStream<'_, Result<Bytes, SqlError>> {
    stream::try_unfold(stream, async |mut stream| {
        loop {
            match stream.step().await? {
                Event::Data(data) => return Ok(Some((data, stream))),
                Event::Notice(notice) => stream.notices.push_back(notice),
                Event::Failed(error) => return Err(error),
                _ => return Ok(None),
            }
        }
    })
    .boxed()
}
