//! A server's rows as batches of texts, in which they go the same ways as our own.
//!
//! A batch holds what has arrived: rows are shown as they come, and a result of any length takes little memory.

use super::cancelling::Cancelling;
use crate::remote::{Connection, Event, values};
use crate::trouble::SqlError;
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringViewBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of a batch; more that has arrived is the next one's.
const BATCH_BYTES: usize = 1 << 20;

/// The answer of a statement, step by step.
pub(super) struct Stream<'a> {
    pub(super) connection: &'a mut Connection,
    /// What the server says between rows, told after them.
    pub(super) notices: &'a mut VecDeque<SqlError>,
    pub(super) cancelling: &'a Cancelling,
}

impl Stream<'_> {
    /// The next step.
    pub(super) async fn step(&mut self) -> Result<Event, SqlError> {
        match self.cancelling.unless_cancelled(self.connection.receive()).await {
            Some(event) => event,
            None => Err(self.connection.give_up_on()),
        }
    }
}

/// The rows up to the statement's end.
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

/// Rows that become batches.
struct Gathering<'a> {
    stream: Stream<'a>,
    schema: SchemaRef,
    /// How the rows have ended.
    end: Option<Result<(), SqlError>>,
}

impl Gathering<'_> {
    /// The next batch: what has arrived, and at least a row.
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
                Some(Event::Failed(trouble)) => self.end = Some(Err(trouble)),
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
    match pushed == Some(columns.len()) {
        true => Ok(()),
        false => Err(SqlError::new("08P01", "a row is not as the server has described it")),
    }
}

/// COPY's data up to its end.
pub(super) fn data(stream: Stream<'_>) -> BoxStream<'_, Result<Bytes, SqlError>> {
    stream::try_unfold(stream, async |mut stream| {
        loop {
            match stream.step().await? {
                Event::Data(data) => return Ok(Some((data, stream))),
                Event::Notice(notice) => stream.notices.push_back(notice),
                Event::Failed(trouble) => return Err(trouble),
                _ => return Ok(None),
            }
        }
    })
    .boxed()
}
