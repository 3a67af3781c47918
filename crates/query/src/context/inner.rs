//! The state of a session.

use super::borrowed::Borrowed;
use super::call_site::CallSite;
use super::kept_functions::{KeptFunction, KeptFunctions};
use super::outcome::Progress;
use super::presence::Presence;
use super::session_context::Context;
use super::shared::Shared;
use super::temporary;
use super::triggered::{TriggerAnswer, TriggerCall};
use advisory::AdvisoryLocks;
use arc_swap::ArcSwap;
use catalog_views::session_context::SessionContext;
use catalog_views::settings::Settings;
use catalog_views::settings::isolation::Isolation;
use chrono::{DateTime, Utc};
use conversation::current::Current;
use conversation::held::Held;
use conversation::transactions::Waiting;
use executor::Control;
use futures::future::BoxFuture;
use lowering::UserFunctions;
use notifications::Listening;
use parking_lot::Mutex;
use plan_cache::forms::KeptForms;
use plan_cache::plans::KeptPlans;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use store::catalog::{Catalog, RelationId, temporary_schema};
use store::locks::Party;
use store::{DistributedTransaction, Reading};
use values::error::{Error, Result, SqlState};

/// Receives the progress of a load.
pub type ProgressCallback = Arc<dyn Fn(Progress) + Send + Sync>;

/// Runs the function of a trigger in an open transaction.
pub(crate) type RunTrigger = for<'a> fn(
    &'a Inner,
    &'a mut DistributedTransaction,
    TriggerCall<'a>,
) -> BoxFuture<'a, Result<TriggerAnswer>>;

/// Makes the functions of users of a session, at a snapshot and a place.
pub(crate) type MakeUserFunctions =
    fn(&Weak<Inner>, Arc<Catalog>, Option<Reading>, CallSite) -> Arc<dyn UserFunctions>;

/// The state of a session.
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) number: u64,
    pub(crate) conversation: Current,
    pub(crate) settings: Arc<ArcSwap<Settings>>,
    /// The settings when the session began; RESET restores them.
    pub(crate) first_settings: ArcSwap<Settings>,
    pub(crate) progress: Mutex<Option<ProgressCallback>>,
    pub(crate) context: Arc<Context>,
    /// The session itself, for functions that it calls.
    pub(crate) me: Weak<Self>,
    /// Makes the functions of users that its statements call.
    pub(crate) user_functions: MakeUserFunctions,
    /// The settings of the session while its functions have others.
    pub(crate) borrowed: Borrowed,
    /// The plans of statements that the session repeats.
    pub(crate) plans: Arc<KeptPlans>,
    /// The forms of statements of functions that the session repeats.
    pub(crate) forms: KeptForms,
    /// The calls of procedures that the session repeats.
    pub(crate) calls: KeptForms,
    /// The functions that the session has executed.
    pub(crate) functions: KeptFunctions,
    /// Runs the functions of triggers.
    pub(crate) run_trigger: RunTrigger,
}

impl Inner {
    /// A function of a catalog, as it has been executed before.
    ///
    /// # Errors
    /// As [`KeptFunction::of`].
    pub(crate) fn function(
        &self,
        catalog: &Arc<Catalog>,
        id: RelationId,
    ) -> Result<Arc<KeptFunction>> {
        // Settings of a call are not those of the next one.
        match self.borrowed.is_lent() {
            true => KeptFunction::of(catalog, id),
            false => self.functions.function(catalog, &self.settings.load_full(), id),
        }
    }

    /// A new session of a database.
    pub(crate) fn open(
        shared: Arc<Shared>,
        user_functions: MakeUserFunctions,
        run_trigger: RunTrigger,
    ) -> Arc<Self> {
        let settings = Arc::new(ArcSwap::from_pointee(Settings::default()));
        let presence = Presence::new(shared.sessions.number());
        let advisory = AdvisoryLocks::new(&shared.store, presence.process);
        let context = Arc::new(Context {
            catalog: ArcSwap::new(shared.store.catalog()),
            search_path: ArcSwap::from_pointee(settings.load().search_path.clone()),
            login_user: ArcSwap::new(Arc::clone(&settings.load().session_user)),
            authenticated: AtomicBool::new(false),
            settings: Arc::clone(&settings),
            temporary: temporary_schema(presence.process),
            presence,
            stands_for: AtomicU32::new(0),
            listed: Arc::default(),
            notices: Mutex::default(),
            requested_settings: Mutex::default(),
            last_values: Mutex::default(),
            chance: Arc::default(),
            announcements: Arc::default(),
            advisory,
            held: Arc::new(Held::new(Arc::clone(&settings))),
            statement_began: AtomicI64::new(0),
            shared: Arc::clone(&shared),
        });
        let seen: Arc<dyn SessionContext> = Arc::clone(&context) as _;
        shared.sessions.put(&seen);
        Arc::new_cyclic(|me| Self {
            me: Weak::clone(me),
            user_functions,
            borrowed: Borrowed::default(),
            number: shared.next_number(),
            conversation: Current::new(
                Arc::clone(&settings),
                Arc::clone(&context.announcements),
                Arc::clone(&context.held),
            ),
            first_settings: ArcSwap::new(settings.load_full()),
            settings,
            progress: Mutex::new(None),
            context,
            plans: Arc::default(),
            forms: KeptForms::default(),
            calls: KeptForms::default(),
            functions: KeptFunctions::default(),
            run_trigger,
            shared,
        })
    }

    /// Begins a statement. The result ends it early, after a cancel request or a time-out.
    pub(crate) fn begin_statement(&self) -> Control {
        self.borrowed.begin(&self.settings);
        let began = Utc::now().timestamp_micros();
        self.context.statement_began.store(began, Ordering::Relaxed);
        let timeout = self.settings.load().statement_timeout;
        let memory = Some(Arc::clone(self.shared.store.memory()));
        Control::with_memory(self.context.presence.cancellation.begin(), timeout, memory)
    }

    /// What `now()` says, also in the functions that the statement calls: the start of the open transaction, or else of
    /// the client's statement. `None` before the first statement.
    pub(crate) fn moment(&self) -> Option<DateTime<Utc>> {
        self.conversation.started().or_else(|| {
            let began = self.context.statement_began.load(Ordering::Relaxed);
            DateTime::from_timestamp_micros(began).filter(|_| began > 0)
        })
    }

    /// How its statements wait for other transactions.
    pub(crate) fn waiting(&self) -> Waiting {
        let settings = self.settings.load();
        let (server, number) = (self.shared.store.server(), self.context.presence.process.into());
        Waiting {
            party: Party { server, number },
            patience: settings.lock_timeout,
            repeats: settings.isolation().is_of_statements(),
            validates: settings.isolation() == Isolation::Serializable,
        }
    }

    /// Queues a warning for the client.
    pub(crate) fn warn(&self, state: SqlState, message: impl Into<String>) {
        self.context.say("WARNING", Error::new(state, message));
    }

    /// Queues a notice with a detail for the client.
    pub(crate) fn notice_with(&self, state: SqlState, message: String, detail: String) {
        let error = Error::new(state, message).with_detail(detail);
        self.context.say("NOTICE", error);
    }

    /// Queues a notice for the client.
    pub(crate) fn notice(&self, state: SqlState, message: impl Into<String>) {
        self.context.say("NOTICE", Error::new(state, message));
    }

    /// Reports the progress of a load.
    pub(crate) fn report(&self, progress: Progress) {
        if let Some(callback) = &*self.progress.lock() {
            callback(progress);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let announcements = &self.context.announcements;
        let process = self.context.presence.process;
        self.shared.hub.listen(process, &announcements.mailbox, &[Listening::EndAll]);
        temporary::end(&self.shared.store, &self.context.temporary);
        self.shared.sessions.remove(self.context.presence.process);
    }
}

/// The error of a write in a read-only transaction.
pub(crate) fn writes_nothing(command: &str) -> Error {
    let message = format!("cannot execute {command} in a read-only transaction");
    Error::new(SqlState::ReadOnlySqlTransaction, message)
}
