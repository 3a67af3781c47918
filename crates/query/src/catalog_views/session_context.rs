//! What functions and system tables see of the session that runs a statement, and of the database around it.

use super::settings::Settings;
use crate::values::error::Error;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;
use store::Store;
use store::catalog::{Catalog, RelationId, SqlType};

/// A session, as functions and system tables see it.
pub(crate) trait SessionContext: fmt::Debug + Send + Sync {
    /// The database that the session belongs to.
    fn database(&self) -> Arc<dyn DatabaseContext>;
    /// The catalog that the running statement sees.
    fn catalog(&self) -> Arc<Catalog>;
    /// The schemas of the setting `search_path`, as the running statement sees it.
    fn search_path(&self) -> Arc<Vec<String>>;
    /// The schema of the session's temporary relations. It need not exist.
    fn temporary_schema(&self) -> &str;
    /// The user who logged in.
    fn login_user(&self) -> Arc<String>;
    /// The session user: the user who logged in, unless SET SESSION AUTHORIZATION changed it.
    fn session_user(&self) -> Arc<String>;
    /// The current user, whose privileges statements have.
    fn user(&self) -> Arc<String>;
    /// The role that limits what statements may do; `None` if they may do everything.
    fn role(&self) -> Option<Arc<String>>;
    /// The same for some role of the session: `None` for the login role of a session that nobody authenticated.
    fn limited(&self, role: Arc<String>) -> Option<Arc<String>>;
    /// The session's settings now.
    fn settings(&self) -> Arc<Settings>;
    /// The number that identifies the session, which its clients know for cancel requests.
    fn process(&self) -> u32;
    /// When the session began.
    fn begun(&self) -> SystemTime;
    /// What the session is doing.
    fn activity(&self) -> Activity;
    /// The prepared statements and cursors of the session's connection, in order of creation.
    fn named_entries(&self) -> Vec<Arc<Entry>>;
    /// The values that the session last took from sequences.
    fn last_values(&self) -> &Mutex<LastValues>;
    /// Queues a warning or notice for the client.
    fn say(&self, severity: &'static str, error: Error);
    /// Asks for a setting to be changed when the running statement ends.
    fn request_setting(&self, request: SettingRequest);
    /// Cancels the running statement, if any.
    fn cancel(&self);
    /// Ends the session.
    fn terminate(&self);
}

/// A database, as functions and system tables see it.
pub(crate) trait DatabaseContext: fmt::Debug + Send + Sync {
    /// The store of this server.
    fn store(&self) -> &Arc<Store>;
    /// Bytes of a bucket of tables that do not say.
    fn bucket_size(&self) -> u64;
    /// The statements that are running on this server, in order of their start.
    fn running(&self) -> Vec<Running>;
    /// The sessions that clients are connected to.
    fn connected_sessions(&self) -> Vec<Arc<dyn SessionContext>>;
    /// The session with a process number, if a client is connected to it.
    fn connected_session(&self, process: i64) -> Option<Arc<dyn SessionContext>>;
    /// Number of exchanges that are open on this server.
    fn exchange_count(&self) -> usize;
    /// Number of bundles whose rows are stored on this server.
    fn stored_bundle_count(&self) -> usize;
}

/// The values that a session last took from sequences.
#[derive(Debug, Default)]
pub(crate) struct LastValues {
    /// By sequence.
    pub(crate) by_sequence: HashMap<RelationId, i64>,
    /// The last one from any sequence.
    pub(crate) last: Option<i64>,
}

/// A change of a setting that `set_config` asks for.
#[derive(Debug, Clone)]
pub(crate) struct SettingRequest {
    /// The setting, in lower case.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: String,
    /// Whether the change ends with the transaction.
    pub(crate) is_local: bool,
}

/// A statement that is running.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    /// The number of the statement on this server.
    pub(crate) statement: u64,
    /// The number of its session on this server.
    pub(crate) session: u64,
    /// Whose rights it has.
    pub(crate) user: Arc<String>,
    pub(crate) text: String,
    pub(crate) started: SystemTime,
}

/// Whether a transaction is open, as clients are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionStatus {
    /// Each statement commits by itself.
    Idle,
    /// Inside a transaction.
    Open,
    /// Inside a transaction that can only be rolled back.
    Failed,
}

/// What a session is doing.
#[derive(Debug, Clone)]
pub(crate) struct Activity {
    pub(crate) is_connected: bool,
    pub(crate) client: Option<SocketAddr>,
    /// Whether a statement is running.
    pub(crate) is_active: bool,
    pub(crate) status: TransactionStatus,
    /// The statement that is running, or was last.
    pub(crate) query: Arc<str>,
    pub(crate) query_began: Option<SystemTime>,
    pub(crate) transaction_began: Option<SystemTime>,
    pub(crate) changed: SystemTime,
}

impl Activity {
    /// As `pg_stat_activity` says it.
    pub(crate) fn state(&self) -> &'static str {
        match (self.is_active, self.status) {
            (true, _) => "active",
            (false, TransactionStatus::Idle) => "idle",
            (false, TransactionStatus::Open) => "idle in transaction",
            (false, TransactionStatus::Failed) => "idle in transaction (aborted)",
        }
    }
}

/// Something under a name.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// The statement that made it.
    pub(crate) statement: String,
    pub(crate) made: SystemTime,
    pub(crate) kind: Kind,
}

/// What is under a name.
#[derive(Debug)]
pub(crate) enum Kind {
    Prepared {
        /// Whether PREPARE made it, and not a message.
        from_sql: bool,
        /// The types of its parameters, once they are known.
        parameters: OnceLock<Vec<SqlType>>,
        executions: AtomicU64,
    },
    Cursor {
        holds: bool,
        is_binary: bool,
        scrolls: bool,
    },
}
