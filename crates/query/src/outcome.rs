//! What a statement answers: rows as a stream of Arrow batches, or a tag that says what was done.

use crate::session::Control;
use crate::text::Style;
use crate::types;
use datafusion::arrow::datatypes::Field as ArrowField;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::memory::MemoryStream;
use std::fmt;
use store::catalog::SqlType;

/// The answer to one statement.
pub enum Outcome {
    /// Rows (SELECT, VALUES, SHOW, EXPLAIN, ... RETURNING).
    Rows(Rows),
    /// Something was done.
    Done(Tag),
}

/// A result set that is still being computed.
pub struct Rows {
    /// Name and type of each column.
    pub fields: Vec<Field>,
    /// The batches. Dropping the stream cancels the statement's work.
    pub stream: SendableRecordBatchStream,
    /// The command: SELECT, INSERT (with RETURNING), EXPLAIN, SHOW, ...
    pub command: &'static str,
    /// What ends them early.
    pub control: Control,
}

impl Rows {
    /// Rows that are there already.
    pub(crate) fn ready(fields: Vec<Field>, stream: MemoryStream, command: &'static str) -> Self {
        Self { fields, stream: Box::pin(stream), command, control: Control::default() }
    }
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name as the statement gives it.
    pub name: String,
    /// Its SQL type; `Display` gives PostgreSQL's name.
    pub sql_type: SqlType,
    /// Whether the digits and the length of its type were declared, and are told to clients.
    pub declared: bool,
    /// How its values are written.
    pub style: Style,
    /// The table's column that it is, where it is one unchanged.
    pub origin: Option<Origin>,
}

impl Field {
    /// A computed column.
    pub(crate) fn computed(name: impl Into<String>, field: &ArrowField) -> Self {
        let declared = types::is_declared(field);
        Self { declared, ..Self::new(name, types::of_field(field)) }
    }

    /// A column that comes from no table.
    pub fn new(name: impl Into<String>, sql_type: SqlType) -> Self {
        let (name, style) = (name.into(), Style::default());
        Self { name, sql_type, declared: true, style, origin: None }
    }
}

/// A column of a table, as the catalog numbers both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The table's object id.
    pub table: u32,
    /// The column's number in it, from 1.
    pub column: i16,
}

/// A command that is complete, and how many rows it concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// `CREATE TABLE`, `INSERT`, `COPY`, `BEGIN`, ...
    pub command: &'static str,
    /// Rows inserted, changed, deleted or copied; `None` where the command counts none.
    pub rows: Option<u64>,
}

impl Tag {
    /// A command that counts no rows.
    pub fn plain(command: &'static str) -> Self {
        Self { command, rows: None }
    }

    /// A command that concerned so many rows.
    pub fn counted(command: &'static str, rows: u64) -> Self {
        Self { command, rows: Some(rows) }
    }
}

impl fmt::Display for Tag {
    /// PostgreSQL's command tag: `INSERT 0 3`, `COPY 7`, `CREATE TABLE`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.command, self.rows) {
            ("INSERT", Some(rows)) => write!(f, "INSERT 0 {rows}"),
            (command, Some(rows)) => write!(f, "{command} {rows}"),
            (command, None) => f.write_str(command),
        }
    }
}

/// How far a long statement (COPY, CREATE TABLE AS) has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Rows taken in so far.
    pub rows: u64,
    /// Rows expected in all, where the source says (Parquet); an estimate may be off.
    pub rows_expected: Option<u64>,
}
