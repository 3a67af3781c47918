//! COPY FROM STDIN: bytes in pieces, rows into the table.
//!
//! The connection's task cuts bytes into values; another one casts them and loads the rows. Between them
//! go batches, so both work at once and neither runs far ahead.

use super::options::{Form, Header, Options};
use super::parse::wrong_direction;
use super::text::{Line, not_utf8};
use super::{What, binary, csv, text};
use crate::dml::assembly::Assembly;
use crate::dml::{declared_column, target};
use crate::error::{Error, Result, SqlState};
use crate::outcome::Tag;
use crate::parse::Statement;
use crate::planner::relations::fold;
use crate::session::Session;
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringViewBuilder};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::ast::Ident;
use std::sync::Arc;
use store::catalog::{SqlType, Table};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Rows of a batch.
const BATCH_ROWS: usize = store::CHUNK_ROWS;
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
    values: Vec<Vec<ScalarValue>>,
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
    pub async fn copy_in(&self, statement: &Statement) -> Result<CopyIn> {
        let Some(copy) = &statement.client_copy else { return Err(wrong_direction()) };
        let What::In { table, columns } = &copy.what else { return Err(wrong_direction()) };
        let (definition, given) = self.copy_target(statement, table, columns).await?;
        let column = |index: &usize| &definition.columns[*index];
        let names: Vec<String> = given.iter().map(|index| column(index).name.clone()).collect();
        let types: Vec<SqlType> = given.iter().map(|i| column(i).sql_type.clone()).collect();
        let (pieces, receiver) = mpsc::channel(BATCHES_AHEAD);
        let session = self.clone();
        let (text, options) = (statement.text.clone(), copy.options.clone());
        let load = tokio::spawn({
            let (definition, given) = (Arc::clone(&definition), given.clone());
            async move { session.inner().copy_load(&text, definition, given, &options, receiver).await }
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
            values: vec![Vec::new(); types.len()],
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
            Some(open) => target(&frame, &open.transaction, name)?,
            None => target(&frame, &snapshot, name)?,
        };
        let given: Vec<usize> = match columns {
            [] => (0..table.columns.len()).filter(|i| !table.columns[*i].hidden).collect(),
            named => {
                let find = |name: &Ident| declared_column(&table, &fold(name));
                named.iter().map(find).collect::<Result<_>>()?
            }
        };
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
                    reader.read(piece, &mut |row| {
                        values.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
                        Ok(())
                    })?
                }
            };
            used += step;
            let rows = self.rows.count.max(self.values.first().map_or(0, Vec::len));
            if rows >= BATCH_ROWS || self.rows.bytes >= BATCH_BYTES {
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
            Reader::Binary(_) => batch_of_values(&mut self.values)?,
            _ => self.rows.batch()?,
        };
        let Some(batch) = batch else { return Ok(()) };
        if self.pieces.send(Piece::Rows(batch, first_line)).await.is_ok() {
            return Ok(());
        }
        match (&mut self.load).await {
            Ok(Err(error)) => Err(error),
            _ => Err(Error::new(SqlState::InternalError, "the load ended early")),
        }
    }
}

fn batch_of_values(values: &mut [Vec<ScalarValue>]) -> Result<Option<RecordBatch>> {
    if values.first().is_none_or(Vec::is_empty) {
        return Ok(None);
    }
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(values.len());
    for column in values.iter_mut() {
        let column = std::mem::take(column);
        // A decimal brings its own scale along: the widest one holds all of them.
        let column = same_scale(column)?;
        arrays.push(ScalarValue::iter_to_array(column)?);
    }
    let fields = arrays.iter().map(|array| Field::new("", array.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    Ok(Some(RecordBatch::try_new(schema, arrays)?))
}

fn same_scale(column: Vec<ScalarValue>) -> Result<Vec<ScalarValue>> {
    let scales = column.iter().filter_map(|value| match value {
        ScalarValue::Decimal128(_, _, scale) => Some(*scale),
        _ => None,
    });
    let Some(widest) = scales.max() else { return Ok(column) };
    let to = DataType::Decimal128(38, widest);
    Ok(column.into_iter().map(|value| value.cast_to(&to)).collect::<Result<_, _>>()?)
}

/// Rows of texts on their way into a batch.
struct RowsOfText {
    table: String,
    names: Vec<String>,
    schema: SchemaRef,
    builders: Vec<StringViewBuilder>,
    header: Header,
    named: Vec<String>,
    column: usize,
    count: usize,
    bytes: usize,
    line: u64,
    first_line: u64,
}

impl RowsOfText {
    fn new(table: &str, names: Vec<String>, options: &Options) -> Self {
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

    fn batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.count == 0 {
            return Ok(None);
        }
        let finish = |builder: &mut StringViewBuilder| Arc::new(builder.finish()) as ArrayRef;
        let arrays = self.builders.iter_mut().map(finish).collect();
        (self.count, self.bytes) = (0, 0);
        self.first_line = self.line;
        Ok(Some(RecordBatch::try_new(Arc::clone(&self.schema), arrays)?))
    }

    fn place(&self) -> String {
        format!("COPY {}, line {}", self.table, self.line)
    }

    fn bad(&self, message: String) -> Error {
        Error::new(SqlState::BadCopyFileFormat, message).with_detail(self.place())
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
        let text = text.map_err(|_| not_utf8().with_detail(self.place()))?;
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

/// Casts batches to a table's shape. With ON_ERROR ignore, rows that cannot be read are passed over.
pub(crate) struct Assembler {
    pub(crate) assembly: Assembly,
    pub(crate) ignore_errors: bool,
    pub(crate) reject_limit: Option<u64>,
    pub(crate) rejected: u64,
    /// The first lines that were passed over, and why.
    pub(crate) first_rejected: Vec<String>,
}

/// So many of the lines that were passed over are told of.
const REJECTED_TOLD: usize = 20;

impl Assembler {
    /// The rows of a batch that can be read.
    pub(crate) fn assemble(
        &mut self,
        batch: &RecordBatch,
        first_line: u64,
    ) -> Result<Vec<RecordBatch>> {
        match self.assembly.assemble(batch) {
            Ok(batch) => Ok(vec![batch]),
            Err(error) if !self.ignore_errors => Err(error),
            Err(error) if batch.num_rows() == 1 => {
                self.reject(first_line, &error)?;
                Ok(Vec::new())
            }
            Err(_) => {
                let half = batch.num_rows() / 2;
                let upper = batch.slice(half, batch.num_rows() - half);
                let mut rows = self.assemble(&batch.slice(0, half), first_line)?;
                rows.extend(self.assemble(&upper, first_line + half as u64)?);
                Ok(rows)
            }
        }
    }

    fn reject(&mut self, line: u64, error: &Error) -> Result<()> {
        self.rejected += 1;
        if self.first_rejected.len() < REJECTED_TOLD {
            self.first_rejected.push(format!("line {line}: {}", error.message()));
        }
        match self.reject_limit {
            Some(limit) if self.rejected > limit => {
                let message = format!(
                    "skipped more than REJECT_LIMIT ({limit}) rows due to data type incompatibility"
                );
                Err(Error::new(SqlState::InvalidTextRepresentation, message)
                    .with_detail(self.first_rejected.join("; ")))
            }
            _ => Ok(()),
        }
    }
}

/// Why a load ends whose client did not send everything.
pub(crate) fn given_up() -> Error {
    Error::new(SqlState::QueryCanceled, "COPY from stdin was given up")
}
