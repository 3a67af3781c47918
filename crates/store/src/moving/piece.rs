//! Pieces of a move as bytes: Arrow IPC streams whose schemas describe them.
//!
//! Fields are named by column ids. A piece of a run has the columns of the table, and the timestamp
//! of the run in the metadata of its schema; its batches are chunks. A piece of the delta begins
//! with three more columns: key, timestamp, and whether there is a row. Its versions are ordered by
//! key, newest first. Both have the version of the table's definition in their metadata.

use crate::Error;
use arrow::array::{ArrayRef, BinaryArray, BooleanArray, RecordBatch, UInt32Array, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::ipc::writer::StreamWriter;
use bucket::arrays::compact_views;
use bucket::{Chunk, Row, decode_column};
use bytes::Bytes;
use catalog::Table;
use catalog::ipc::{self, malformed};
use sdds::{Key, Timestamp};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// Size of a piece in bytes, unless a single row is larger. Other messages between the servers wait
/// for a piece.
const PIECE_BYTES: u64 = 1 << 20;
/// Approximate overhead of a version in a piece in bytes.
const VERSION_BYTES: u64 = 32;

const VERSION: &str = "version";
const TIMESTAMP: &str = "timestamp";
/// Number of columns of a delta piece before those of the table.
pub(super) const DELTA_FIELDS: usize = 3;

/// An item to be sent.
#[derive(Debug)]
pub(super) enum Item {
    /// Rows of a run.
    Rows(Timestamp, Arc<Chunk>, Range<usize>),
    /// A version of the delta.
    Version(Key, Timestamp, Option<Row>),
}

/// The pieces of a move, encoded one by one. Each has about 1 MiB.
#[derive(Debug)]
pub struct Pieces {
    table: Arc<Table>,
    items: VecDeque<Item>,
    rows: u64,
    bytes: u64,
}

impl Pieces {
    pub(super) fn new(table: Arc<Table>) -> Self {
        Self { table, items: VecDeque::new(), rows: 0, bytes: 0 }
    }

    /// Returns the number of rows of runs and versions of the delta in all pieces.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the approximate bytes of all pieces.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether all pieces have been returned.
    pub fn is_at_end(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds rows of a run. Those of a large chunk are divided among pieces.
    pub(super) fn add_rows(
        &mut self,
        timestamp: Timestamp,
        chunk: &Arc<Chunk>,
        rows: Range<usize>,
    ) {
        self.rows += rows.len() as u64;
        self.bytes += chunk.bytes();
        let parts = chunk.bytes().div_ceil(PIECE_BYTES).max(1) as usize;
        let step = chunk.rows().div_ceil(parts);
        for start in rows.clone().step_by(step) {
            let part = start..rows.end.min(start + step);
            self.items.push_back(Item::Rows(timestamp, Arc::clone(chunk), part));
        }
    }

    pub(super) fn add_version(&mut self, key: Key, timestamp: Timestamp, row: Option<Row>) {
        self.rows += 1;
        self.bytes += version_bytes(&key, row.as_ref());
        self.items.push_back(Item::Version(key, timestamp, row));
    }

    fn next_piece(&mut self) -> Result<Option<Bytes>, Error> {
        match self.items.front() {
            None => Ok(None),
            Some(Item::Rows(timestamp, ..)) => {
                let timestamp = *timestamp;
                self.run_piece(timestamp).map(Some)
            }
            Some(Item::Version(..)) => self.delta_piece().map(Some),
        }
    }

    fn run_piece(&mut self, of: Timestamp) -> Result<Bytes, Error> {
        let schema = schema(&self.table, false, Some(of));
        let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
        let mut bytes = 0;
        let fits = |item: &mut Item| matches!(item, Item::Rows(at, ..) if *at == of);
        while bytes < PIECE_BYTES
            && let Some(Item::Rows(_, chunk, rows)) = self.items.pop_front_if(fits)
        {
            bytes += chunk.bytes() * rows.len() as u64 / chunk.rows() as u64;
            let column = |c| compact_views(&chunk.column(&self.table, c, &rows));
            let columns = (0..self.table.columns.len()).map(column).collect();
            writer.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?)?;
        }
        Ok(writer.into_inner()?.into())
    }

    fn delta_piece(&mut self) -> Result<Bytes, Error> {
        let mut versions = Vec::new();
        let mut bytes = 0;
        let is_version = |item: &mut Item| matches!(item, Item::Version(..));
        while bytes < PIECE_BYTES
            && let Some(Item::Version(key, timestamp, row)) = self.items.pop_front_if(is_version)
        {
            bytes += version_bytes(&key, row.as_ref());
            versions.push((key, timestamp, row));
        }
        let rows: Vec<&Row> = versions.iter().filter_map(|(_, _, row)| row.as_ref()).collect();
        let mut live = 0;
        let places = versions.iter().map(|(_, _, row)| {
            live += u32::from(row.is_some());
            row.is_some().then(|| live - 1)
        });
        let places: UInt32Array = places.collect();
        let keys = versions.iter().map(|(key, _, _)| key.as_bytes());
        let timestamps = versions.iter().map(|(_, timestamp, _)| timestamp.0);
        let is_live = versions.iter().map(|(_, _, row)| Some(row.is_some()));
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(BinaryArray::from_iter_values(keys)),
            Arc::new(UInt64Array::from_iter_values(timestamps)),
            Arc::new(is_live.collect::<BooleanArray>()),
        ];
        for column in 0..self.table.columns.len() {
            columns.push(take(&decode_column(&rows, &self.table, column)?, &places, None)?);
        }
        let schema = schema(&self.table, true, None);
        let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
        writer.write(&RecordBatch::try_new(schema, columns)?)?;
        Ok(writer.into_inner()?.into())
    }
}

fn version_bytes(key: &Key, row: Option<&Row>) -> u64 {
    VERSION_BYTES + key.as_bytes().len() as u64 + row.map_or(0, |row| row.bytes())
}

impl Iterator for Pieces {
    type Item = Result<Bytes, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_piece().transpose()
    }
}

/// A decoded piece: of a run if it has a timestamp, otherwise of a delta.
pub(super) struct Piece {
    pub(super) timestamp: Option<Timestamp>,
    pub(super) batches: Vec<RecordBatch>,
}

fn schema(table: &Table, delta: bool, timestamp: Option<Timestamp>) -> SchemaRef {
    let mut fields = Vec::new();
    if delta {
        fields.push(Field::new("key", DataType::Binary, false));
        fields.push(Field::new("timestamp", DataType::UInt64, false));
        fields.push(Field::new("live", DataType::Boolean, false));
    }
    let columns = table.columns.iter();
    fields.extend(columns.map(|c| Field::new(c.id.0.to_string(), c.sql_type.arrow(), true)));
    let mut metadata = HashMap::from([(VERSION.to_owned(), table.version.to_string())]);
    if let Some(timestamp) = timestamp {
        metadata.insert(TIMESTAMP.to_owned(), timestamp.to_string());
    }
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

/// Decodes a piece.
///
/// # Errors
/// As [`super::MoveIn::take`].
pub(super) fn read(table: &Table, bytes: Bytes) -> Result<Piece, Error> {
    let (timestamp, batches) = ipc::read(bytes, |schema| check_schema(table, schema))?;
    Ok(Piece { timestamp, batches })
}

/// Returns the timestamp of a piece of a run; `None` for a piece of a delta.
fn check_schema(table: &Table, found: &Schema) -> Result<Option<Timestamp>, Error> {
    if found.metadata().get(VERSION) != Some(&table.version.to_string()) {
        return Err(Error::SchemaConflict { relation: table.name.clone() });
    }
    let timestamp = match found.metadata().get(TIMESTAMP) {
        None => None,
        Some(text) => {
            let number = text.parse().map_err(|_| malformed("its timestamp is not a number"))?;
            Some(Timestamp(number))
        }
    };
    if *found != *schema(table, timestamp.is_none(), timestamp) {
        return Err(malformed("it has other columns than the table").into());
    }
    Ok(timestamp)
}
