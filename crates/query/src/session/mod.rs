//! A session: what one client has open. Settings, a transaction, prepared statements, the running query.

mod cancel;
mod outcome_stream;
mod prepared;
pub(crate) mod run;
pub(crate) mod settings;
mod transactions;

pub use cancel::CancelHandle;
pub use prepared::Prepared;
pub use transactions::TransactionStatus;

use crate::database::Shared;
use crate::error::{Error, Result, SqlState};
use crate::functions;
use crate::outcome::{Outcome, Progress, Rows};
use crate::parse::{self, Statement};
use crate::planner::Planner;
use crate::planner::relations::Tables;
use crate::system::{self, Origin};
use arc_swap::ArcSwap;
use cancel::Cancellation;
use datafusion::common::ScalarValue;
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::physical_plan::memory::MemoryStream;
use futures::TryStreamExt;
use parking_lot::Mutex;
use settings::Settings;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store::catalog::{Catalog, RelationId};
use transactions::Conversation;

/// Called with how far a load has come.
pub type ProgressCallback = Arc<dyn Fn(Progress) + Send + Sync>;

/// A session. A clone is another handle on the same one; statements run one at a time.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

/// The session's state.
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) number: u64,
    engine: SessionState,
    conversation: tokio::sync::Mutex<Conversation>,
    pub(crate) settings: ArcSwap<Settings>,
    cancellation: Cancellation,
    progress: Mutex<Option<ProgressCallback>>,
    /// Rows that were still being read have ended with an error: the transaction has failed.
    stream_failed: AtomicBool,
    pub(crate) names: Arc<Names>,
}

/// What functions need to know of their session.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) shared: Arc<Shared>,
    /// The catalog that the running statement sees.
    pub(crate) catalog: ArcSwap<Catalog>,
    pub(crate) search_path: ArcSwap<Vec<String>>,
    /// What this session last got from each sequence, and from any.
    pub(crate) last_values: Mutex<(HashMap<RelationId, i64>, Option<i64>)>,
}

/// One running statement's surroundings.
pub(crate) struct Frame<'a> {
    pub(crate) session: &'a Inner,
    pub(crate) engine: SessionState,
    pub(crate) settings: Arc<Settings>,
    pub(crate) parameters: &'a [ScalarValue],
    pub(crate) text: &'a str,
}

impl Session {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let settings = Settings::default();
        let names = Arc::new(Names {
            catalog: ArcSwap::new(shared.store.catalog()),
            search_path: ArcSwap::from_pointee(settings.search_path.clone()),
            last_values: Mutex::default(),
            shared: Arc::clone(&shared),
        });
        let mut engine = shared.engine.clone();
        functions::register_for_session(&mut engine, &names);
        Self(Arc::new(Inner {
            number: shared.next_number(),
            engine,
            conversation: tokio::sync::Mutex::new(Conversation::default()),
            settings: ArcSwap::from_pointee(settings),
            cancellation: Cancellation::default(),
            progress: Mutex::new(None),
            stream_failed: AtomicBool::new(false),
            names,
            shared,
        }))
    }

    /// Splits a script into statements and parses them.
    ///
    /// # Errors
    /// 42601; positions count from the script's beginning.
    pub fn parse(&self, script: &str) -> Result<Vec<Statement>> {
        parse::parse(script)
    }

    /// Runs one statement. Parameters are `$1`, `$2`, ...
    ///
    /// # Errors
    /// Everything that SQL can be answered with; positions count from the statement's beginning.
    pub async fn run(&self, statement: &Statement, parameters: &[ScalarValue]) -> Result<Outcome> {
        self.0.run(&self.0, statement, parameters).await
    }

    /// Runs the statements of a script one after the other; rows are gathered.
    ///
    /// # Errors
    /// The first error ends the script.
    pub async fn execute(&self, script: &str) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        for statement in self.parse(script)? {
            outcomes.push(gather(self.run(&statement, &[]).await?).await?);
        }
        Ok(outcomes)
    }

    /// Runs one statement that gives rows.
    ///
    /// # Errors
    /// As [`Self::run`]; 42601 unless there is exactly one statement and it gives rows.
    pub async fn query(&self, sql: &str) -> Result<Rows> {
        self.query_with(sql, &[]).await
    }

    /// Runs one statement with parameters that gives rows.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub async fn query_with(&self, sql: &str, parameters: &[ScalarValue]) -> Result<Rows> {
        match self.run(&self.parse_one(sql)?, parameters).await? {
            Outcome::Rows(rows) => Ok(rows),
            Outcome::Done(tag) => {
                Err(Error::new(SqlState::SyntaxError, format!("{} gives no rows", tag.command)))
            }
        }
    }

    /// Parses and plans a statement once, to be executed many times.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub async fn prepare(&self, sql: &str) -> Result<Prepared> {
        Prepared::new(self.clone(), self.parse_one(sql)?)
    }

    fn parse_one(&self, sql: &str) -> Result<Statement> {
        let mut statements = self.parse(sql)?;
        match (statements.pop(), statements.is_empty()) {
            (Some(statement), true) => Ok(statement),
            _ => Err(Error::new(SqlState::SyntaxError, "expected exactly one statement")),
        }
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// 25001 inside a transaction.
    pub async fn begin(&self) -> Result<()> {
        self.execute("BEGIN").await.map(drop)
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// 40001 where another transaction wrote the same rows first; nothing has changed then.
    pub async fn commit(&self) -> Result<()> {
        self.execute("COMMIT").await.map(drop)
    }

    /// Undoes the transaction.
    ///
    /// # Errors
    /// None that a user can cause.
    pub async fn rollback(&self) -> Result<()> {
        self.execute("ROLLBACK").await.map(drop)
    }

    /// Appends batches to a table, all or nothing. Columns go by name; how many rows comes back.
    ///
    /// # Errors
    /// As INSERT.
    pub async fn load(&self, table: &str, batches: SendableRecordBatchStream) -> Result<u64> {
        self.0.load(table, batches).await
    }

    /// A handle that cancels the running statement, from any thread.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.0.cancellation.handle()
    }

    /// The catalog as the last statement saw it.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.0.names.catalog.load_full()
    }

    /// Whether a transaction is open.
    pub async fn transaction_status(&self) -> TransactionStatus {
        self.0.conversation.lock().await.status()
    }

    /// Sets who is told how far loads have come.
    pub fn on_progress(&self, callback: Option<ProgressCallback>) {
        *self.0.progress.lock() = callback;
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.0
    }
}

impl Inner {
    pub(crate) fn frame<'a>(&'a self, parameters: &'a [ScalarValue], text: &'a str) -> Frame<'a> {
        let mut engine = self.engine.clone();
        engine.mark_start_execution();
        let settings = self.settings.load_full();
        let shared = Arc::downgrade(&self.shared);
        system::install(engine.config_mut(), Origin { shared, settings: settings.all() });
        Frame { session: self, engine, settings, parameters, text }
    }

    pub(crate) fn report(&self, progress: Progress) {
        if let Some(callback) = &*self.progress.lock() {
            callback(progress);
        }
    }
}

impl Frame<'_> {
    /// A planner for this statement over some tables.
    pub(crate) fn planner<'b>(&'b self, tables: &'b dyn Tables) -> Planner<'b> {
        Planner::new(&self.engine, tables, &self.settings.search_path, self.parameters)
            .with_text(self.text)
    }
}

/// The same outcome with its rows computed.
async fn gather(outcome: Outcome) -> Result<Outcome> {
    let Outcome::Rows(rows) = outcome else { return Ok(outcome) };
    let schema = rows.stream.schema();
    let batches = rows.stream.try_collect().await?;
    let stream = Box::pin(MemoryStream::try_new(batches, schema, None)?);
    Ok(Outcome::Rows(Rows { stream, ..rows }))
}
