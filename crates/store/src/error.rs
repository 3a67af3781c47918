//! What the store refuses, named by what the caller can do about it.

use arrow::error::ArrowError;
use sdds::KeyRange;
use serde::{Deserialize, Serialize};

/// An error of the store. Nothing has changed when one comes back.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum Error {
    /// A row with this key exists already.
    #[error("duplicate key value violates unique constraint \"{constraint}\"")]
    DuplicateKey {
        /// The table's schema.
        schema: String,
        /// The table.
        table: String,
        /// The name of its primary key.
        constraint: String,
        /// Columns and values, `(a, b)=(1, x)`.
        key: String,
    },
    /// Another transaction wrote this row after ours began.
    #[error("could not serialize access due to concurrent update of table \"{table}\"")]
    Conflict {
        /// The table.
        table: String,
        /// Columns and values, `(a, b)=(1, x)`.
        key: String,
    },
    /// Another transaction changed this definition after ours began.
    #[error("\"{relation}\" was changed by another transaction")]
    SchemaConflict {
        /// The table, view or sequence.
        relation: String,
    },
    /// The memory limit is reached.
    #[error("out of memory: {requested} more bytes asked for, {used} of {limit} in use")]
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes in use.
        used: u64,
        /// Bytes that may be in use.
        limit: u64,
    },
    /// One value is larger than values may be.
    #[error("value of {bytes} bytes for column \"{column}\" exceeds the limit of {limit}")]
    ValueTooLarge {
        /// The column.
        column: String,
        /// The value's size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// NULL in a column of the primary key.
    #[error(
        "null value in column \"{column}\" of relation \"{table}\" violates not-null constraint"
    )]
    NullKey {
        /// The table's schema.
        schema: String,
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// A type that has no order-preserving form.
    #[error("type {data_type} cannot be part of a primary key")]
    KeyType {
        /// The type.
        data_type: String,
    },
    /// A relation of this name exists.
    #[error("relation \"{relation}\" already exists")]
    RelationExists {
        /// The name.
        relation: String,
    },
    /// No relation of this name exists.
    #[error("relation {relation} does not exist")]
    RelationMissing {
        /// The name.
        relation: String,
    },
    /// A schema of this name exists.
    #[error("schema \"{schema}\" already exists")]
    SchemaExists {
        /// The name.
        schema: String,
    },
    /// No schema of this name exists.
    #[error("schema \"{schema}\" does not exist")]
    SchemaMissing {
        /// The name.
        schema: String,
    },
    /// The schema holds something.
    #[error("cannot drop schema {schema} because other objects depend on it")]
    SchemaNotEmpty {
        /// The schema.
        schema: String,
        /// One thing that it holds.
        relation: String,
    },
    /// The name belongs to the system.
    #[error("\"{name}\" is a reserved name")]
    ReservedName {
        /// The name.
        name: String,
    },
    /// A sequence that does not begin again has given its last value.
    #[error("nextval: reached {end} value of sequence \"{sequence}\" ({limit})")]
    SequenceExhausted {
        /// The sequence.
        sequence: String,
        /// `maximum` or `minimum`.
        end: String,
        /// The last value.
        limit: i64,
    },
    /// Some of the keys are not this server's.
    #[error("the keys {range} belong to another server")]
    NotOwned {
        /// The keys.
        range: KeyRange,
    },
    /// Some of the keys were not found where they were looked for on behalf of another server, which is to look for them again.
    /// (Were every server on the way to look again itself, each would, as often as the one before it asks.)
    #[error("the keys {range} have moved on")]
    Astray {
        /// The keys.
        range: KeyRange,
    },
    /// A server did not answer within its deadline, or cannot be reached.
    #[error("{} cannot be reached: {reason}", subject(server))]
    Unreachable {
        /// Its name; empty if it is not known which server it is.
        server: String,
        /// What was seen.
        reason: String,
        /// Whether what it held is gone for good.
        is_lost: bool,
        /// What it was to do that for: which keys of which table. Empty where that is not known.
        keys: String,
    },
    /// Another server refused.
    #[error("{message}")]
    Remote {
        /// The SQLSTATE.
        sql_state: String,
        /// What was wrong.
        message: String,
        /// More about it.
        detail: Option<String>,
        /// What to do.
        hint: Option<String>,
    },
    /// What another server computed for this one's statement failed.
    #[error(transparent)]
    Failed(Box<Failure>),
    /// Arrow refused an array; a defect or a value out of range.
    #[error(transparent)]
    Arrow(
        #[from]
        #[serde(with = "crate::wire::arrow_error")]
        ArrowError,
    ),
}

/// What is wrong with a statement, as the server has found out that has its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct Failure {
    /// The SQLSTATE.
    pub sql_state: String,
    /// What was wrong.
    pub message: String,
    /// More about it.
    pub detail: Option<String>,
    /// What to do.
    pub hint: Option<String>,
    /// The schema of the table that it is about.
    pub schema: Option<String>,
    /// The table.
    pub table: Option<String>,
    /// The table's column.
    pub column: Option<String>,
    /// The constraint that was violated.
    pub constraint: Option<String>,
    /// The constant of the statement that is to blame.
    pub literal: Option<String>,
}

/// A server as the subject of a message.
fn subject(server: &str) -> String {
    if server.is_empty() { "another server".to_owned() } else { format!("server \"{server}\"") }
}

impl Error {
    /// A server that did not answer, or cannot be reached.
    pub fn unreachable(server: impl Into<String>, reason: impl Into<String>) -> Self {
        let (server, reason) = (server.into(), reason.into());
        Self::Unreachable { server, reason, is_lost: false, keys: String::new() }
    }

    /// The same, saying what the server has that was asked for, if it could not be reached and nobody has said so yet.
    pub fn missing(mut self, what: impl FnOnce() -> String) -> Self {
        if let Self::Unreachable { keys, .. } = &mut self
            && keys.is_empty()
        {
            *keys = what();
        }
        self
    }

    /// Whether the same transaction may succeed when it is run again on a new snapshot.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Conflict { .. } | Self::SchemaConflict { .. })
    }
}
