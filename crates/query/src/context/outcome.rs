//! The result of a statement: rows as a stream of Arrow batches, or a command tag.

use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::memory::MemoryStream;
use executor::Control;
use futures::TryStreamExt;
use procedural::Done;
use std::fmt;
use std::sync::Arc;
use values::error::Result;
use values::field::Field;

/// The result of one statement.
pub enum Outcome {
    /// Rows (SELECT, VALUES, SHOW, EXPLAIN, ... RETURNING).
    Rows(Rows),
    /// A completed command without rows.
    Done(Tag),
}

impl Outcome {
    /// What the statement of a function has done.
    ///
    /// # Errors
    /// Those of the rows.
    pub(crate) async fn done(self) -> Result<Done> {
        Ok(match self {
            Self::Rows(rows) => {
                let (fields, schema) = (rows.fields.to_vec(), rows.stream.schema());
                let batches = rows.stream.try_collect().await?;
                Done { fields: Some(fields), schema: Some(schema), batches, count: 0 }
            }
            Self::Done(tag) => {
                let count = tag.rows.unwrap_or(0);
                Done { fields: None, schema: None, batches: Vec::new(), count }
            }
        })
    }
}

/// A result set, which may still be in computation.
pub struct Rows {
    /// Name and type of each column.
    pub fields: Arc<[Field]>,
    /// The batches. Dropping the stream cancels the statement's work.
    pub stream: SendableRecordBatchStream,
    /// The command: SELECT, INSERT (with RETURNING), EXPLAIN, SHOW, ...
    pub command: &'static str,
    /// Ends them early, after a cancel request or a time-out.
    pub control: Control,
}

impl Rows {
    /// Rows that are computed already.
    pub(crate) fn ready(
        fields: impl Into<Arc<[Field]>>,
        stream: MemoryStream,
        command: &'static str,
    ) -> Self {
        let fields = fields.into();
        Self { fields, stream: Box::pin(stream), command, control: Control::default() }
    }
}

/// A completed command, and the number of its rows.
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

    /// A command that counts rows.
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

/// The progress of a long statement (COPY, CREATE TABLE AS).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Rows loaded so far.
    pub rows: u64,
    /// Total rows, if the source says (Parquet). It may be an estimate.
    pub rows_expected: Option<u64>,
}
