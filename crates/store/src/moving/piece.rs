//! A piece of a move as bytes: an Arrow IPC stream whose schema says what it is.
//!
//! Fields are called by their columns' ids. A piece of a run has the table's columns, and in the schema's metadata the
//! run's timestamp; its batches are chunks. A piece of the delta has key, timestamp and whether there is a row before
//! them; versions come by key, the newest of a key first. Both name the version of the table's definition that they
//! were written with.

use crate::Error;
use crate::catalog::Table;
use crate::chunk::Chunk;
use crate::row::{Row, decode_column};
use crate::views::compact_views;
use crate::wire::{self, malformed};
use arrow::array::{ArrayRef, BinaryArray, BooleanArray, RecordBatch, UInt32Array, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::ipc::writer::StreamWriter;
use bytes::Bytes;
use sdds::{Key, Timestamp};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a piece, unless a single row is larger. What else goes between the servers waits behind one.
const PIECE_BYTES: u64 = 1 << 20;
/// What a version takes in a piece beside its key and row, about.
const VERSION_BYTES: u64 = 32;

const VERSION: &str = "version";
const TIMESTAMP: &str = "timestamp";
/// Fields of a delta's piece before the table's columns.
pub(super) const DELTA_FIELDS: usize = 3;

/// Something that is sent.
#[derive(Debug)]
pub(super) enum Item {
    /// Rows of a run.
    Rows(Timestamp, Arc<Chunk>, Range<usize>),
    /// A version of the delta.
    Version(Key, Timestamp, Option<Row>),
}

/// Pieces of a move, made one by one; each is some 1 MiB.
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

    /// Rows of runs and versions of the delta, in all pieces together.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes in all pieces together, about.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the last piece was given.
    pub fn is_at_end(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds rows of a run; those of a large chunk go in several pieces.
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
    VERSION_BYTES + key.as_bytes().len() as u64 + row.map_or(0, |row| row.len() as u64)
}

impl Iterator for Pieces {
    type Item = Result<Bytes, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_piece().transpose()
    }
}

/// A piece that was read: of a run where it has a timestamp, else of a delta.
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

/// Reads a piece; what is wrong with it is an error.
pub(super) fn read(table: &Table, bytes: Bytes) -> Result<Piece, Error> {
    let (timestamp, batches) = wire::read(bytes, |schema| check_schema(table, schema))?;
    Ok(Piece { timestamp, batches })
}

/// The timestamp of a run's piece, none of a delta's.
fn check_schema(table: &Table, found: &Schema) -> Result<Option<Timestamp>, Error> {
    if found.metadata().get(VERSION) != Some(&table.version.to_string()) {
        return Err(Error::SchemaConflict { relation: table.name.clone() });
    }
    let timestamp = match found.metadata().get(TIMESTAMP) {
        None => None,
        Some(text) => {
            let number = text.parse().map_err(|_| malformed("its timestamp is no number"))?;
            Some(Timestamp(number))
        }
    };
    match *found == *schema(table, timestamp.is_none(), timestamp) {
        true => Ok(timestamp),
        false => Err(malformed("it has other columns than the table")),
    }
}
