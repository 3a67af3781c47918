//! A session: what one client has open. Settings, a transaction, prepared statements, the running query.

mod apart;
mod cancel;
mod copying;
mod describe;
mod outcome_stream;
mod prepared;
pub(crate) mod run;
pub(crate) mod settings;
mod transactions;

pub use cancel::CancelHandle;
pub use describe::{Description, parameter_of_text};
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

/// Who a session belongs to that nobody has logged in to.
const DEFAULT_USER: &str = "pando";

/// Called with how far a load has come.
pub type ProgressCallback = Arc<dyn Fn(Progress) + Send + Sync>;

/// A session. A clone is another handle on the same one; statements run one at a time.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

/// What a statement has to say beside its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// `NOTICE` or `WARNING`.
    pub severity: &'static str,
    /// Code and text; nothing has failed.
    pub error: Error,
}

/// The session's state.
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) number: u64,
    engine: SessionState,
    pub(crate) conversation: tokio::sync::Mutex<Conversation>,
    pub(crate) settings: ArcSwap<Settings>,
    cancellation: Cancellation,
    progress: Mutex<Option<ProgressCallback>>,
    /// Rows that were still being read have ended with an error: the transaction has failed.
    stream_failed: AtomicBool,
    notices: Mutex<Vec<Notice>>,
    pub(crate) names: Arc<Names>,
}

/// What functions need to know of their session.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) shared: Arc<Shared>,
    /// The catalog that the running statement sees.
    pub(crate) catalog: ArcSwap<Catalog>,
    pub(crate) search_path: ArcSwap<Vec<String>>,
    /// Who the session belongs to.
    pub(crate) user: ArcSwap<String>,
    /// What `set_config` asked for since the last statement began.
    pub(crate) asked_settings: Mutex<Vec<(String, String)>>,
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
            user: ArcSwap::from_pointee(DEFAULT_USER.to_owned()),
            asked_settings: Mutex::default(),
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
            notices: Mutex::default(),
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

    async fn run_here(&self, statement: &Statement, parameters: &[ScalarValue]) -> Result<Outcome> {
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
        Ok(Prepared::new(self.clone(), self.parse_one(sql)?))
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

    /// A statement that has been parsed, to be executed many times.
    pub fn prepare_statement(&self, statement: Statement) -> Prepared {
        Prepared::new(self.clone(), statement)
    }

    /// Refuses what cannot be done in a transaction that has failed.
    ///
    /// # Errors
    /// 25P02.
    pub async fn refuse_if_failed(&self) -> Result<()> {
        self.0.conversation.lock().await.refuse_if_failed()
    }

    /// Begins a transaction for statements that a client sends together, unless one is open. It ends with
    /// [`Self::end_implicit`], or becomes an ordinary one by BEGIN.
    pub async fn begin_implicit(&self) {
        let mut conversation = self.0.conversation.lock().await;
        conversation.begin_implicit(|| self.0.shared.store.begin());
    }

    /// Commits the transaction that [`Self::begin_implicit`] began, or undoes it if a statement has failed.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub async fn end_implicit(&self) -> Result<()> {
        let mut conversation = self.0.conversation.lock().await;
        if conversation.is_implicit() {
            if self.0.stream_failed.swap(false, std::sync::atomic::Ordering::Relaxed) {
                conversation.fail();
            }
            conversation.commit()?;
        }
        Ok(())
    }

    /// Marks the open transaction as failed: a message around a statement was wrong.
    pub async fn fail(&self) {
        self.0.conversation.lock().await.fail();
    }

    /// What statements had to say since the last call.
    pub fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.0.notices.lock())
    }

    /// The value of a setting, by its lower-case name.
    pub fn setting(&self, name: &str) -> Option<String> {
        self.0.settings.load().get(name)
    }

    /// Sets what a client asks for when it connects; what is not known is passed over.
    ///
    /// # Errors
    /// 22023 for values that cannot be.
    pub fn set_at_startup(&self, name: &str, value: &str) -> Result<()> {
        let mut settings = Settings::clone(&self.0.settings.load());
        let known = settings.get(name).is_some() || name.contains('.');
        // A time zone is asked for by every client of some kinds: see `set_time_zone`.
        if !known || name == "timezone" {
            return Ok(());
        }
        let values: Vec<String> = match name {
            "search_path" => value.split(',').map(|part| part.trim().replace('"', "")).collect(),
            _ => vec![value.to_owned()],
        };
        settings.set(name, &values)?;
        self.0.settings.store(Arc::new(settings));
        Ok(())
    }

    /// After how long without a statement the session ends inside a transaction.
    pub fn idle_in_transaction_timeout(&self) -> Option<std::time::Duration> {
        self.0.settings.load().idle_in_transaction_timeout
    }

    /// After how long without a statement the session ends.
    pub fn idle_timeout(&self) -> Option<std::time::Duration> {
        self.0.settings.load().idle_timeout
    }

    /// Says who the session belongs to.
    pub fn log_in(&self, user: &str) {
        self.0.names.user.store(Arc::new(user.to_owned()));
    }

    /// Who the session belongs to.
    pub fn user(&self) -> String {
        String::clone(&self.0.names.user.load())
    }

    /// Whether the session may do everything.
    pub fn is_superuser(&self) -> bool {
        let catalog = self.0.shared.store.catalog();
        let user = self.0.names.user.load();
        catalog.roles().len() == 0 || catalog.role(&user).is_some_and(|role| role.superuser)
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.0
    }
}

impl Inner {
    pub(crate) fn frame<'a>(&'a self, parameters: &'a [ScalarValue], text: &'a str) -> Frame<'a> {
        let mut engine = self.engine.clone();
        engine.mark_start_execution();
        functions::catalog::apply_settings(&self.names, &self.settings);
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
    /// Tells the client that something exists already and nothing was done.
    pub(crate) fn skip_existing(&self, state: SqlState, kind: &str, name: &str) {
        self.session.notice(state, format!("{kind} \"{name}\" already exists, skipping"));
    }

    /// Tells the client that something does not exist and nothing was done.
    pub(crate) fn skip_missing(&self, kind: &str, name: &str) {
        let state = SqlState::SuccessfulCompletion;
        self.session.notice(state, format!("{kind} \"{name}\" does not exist, skipping"));
    }

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
