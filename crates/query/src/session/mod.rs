//! A session of one client: settings, a transaction, prepared statements, the running statement.
//!
//! Methods that execute statements return boxed futures: the compiler would translate an `async fn`, with all that it
//! awaits, again in each crate that calls it.

mod client_copy;
mod cursors;
mod describe;
mod execute;
mod explain;
pub(crate) mod listed;
mod on_executor;
mod outcome_stream;
mod plain;
mod prepared;
pub(crate) mod presence;
pub(crate) mod procedural;
mod reach;
pub(crate) mod run;
pub(crate) mod settings;
mod temporary;

pub use describe::Description;
pub use listed::Listing;
pub use prepared::Prepared;
pub use presence::activity_text;

use crate::context::cancel::CancelHandle;
use crate::context::outcome::{Outcome, Rows};
use crate::context::session_context::Notice;
use crate::context::{Inner, ProgressCallback, Shared};
use catalog_views::session_context::LastValues;
use catalog_views::session_context::{SessionContext, TransactionStatus};
use catalog_views::settings::{Settings, values_of};
use datafusion::common::ScalarValue;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::memory::MemoryStream;
use executor::Control;
use futures::TryStreamExt;
use futures::future::BoxFuture;
use notifications::Notification;
use parser::Statement;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::catalog::Catalog;
use values::error::{Error, Result, SqlState};
use values::style::Style;

/// Bytes of a script that is parsed by an executor: parsing it takes longer than passing it on.
const LONG_SCRIPT: usize = 16 << 10;

/// A session. A clone is another handle on the same one; statements run one at a time.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

/// The settings at an earlier [`Session::settings_changed`].
#[derive(Debug, Default)]
pub struct SettingsSeen(Option<Arc<Settings>>);

impl Session {
    /// A new session of a database.
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self(Inner::open(shared, crate::calls::user_functions, procedural::run_trigger))
    }

    /// Splits a script into statements and parses them.
    ///
    /// # Errors
    /// 42601; positions count from the script's beginning.
    pub async fn parse(&self, script: &str) -> Result<Vec<Statement>> {
        if script.len() < LONG_SCRIPT {
            return parser::parse(script);
        }
        let script = script.to_owned();
        self.on_executor(|_, _| async move { parser::parse(&script) }).await
    }

    /// Runs the statements of a script in turn, and collects their rows.
    ///
    /// # Errors
    /// The first error ends the script.
    pub async fn execute(&self, script: &str) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        for statement in self.parse(script).await? {
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
    /// 40001 if another transaction wrote the same rows first; nothing is changed then.
    pub async fn commit(&self) -> Result<()> {
        self.execute("COMMIT").await.map(drop)
    }

    /// Rolls the transaction back.
    ///
    /// # Errors
    /// As other statements.
    pub async fn rollback(&self) -> Result<()> {
        self.execute("ROLLBACK").await.map(drop)
    }

    /// Appends batches to a table, all or nothing. Columns are matched by name. Returns the number of rows.
    ///
    /// # Errors
    /// As INSERT.
    pub fn load<'a>(
        &'a self,
        table: &'a str,
        batches: SendableRecordBatchStream,
    ) -> BoxFuture<'a, Result<u64>> {
        let table = table.to_owned();
        Box::pin(self.on_executor(|session, control| async move {
            session.0.load(&table, batches, &control).await
        }))
    }

    /// The simulator's plan of a query. The query is executed once on one thread, to count the rows of its operators.
    ///
    /// # Errors
    /// As [`Self::query`]; 0A000 for operators that the simulator does not have.
    pub fn plan_to_predict<'a>(&'a self, sql: &'a str) -> BoxFuture<'a, Result<dbsim::Plan>> {
        let sql = sql.to_owned();
        Box::pin(
            self.on_executor(|session, _| async move { session.0.plan_to_predict(&sql).await }),
        )
    }

    /// A handle that cancels the running statement from any thread.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.0.context.presence.cancellation.handle()
    }

    /// The catalog that the last statement saw.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.0.context.catalog.load_full()
    }

    /// Whether a transaction is open.
    pub fn transaction_status(&self) -> TransactionStatus {
        self.0.conversation.status()
    }

    /// Sets the callback for the progress of loads.
    pub fn on_progress(&self, callback: Option<ProgressCallback>) {
        *self.0.progress.lock() = callback;
    }

    /// Prepares a parsed statement, to be executed many times.
    pub fn prepare_statement(&self, statement: Statement) -> Prepared {
        Prepared::new(self.clone(), statement)
    }

    /// Refuses statements in a failed transaction.
    ///
    /// # Errors
    /// 25P02.
    pub fn refuse_if_failed(&self) -> Result<()> {
        self.0.conversation.refuse_if_failed()
    }

    /// Begins a transaction for statements that a client sends together, unless one is open. [`Self::end_implicit`] ends it;
    /// BEGIN makes it an ordinary one.
    ///
    /// # Errors
    /// 08006 if the cluster's root cannot be reached for a timestamp.
    pub async fn begin_implicit(&self) -> Result<()> {
        let mut conversation = self.0.conversation.lock().await;
        self.0.close_with_transaction(&conversation);
        conversation.begin_implicit(&self.0.shared.store).await
    }

    /// Commits the transaction that [`Self::begin_implicit`] began, or rolls it back if a statement has failed.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub async fn end_implicit(&self) -> Result<()> {
        let current = &self.0.conversation;
        if !current.is_implicit() || current.leave_failed(&self.0.settings) {
            return Ok(());
        }
        let mut conversation = current.lock().await;
        if conversation.has_unchecked() || !self.0.context.held.nothing_waits() {
            let control = self.0.begin_statement();
            let checked = tokio::select! {
                biased;
                ended = control.ended() => Err(ended),
                checked = self.0.check_deferred(&mut conversation) => checked,
            };
            checked.inspect_err(|_| conversation.rollback())?;
        }
        conversation.commit(&Control::default()).await.map(drop)
    }

    /// Continues a statement after [`Self::pause`]: it can be cancelled, and its time runs again.
    pub fn resume(&self, rows: &Rows) {
        if let Some(token) = rows.control.resume(self.0.settings.load().statement_timeout) {
            self.0.context.presence.cancellation.resume(token);
        }
    }

    /// Pauses a statement whose rows are not read for a while: its time stops until [`Self::resume`].
    pub fn pause(&self, rows: &Rows) {
        rows.control.pause();
        self.0.context.presence.cancellation.begin();
    }

    /// Marks the open transaction as failed, after an invalid message of the client.
    pub fn fail(&self) {
        if self.transaction_status() == TransactionStatus::Idle {
            self.0.context.announcements.rolled_back();
        }
        self.0.conversation.fail();
        self.0.context.requested_settings.lock().clear();
    }

    /// Applies settings that functions have changed, once all received messages are answered.
    pub fn settle(&self) -> TransactionStatus {
        // A statement that was abandoned in a transaction may still use it. Then the next statement applies them.
        if let Some(mut conversation) = self.0.conversation.try_lock() {
            self.0.apply_requested_settings(&mut conversation);
        }
        self.0.conversation.status()
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

    /// Releases all advisory locks of the session.
    pub async fn release_advisory_locks(&self) {
        self.0.context.advisory.release_all().await;
    }

    /// Publishes what committed transactions have notified, to the sessions that listen on all servers. Waits until advisory
    /// locks that have ended are free for sessions of other servers.
    pub async fn announce(&self) {
        self.0.context.advisory.released().await;
        let announcements = &self.0.context.announcements;
        if announcements.is_empty() {
            return;
        }
        if self.transaction_status() == TransactionStatus::Idle {
            announcements.committed();
        }
        let shared = &self.0.shared;
        let published = announcements.publish(&shared.hub, self.0.context.presence.process);
        if !published.is_empty()
            && let Some(peers) = shared.store.peers()
        {
            peers.publish(notifications::encode(&published).into()).await;
        }
    }

    /// The notifications that the session has received, in order.
    pub fn take_notifications(&self) -> Vec<Notification> {
        self.0.context.announcements.mailbox.take()
    }

    /// Waits for notifications. May return early.
    pub async fn notified(&self) {
        self.0.context.announcements.mailbox.arrived().await;
    }

    /// The warnings and notices since the last call.
    pub fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.0.context.notices.lock())
    }

    /// The value of a setting, by its lower-case name.
    pub fn setting(&self, name: &str) -> Option<String> {
        self.0.settings.load().get(name)
    }

    /// How the session reads and writes values.
    pub fn style(&self) -> Style {
        self.0.settings.load().style()
    }

    /// Sets a setting that a client asks for when it connects. Unknown settings are ignored.
    ///
    /// # Errors
    /// 22023 for invalid values.
    pub fn set_at_startup(&self, name: &str, value: &str) -> Result<()> {
        let mut settings = Settings::clone(&self.0.settings.load());
        let known = settings.get(name).is_some() || name.contains('.');
        if !known {
            return Ok(());
        }
        settings.set(name, &values_of(name, value)?)?;
        let settings = Arc::new(settings);
        self.0.first_settings.store(Arc::clone(&settings));
        self.0.settings.store(settings);
        Ok(())
    }

    /// Idle time inside a transaction after which the session ends.
    pub fn idle_in_transaction_timeout(&self) -> Option<std::time::Duration> {
        self.0.settings.load().idle_in_transaction_timeout
    }

    /// Idle time after which the session ends.
    pub fn idle_timeout(&self) -> Option<std::time::Duration> {
        self.0.settings.load().idle_timeout
    }

    /// Forgets the last values of sequences, which `currval` and `lastval` return.
    pub fn forget_sequences(&self) {
        *self.0.context.last_values.lock() = LastValues::default();
    }

    /// Sets the user of the session. A user that was admitted without authentication may do everything.
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

    /// The session user.
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

/// The same outcome, with its rows collected.
async fn gather(outcome: Outcome) -> Result<Outcome> {
    let Outcome::Rows(rows) = outcome else { return Ok(outcome) };
    let schema = rows.stream.schema();
    let batches = rows.stream.try_collect().await?;
    let stream = Box::pin(MemoryStream::try_new(batches, schema, None)?);
    Ok(Outcome::Rows(Rows { stream, ..rows }))
}
