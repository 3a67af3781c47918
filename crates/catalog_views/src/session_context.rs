//! The traits through which functions and system tables access the session and its database.

use crate::settings::Settings;
use advisory::AdvisoryLocks;
use backup::Progress;
pub use functions::chance::Chance;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;
use store::catalog::{Catalog, RelationId, SqlType};
use store::{Recovery, Store};
use values::Error;

/// A session, as functions and system tables see it.
pub trait SessionContext: fmt::Debug + Send + Sync {
    /// The database that the session belongs to.
    fn database(&self) -> Arc<dyn DatabaseContext>;
    /// The catalog at the snapshot of the running statement.
    fn catalog(&self) -> Arc<Catalog>;
    /// The schemas of the setting `search_path`, at the start of the running statement.
    fn search_path(&self) -> Arc<Vec<String>>;
    /// The schema of the session's temporary relations. It need not exist.
    fn temporary_schema(&self) -> &str;
    /// The user who logged in.
    fn login_user(&self) -> Arc<String>;
    /// The session user: the user who logged in, unless SET SESSION AUTHORIZATION changed it.
    fn session_user(&self) -> Arc<String>;
    /// The current user, whose privileges statements have.
    fn user(&self) -> Arc<String>;
    /// The role whose privileges statements have; `None` if they have all privileges.
    fn role(&self) -> Option<Arc<String>>;
    /// Like [`role`](Self::role) for a given role of the session: `None` for the login user of a
    /// session without authentication.
    fn limited(&self, role: Arc<String>) -> Option<Arc<String>>;
    /// The current settings of the session.
    fn settings(&self) -> Arc<Settings>;
    /// The number that identifies the session in cancel requests and `pg_stat_activity`.
    fn process(&self) -> u32;
    /// The start of the session.
    fn begun(&self) -> SystemTime;
    /// The start of the client's running statement, in microseconds since 1970.
    fn statement_began(&self) -> i64;
    /// The state of the session, for `pg_stat_activity`.
    fn activity(&self) -> Activity;
    /// The prepared statements and cursors of the session's connection, in order of creation.
    fn named_entries(&self) -> Vec<Arc<Entry>>;
    /// The last values that the session got from sequences.
    fn last_values(&self) -> &Mutex<LastValues>;
    /// The random numbers of the session.
    fn chance(&self) -> &Arc<Chance>;
    /// Queues a warning or notice for the client.
    fn say(&self, severity: &'static str, error: Error);
    /// Requests the change of a setting at the end of the running statement.
    fn request_setting(&self, request: SettingRequest);
    /// The value that this statement has requested for a setting, as SHOW prints it.
    fn requested_setting(&self, name: &str) -> Option<String>;
    /// Adds a notification to the transaction.
    ///
    /// # Errors
    /// 22023 for a channel or a payload that is too long.
    fn notify(&self, channel: &str, payload: &str) -> Result<(), Error>;
    /// The channels that the session listens to.
    fn listening_channels(&self) -> Vec<String>;
    /// The number of functions of triggers that are running, one within the other.
    fn trigger_depth(&self) -> i64;
    /// The advisory locks of the session.
    fn advisory(&self) -> &AdvisoryLocks;
    /// Cancels the running statement, if any.
    fn cancel(&self);
    /// Ends the session.
    fn terminate(&self);
}

/// A database, as functions and system tables see it.
pub trait DatabaseContext: fmt::Debug + Send + Sync {
    /// The store of this server.
    fn store(&self) -> &Arc<Store>;
    /// What was found in the data directory; `None` without one.
    fn recovery(&self) -> Option<&Recovery>;
    /// The default bucket size of tables, in bytes.
    fn bucket_size(&self) -> u64;
    /// The statements that are running on this server, by their start.
    fn running(&self) -> Vec<Running>;
    /// The sessions that clients are connected to.
    fn connected_sessions(&self) -> Vec<Arc<dyn SessionContext>>;
    /// The session with a process number, if a client is connected to it.
    fn connected_session(&self, process: i64) -> Option<Arc<dyn SessionContext>>;
    /// The backups and restores of tables that sessions make now.
    fn backups(&self) -> &Backups;
    /// Number of exchanges that are open on this server.
    fn exchange_count(&self) -> usize;
    /// Number of bundles whose rows are stored on this server.
    fn stored_bundle_count(&self) -> usize;
}

/// How far the backups and restores of tables are that sessions make now.
#[derive(Debug, Default)]
pub struct Backups {
    /// By the process number of the session.
    running: Mutex<BTreeMap<u32, Arc<Progress>>>,
}

impl Backups {
    /// Adds one, until the result is dropped.
    pub(crate) fn begin(&self, process: u32, progress: &Arc<Progress>) -> BackupMark<'_> {
        self.running.lock().insert(process, Arc::clone(progress));
        BackupMark { backups: self, process }
    }

    /// How far the one of a session is; `None` if it makes none.
    pub(crate) fn progress(&self, process: u32) -> Option<Arc<Progress>> {
        self.running.lock().get(&process).cloned()
    }
}

/// A running backup or restore of a table.
pub(crate) struct BackupMark<'a> {
    backups: &'a Backups,
    process: u32,
}

impl Drop for BackupMark<'_> {
    fn drop(&mut self) {
        self.backups.running.lock().remove(&self.process);
    }
}

/// The last values that a session got from sequences.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastValues {
    /// The last value of each sequence.
    pub(crate) by_sequence: HashMap<RelationId, i64>,
    /// The sequence that gave the last value.
    pub(crate) last: Option<RelationId>,
}

/// The change of a setting that `set_config` requests.
#[derive(Debug, Clone)]
pub struct SettingRequest {
    /// The setting, in lower case.
    pub name: String,
    /// Its new value.
    pub value: String,
    /// Its new value as SHOW prints it.
    pub shown: Option<String>,
    /// Whether the change ends with the transaction.
    pub is_local: bool,
}

/// A running statement.
#[derive(Debug, Clone)]
pub struct Running {
    /// The number of the statement on this server.
    pub statement: u64,
    /// The number of its session on this server.
    pub session: u64,
    /// The user whose privileges it has.
    pub user: Arc<String>,
    /// Its text.
    pub text: String,
    /// The time of its start.
    pub started: SystemTime,
}

/// The transaction status of a session, which clients get with every answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionStatus {
    /// Outside of a transaction block.
    Idle,
    /// In a transaction block.
    Open,
    /// In a transaction block that can only be rolled back.
    Failed,
}

/// The state of a session.
#[derive(Debug, Clone)]
pub struct Activity {
    /// Whether a client is connected to it.
    pub is_connected: bool,
    /// The address of its client, if that is known.
    pub client: Option<SocketAddr>,
    /// Whether a statement is running.
    pub is_active: bool,
    /// Its transaction status.
    pub status: TransactionStatus,
    /// The text of the running or the last statement.
    pub query: Arc<str>,
    /// The start of that statement.
    pub query_began: Option<SystemTime>,
    /// The start of the open transaction.
    pub transaction_began: Option<SystemTime>,
    /// The last change of the state.
    pub changed: SystemTime,
}

impl Activity {
    /// The column `state` of `pg_stat_activity`.
    pub fn state(&self) -> &'static str {
        match (self.is_active, self.status) {
            (true, _) => "active",
            (false, TransactionStatus::Idle) => "idle",
            (false, TransactionStatus::Open) => "idle in transaction",
            (false, TransactionStatus::Failed) => "idle in transaction (aborted)",
        }
    }
}

/// A prepared statement or cursor.
#[derive(Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The text of the statement that created it.
    pub statement: String,
    /// The search path at that time.
    pub search_path: Vec<String>,
    /// The time of its creation.
    pub made: SystemTime,
    /// Its kind and the properties of this kind.
    pub kind: Kind,
}

/// The kind of an [`Entry`].
#[derive(Debug)]
pub enum Kind {
    /// A prepared statement.
    Prepared {
        /// Whether PREPARE created it, not a message of the protocol.
        from_sql: bool,
        /// The types of its parameters, once they are known.
        parameters: OnceLock<Vec<SqlType>>,
        /// Number of executions.
        executions: AtomicU64,
    },
    /// A cursor.
    Cursor {
        /// Whether it is WITH HOLD.
        holds: bool,
        /// Whether it is BINARY.
        is_binary: bool,
        /// Whether it is SCROLL.
        scrolls: bool,
        /// Whether its transaction has committed: it reads no relations any more.
        is_committed: AtomicBool,
    },
}
