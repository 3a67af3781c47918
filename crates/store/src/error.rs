//! Errors of the store.

use arrow::error::ArrowError;
use catalog::{Index, Table, TableId};
use locks::Party;
use sdds::{Key, KeyRange};
use serde::{Deserialize, Serialize};

/// An error of the store. Unless documented otherwise, nothing has changed then.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum Error {
    /// A row with this key exists.
    #[error("duplicate key value violates unique constraint \"{constraint}\"")]
    DuplicateKey {
        /// The schema of the table.
        schema: String,
        /// The table.
        table: String,
        /// The name of its primary key constraint.
        constraint: String,
        /// The key: `(a, b)=(1, x)`.
        key: String,
    },
    /// Another transaction has written this row since the snapshot, or has prepared to.
    #[error("could not serialize access due to concurrent update")]
    Conflict {
        /// The table.
        table: String,
        /// The key: `(a, b)=(1, x)`.
        key: String,
    },
    /// Another transaction has changed this definition since the snapshot, or has prepared to.
    #[error("\"{relation}\" was changed by another transaction")]
    SchemaConflict {
        /// The relation, or what else was changed.
        relation: String,
    },
    /// The memory limit would be exceeded.
    #[error("out of memory: {requested} more bytes asked for, {used} of {limit} in use")]
    OutOfMemory {
        /// Requested bytes.
        requested: u64,
        /// Bytes in use.
        used: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A sequence has reached its limit.
    #[error("nextval: reached {end} value of sequence \"{sequence}\" ({limit})")]
    SequenceExhausted {
        /// The sequence.
        sequence: String,
        /// `maximum` or `minimum`.
        end: String,
        /// The limit.
        limit: i64,
    },
    /// This server does not own some of the keys.
    #[error("the keys {range} belong to another server")]
    NotOwned {
        /// The keys.
        range: KeyRange,
    },
    /// A request of another server did not find the owner of some keys. The server that sent it
    /// locates them again; if each server on the way did, the number of retries would multiply.
    #[error("the keys {range} have moved on")]
    Astray {
        /// The keys.
        range: KeyRange,
    },
    /// A server cannot be reached or did not answer before the deadline.
    #[error("{} cannot be reached: {reason}", subject(server))]
    Unreachable {
        /// Its name; empty if unknown.
        server: String,
        /// The failure.
        reason: String,
        /// Whether its data is lost.
        is_lost: bool,
        /// The requested keys and their table; empty if unknown.
        keys: String,
    },
    /// Another server returned an error.
    #[error("{message}")]
    Remote {
        /// The SQLSTATE.
        sql_state: String,
        /// The message.
        message: String,
        /// The detail message.
        detail: Option<String>,
        /// The hint.
        hint: Option<String>,
    },
    /// A plan fragment of a statement failed on another server.
    #[error(transparent)]
    Failed(Box<Failure>),
    /// A catalog change is refused. [`catalog::Error::Conflict`] becomes [`Self::SchemaConflict`].
    #[error(transparent)]
    Catalog(catalog::Error),
    /// Rows are refused.
    #[error(transparent)]
    Bucket(#[from] bucket::Error),
    /// Another running transaction has a lock on this row. The request waits in the lock table.
    #[error("could not obtain lock on row in relation \"{table}\"")]
    Locked {
        /// The table.
        table: String,
    },
    /// What a serializable transaction has read has changed since its snapshot.
    #[error("could not serialize access due to read/write dependencies among transactions")]
    Unserializable,
    /// Another running transaction has a lock on this table.
    #[error("could not obtain lock on relation \"{table}\"")]
    TableLocked {
        /// The table.
        table: String,
    },
}

/// An error of a statement, from a server that executes a part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct Failure {
    /// The SQLSTATE.
    pub sql_state: String,
    /// The message.
    pub message: String,
    /// The detail message.
    pub detail: Option<String>,
    /// The hint.
    pub hint: Option<String>,
    /// The schema of the table.
    pub schema: Option<String>,
    /// The table.
    pub table: Option<String>,
    /// The column.
    pub column: Option<String>,
    /// The violated constraint.
    pub constraint: Option<String>,
    /// The constant in the statement at the error position.
    pub literal: Option<String>,
    /// What was executed around.
    pub context: Option<String>,
}

/// Returns the subject of a message about a server.
fn subject(server: &str) -> String {
    if server.is_empty() { "another server".to_owned() } else { format!("server \"{server}\"") }
}

impl Error {
    /// Returns the error for a key that exists.
    pub(crate) fn duplicate_key(table: &Table, key: &Key) -> Self {
        Self::DuplicateKey {
            schema: table.schema.clone(),
            table: table.name.clone(),
            constraint: table.key_name(),
            key: bucket::key::describe(table, key),
        }
    }

    /// Returns the error for an entry that a unique index has.
    pub(crate) fn duplicate_entry(index: &Index, table: &Table, key: &Key) -> Self {
        Self::DuplicateKey {
            schema: table.schema.clone(),
            table: table.name.clone(),
            constraint: index.file.name.clone(),
            key: bucket::key::describe_entry(index, table, key),
        }
    }

    /// Returns the error for a snapshot that needs row versions which may be gone.
    pub fn snapshot_too_old() -> Self {
        let hint = "Run the transaction again.".to_owned();
        failure(
            "72000",
            "snapshot too old: row versions that it sees may be gone",
            None,
            Some(hint),
        )
    }

    /// Returns the error for a server that cannot be reached. Its data is not lost.
    pub fn unreachable(server: impl Into<String>, reason: impl Into<String>) -> Self {
        let (server, reason) = (server.into(), reason.into());
        Self::Unreachable { server, reason, is_lost: false, keys: String::new() }
    }

    /// Adds the requested keys to [`Self::Unreachable`] if it has none.
    pub fn missing(mut self, what: impl FnOnce() -> String) -> Self {
        if let Self::Unreachable { keys, .. } = &mut self
            && keys.is_empty()
        {
            *keys = what();
        }
        self
    }

    /// Returns a conflict instead of the error for a relation that is not there: another transaction has dropped it.
    pub fn of_dropped(self) -> Self {
        match self {
            Self::Catalog(catalog::Error::RelationMissing { relation }) => {
                Self::SchemaConflict { relation: format!("relation {relation}") }
            }
            other => other,
        }
    }

    /// Whether the transaction may succeed if it is executed again on a new snapshot.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Conflict { .. } | Self::SchemaConflict { .. } | Self::Unserializable)
    }
}

/// An error of the journal or of the data directory: it has a SQLSTATE, and says what to do.
impl From<journal::Error> for Error {
    fn from(error: journal::Error) -> Self {
        let (sql_state, message) = (error.sqlstate().to_owned(), error.to_string());
        Self::Failed(Box::new(Failure { sql_state, message, ..Failure::default() }))
    }
}

impl From<catalog::Error> for Error {
    fn from(error: catalog::Error) -> Self {
        match error {
            catalog::Error::Conflict { relation } => Self::SchemaConflict { relation },
            other => Self::Catalog(other),
        }
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        Self::Bucket(error.into())
    }
}

/// Returns the error of a wait for a lock that has lasted too long.
pub(crate) fn lock_timeout() -> Error {
    failure("55P03", "canceling statement due to lock timeout", None, None)
}

/// Returns the error of a request that would wait in a circle: of parties, each of which waits for the next.
pub(crate) fn deadlock(circle: &[Party]) -> Error {
    let next = circle.iter().cycle().skip(1);
    let waits: Vec<String> = circle
        .iter()
        .zip(next)
        .map(|(waiter, blocker)| {
            format!("Process {} is blocked by process {}.", waiter.number, blocker.number)
        })
        .collect();
    let hint = "See server log for query details.".to_owned();
    failure("40P01", "deadlock detected", Some(waits.join("\n")), Some(hint))
}

fn failure(sql_state: &str, message: &str, detail: Option<String>, hint: Option<String>) -> Error {
    let (sql_state, message) = (sql_state.to_owned(), message.to_owned());
    Error::Failed(Box::new(Failure { sql_state, message, detail, hint, ..Failure::default() }))
}

/// Returns the error for an id without a table.
pub(crate) fn missing(id: TableId) -> Error {
    catalog::Error::missing(id.relation()).into()
}
