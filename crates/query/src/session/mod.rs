//! A session: what one client has open. Settings, a transaction, prepared statements, the running query.
//!
//! What runs statements comes as a boxed future: the compiler translates an `async fn` with all that it awaits
//! again in each crate that awaits it.

mod apart;
mod cancel;
pub(crate) mod context;
mod control;
mod copying;
mod describe;
mod execute;
mod explain;
pub(crate) mod listed;
mod outcome_stream;
mod places;
mod prepared;
pub(crate) mod presence;
mod reach;
pub(crate) mod run;
mod series;
pub(crate) mod settings;
pub(crate) mod temporary;
pub(crate) mod transactions;

pub use cancel::CancelHandle;
pub(crate) use catalog_views::session_context::TransactionStatus;
pub(crate) use context::Context;
pub use context::Notice;
pub use control::Control;
pub use describe::{Description, parameter_of_text};
pub use listed::Listing;
pub use prepared::Prepared;
pub use presence::activity_text;

use crate::database::Shared;
use crate::outcome::{Outcome, Progress, Rows};
use crate::roles;
use arc_swap::ArcSwap;
use catalog_views::Origin;
use catalog_views::access::Access;
use catalog_views::functions::Functions;
use catalog_views::search_path::SearchPath;
use catalog_views::session_context::{DatabaseContext, SessionContext};
use catalog_views::settings::{Settings, values_of};
use datafusion::common::ScalarValue;
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::physical_plan::memory::MemoryStream;
use distributed::bundles::Bundling;
use futures::TryStreamExt;
use futures::future::BoxFuture;
use listed::Listed;
use parking_lot::Mutex;
use parser::Statement;
use parser::roles::RoleName;
use planner::Planner;
use presence::Presence;
use scan::portable::Portable;
use scan::shipping::Shipping;
use scan::tables::Tables;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use store::DistributedTransaction;
use store::catalog::{Catalog, Object, temporary_schema};
use transactions::Conversation;
use values::error::{Error, Result, SqlState};
use values::style::Style;

/// Called with how far a load has come.
pub type ProgressCallback = Arc<dyn Fn(Progress) + Send + Sync>;

/// A session. A clone is another handle on the same one; statements run one at a time.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

/// The settings that somebody has looked at.
#[derive(Debug, Default)]
pub struct SettingsSeen(Option<Arc<Settings>>);

/// The session's state.
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) number: u64,
    pub(crate) conversation: tokio::sync::Mutex<Conversation>,
    pub(crate) settings: Arc<ArcSwap<Settings>>,
    /// What the settings were when the session began: RESET goes back to it.
    first_settings: ArcSwap<Settings>,
    progress: Mutex<Option<ProgressCallback>>,
    pub(crate) context: Arc<Context>,
}

/// One running statement's surroundings.
pub(crate) struct Frame<'a> {
    pub(crate) session: &'a Inner,
    engine: OnceLock<SessionState>,
    pub(crate) functions: Functions<'a>,
    pub(crate) settings: Arc<Settings>,
    /// Whose rights the statement has; `None` may do everything.
    role: Option<Arc<String>>,
    pub(crate) parameters: &'a [ScalarValue],
    pub(crate) text: &'a str,
}

impl Session {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let settings = Arc::new(ArcSwap::from_pointee(Settings::default()));
        let presence = Presence::new(&shared);
        let context = Arc::new(Context {
            catalog: ArcSwap::new(shared.store.catalog()),
            search_path: ArcSwap::from_pointee(settings.load().search_path.clone()),
            login_user: ArcSwap::new(Arc::clone(&settings.load().session_user)),
            authenticated: AtomicBool::new(false),
            settings: Arc::clone(&settings),
            temporary: temporary_schema(presence.process),
            presence,
            listed: Listed::default(),
            notices: Mutex::default(),
            requested_settings: Mutex::default(),
            last_values: Mutex::default(),
            shared: Arc::clone(&shared),
        });
        shared.sessions.put(&context);
        Self(Arc::new(Inner {
            number: shared.next_number(),
            conversation: tokio::sync::Mutex::new(Conversation::new(Arc::clone(&settings))),
            first_settings: ArcSwap::new(settings.load_full()),
            settings,
            progress: Mutex::new(None),
            context,
            shared,
        }))
    }

    /// Splits a script into statements and parses them.
    ///
    /// # Errors
    /// 42601; positions count from the script's beginning.
    pub fn parse(&self, script: &str) -> Result<Vec<Statement>> {
        parser::parse(script)
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
        match self.run(&parser::one(sql)?, parameters).await? {
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
        Ok(Prepared::new(self.clone(), parser::one(sql)?))
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
    pub fn load<'a>(
        &'a self,
        table: &'a str,
        batches: SendableRecordBatchStream,
    ) -> BoxFuture<'a, Result<u64>> {
        Box::pin(self.0.load(table, batches))
    }

    /// The simulator's plan of a query, which is run once on one thread: its operators have the rows that they really had.
    ///
    /// # Errors
    /// As [`Self::query`]; 0A000 for operators that the simulator does not have.
    pub fn plan_to_predict<'a>(&'a self, sql: &'a str) -> BoxFuture<'a, Result<dbsim::Plan>> {
        Box::pin(self.0.plan_to_predict(sql))
    }

    /// A handle that cancels the running statement, from any thread.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.0.context.presence.cancellation.handle()
    }

    /// The catalog as the last statement saw it.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.0.context.catalog.load_full()
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
    ///
    /// # Errors
    /// 08006 where the server that tells the time cannot be reached.
    pub async fn begin_implicit(&self) -> Result<()> {
        let mut conversation = self.0.conversation.lock().await;
        conversation.begin_implicit(&self.0.shared.store).await
    }

    /// Commits the transaction that [`Self::begin_implicit`] began, or undoes it if a statement has failed.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub async fn end_implicit(&self) -> Result<()> {
        let mut conversation = self.0.conversation.lock().await;
        if conversation.is_implicit() {
            conversation.commit().await?;
        }
        Ok(())
    }

    /// A statement whose rows were left for a while goes on: it can be cancelled, and has its time.
    pub fn resume(&self, rows: &Rows) {
        if let Some(token) = rows.control.resume(self.0.settings.load().statement_timeout) {
            self.0.context.presence.cancellation.resume(token);
        }
    }

    /// A statement's rows are left for a while: until [`Self::resume`] its time stands still.
    pub fn pause(&self, rows: &Rows) {
        rows.control.pause();
        self.0.context.presence.cancellation.begin();
    }

    /// Marks the open transaction as failed: a message around a statement was wrong.
    pub async fn fail(&self) {
        self.0.conversation.lock().await.fail();
        self.0.context.requested_settings.lock().clear();
    }

    /// Everything that has come is answered: what functions have set is taken over.
    pub async fn settle(&self) -> TransactionStatus {
        let mut conversation = self.0.conversation.lock().await;
        self.0.apply_requested_settings(&mut conversation);
        conversation.status()
    }

    /// Whether settings have changed since the last call with the same `seen`.
    pub fn settings_changed(&self, seen: &mut SettingsSeen) -> bool {
        let now = self.0.settings.load();
        if seen.0.as_ref().is_some_and(|seen| Arc::ptr_eq(seen, &now)) {
            return false;
        }
        seen.0 = Some(Arc::clone(&now));
        true
    }

    /// What statements had to say since the last call.
    pub fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.0.context.notices.lock())
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
        settings.set(name, &values_of(name, value))?;
        let settings = Arc::new(settings);
        self.0.first_settings.store(Arc::clone(&settings));
        self.0.settings.store(settings);
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

    /// Says who the session belongs to, and whether that has been proven. Who was let in without a proof may
    /// do everything.
    pub fn log_in(&self, user: &str, authenticated: bool) {
        let context = &self.0.context;
        let user = Arc::new(user.to_owned());
        context.login_user.store(Arc::clone(&user));
        let mut settings = Settings::clone(&self.0.settings.load());
        settings.session_user = user;
        let settings = Arc::new(settings);
        self.0.first_settings.store(Arc::clone(&settings));
        self.0.settings.store(settings);
        context.authenticated.store(authenticated, Ordering::Relaxed);
    }

    /// Who the session belongs to.
    pub fn user(&self) -> String {
        self.0.context.session_user().to_string()
    }

    /// Whether the session may do everything.
    pub fn is_superuser(&self) -> bool {
        self.0.context.is_superuser()
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.0
    }
}

impl Inner {
    pub(crate) fn frame<'a>(&'a self, parameters: &'a [ScalarValue], text: &'a str) -> Frame<'a> {
        let settings = self.settings.load_full();
        let functions =
            Functions::new(&self.shared.engine.functions, Arc::clone(&self.context) as _);
        let (engine, role) = (OnceLock::new(), self.context.role());
        Frame { session: self, engine, functions, settings, role, parameters, text }
    }

    pub(crate) fn report(&self, progress: Progress) {
        if let Some(callback) = &*self.progress.lock() {
            callback(progress);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        temporary::end(&self.shared.store, &self.context.temporary);
        self.shared.sessions.remove(self.context.presence.process);
    }
}

impl Frame<'_> {
    /// The engine's state for this statement, copied when it is first asked for: many statements go without.
    pub(crate) fn engine(&self) -> &SessionState {
        self.engine.get_or_init(|| {
            let settings = Arc::clone(&self.settings);
            let engine = &self.session.shared.engine.for_statement;
            let mut engine = match Bundling::of(|name| settings.get(name)) {
                Some(bundling) => bundling.engine(engine),
                None => engine.clone(),
            };
            engine.mark_start_execution();
            let shared: Arc<dyn DatabaseContext> = Arc::clone(&self.session.shared) as _;
            let shared = Arc::downgrade(&shared);
            if settings.style() != Style::default() {
                settings.style().store_in(engine.config_mut().options_mut());
            }
            let partitions = engine.config().target_partitions();
            if let Some(portable) = engine.config().get_extension::<Portable>() {
                let shipping = Shipping::new(portable, partitions, |name| settings.get(name));
                engine.config_mut().set_extension(Arc::new(shipping));
            }
            let session: Arc<dyn SessionContext> = Arc::clone(&self.session.context) as _;
            catalog_views::install(engine.config_mut(), Origin { shared, session, settings });
            engine
        })
    }

    /// Where the statement's names are looked up.
    pub(crate) fn path(&self) -> SearchPath<'_> {
        SearchPath::new(&self.settings.search_path, &self.session.context.temporary)
    }

    /// What the statement may do.
    pub(crate) fn access<'b>(&'b self, catalog: &'b Catalog) -> Access<'b> {
        Access::new(catalog, self.role.as_deref().map(String::as_str))
    }

    /// Makes whoever runs the statement the owner of something.
    pub(crate) fn own(
        &self,
        transaction: &mut DistributedTransaction,
        object: Object,
    ) -> Result<()> {
        let user = self.session.context.user();
        let known = transaction.catalog().role(&user).is_some();
        roles::own(transaction, known.then_some(user.as_str()), object)
    }

    /// The name of a role as a statement names it.
    pub(crate) fn role_named(&self, name: &RoleName) -> Result<String> {
        let context = &self.session.context;
        match name {
            RoleName::Named(name) => Ok(name.clone()),
            RoleName::Current => Ok(context.user().to_string()),
            RoleName::Session => Ok(context.session_user().to_string()),
            RoleName::Public => {
                let message = "role \"public\" does not exist";
                Err(Error::new(SqlState::UndefinedObject, message))
            }
        }
    }

    /// Whether a name is that of whoever runs the statement.
    pub(crate) fn is_me(&self, name: &str) -> bool {
        let context = &self.session.context;
        *context.user() == name || *context.session_user() == name
    }

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
        Planner::new(
            self.engine(),
            &self.functions,
            self.access(tables.catalog()),
            tables,
            self.path(),
            self.parameters,
        )
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
