//! The part of a session that functions, system tables and other sessions see.

use super::listed::Listed;
use super::presence::Presence;
use super::shared::Shared;
use advisory::AdvisoryLocks;
use arc_swap::ArcSwap;
use catalog_views::access::Access;
use catalog_views::session_context::{
    Activity, Chance, DatabaseContext, Entry, Kind, LastValues, SessionContext, SettingRequest,
};
use catalog_views::settings::Settings;
use conversation::announcements::Announcements;
use conversation::held::Held;
use notifications::Notification;
use parking_lot::Mutex;
use procedural::CursorOf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::time::SystemTime;
use store::catalog::Catalog;
use values::error::Error;

/// A warning or notice that belongs to a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// `NOTICE` or `WARNING`.
    pub severity: &'static str,
    /// Code and text. It is not a failure.
    pub error: Error,
}

/// The part of a session that functions, system tables and other sessions see.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) shared: Arc<Shared>,
    /// The catalog that the running statement sees.
    pub(crate) catalog: ArcSwap<Catalog>,
    pub(crate) search_path: ArcSwap<Vec<String>>,
    /// The schema of the session's temporary relations.
    pub(crate) temporary: String,
    /// The user who logged in.
    pub(crate) login_user: ArcSwap<String>,
    /// Whether the user was authenticated.
    pub(crate) authenticated: AtomicBool,
    pub(crate) settings: Arc<ArcSwap<Settings>>,
    pub(crate) presence: Presence,
    /// The process number of the session on another server for whose client this one executes a call; 0 if there is none.
    pub(crate) stands_for: AtomicU32,
    pub(crate) listed: Arc<Listed>,
    pub(crate) notices: Mutex<Vec<Notice>>,
    /// Changes that `set_config` asked for since the last statement began.
    pub(crate) requested_settings: Mutex<Vec<SettingRequest>>,
    pub(crate) last_values: Mutex<LastValues>,
    pub(crate) chance: Arc<Chance>,
    pub(crate) announcements: Arc<Announcements>,
    pub(crate) advisory: AdvisoryLocks,
    /// What the session keeps until its transaction ends.
    pub(crate) held: Arc<Held>,
    /// When the running statement began, in microseconds since 1970; 0 before the first.
    pub(crate) statement_began: AtomicI64,
}

impl Context {
    /// Whether the session may do everything.
    pub(crate) fn is_superuser(&self) -> bool {
        let catalog = self.shared.store.catalog();
        Access::new(&catalog, self.role().as_deref().map(String::as_str)).is_superuser()
    }
}

impl SessionContext for Context {
    fn database(&self) -> Arc<dyn DatabaseContext> {
        Arc::clone(&self.shared) as _
    }

    fn catalog(&self) -> Arc<Catalog> {
        self.catalog.load_full()
    }

    fn search_path(&self) -> Arc<Vec<String>> {
        self.search_path.load_full()
    }

    fn temporary_schema(&self) -> &str {
        &self.temporary
    }

    fn login_user(&self) -> Arc<String> {
        self.login_user.load_full()
    }

    fn session_user(&self) -> Arc<String> {
        Arc::clone(&self.settings.load().session_user)
    }

    fn user(&self) -> Arc<String> {
        let settings = self.settings.load();
        Arc::clone(settings.role.as_ref().unwrap_or(&settings.session_user))
    }

    fn role(&self) -> Option<Arc<String>> {
        self.limited(self.user())
    }

    fn limited(&self, role: Arc<String>) -> Option<Arc<String>> {
        let login = self.login_user.load();
        let own = Arc::ptr_eq(&role, &login) || *role == **login;
        (self.authenticated.load(Ordering::Relaxed) || !own).then_some(role)
    }

    fn settings(&self) -> Arc<Settings> {
        self.settings.load_full()
    }

    fn process(&self) -> u32 {
        match self.stands_for.load(Ordering::Relaxed) {
            0 => self.presence.process,
            other => other,
        }
    }

    fn begun(&self) -> SystemTime {
        self.presence.begun
    }

    fn statement_began(&self) -> i64 {
        self.statement_began.load(Ordering::Relaxed)
    }

    fn activity(&self) -> Activity {
        self.presence.activity()
    }

    fn named_entries(&self) -> Vec<Arc<Entry>> {
        let cursors = self.held.cursors.lock();
        let entry = |(name, of): (&String, &CursorOf)| {
            let kind = Kind::Cursor {
                holds: false,
                is_binary: false,
                scrolls: of.goes_back,
                is_committed: AtomicBool::new(false),
            };
            let (name, statement) = (name.clone(), of.statement.clone());
            let search_path = of.search_path.clone();
            Arc::new(Entry { name, statement, search_path, made: of.opened, kind })
        };
        self.listed.all().into_iter().chain(cursors.all().map(entry)).collect()
    }

    fn last_values(&self) -> &Mutex<LastValues> {
        &self.last_values
    }

    fn chance(&self) -> &Arc<Chance> {
        &self.chance
    }

    fn say(&self, severity: &'static str, error: Error) {
        if self.settings.load().wants(severity) {
            self.notices.lock().push(Notice { severity, error });
        }
    }

    fn request_setting(&self, request: SettingRequest) {
        self.requested_settings.lock().push(request);
    }

    fn requested_setting(&self, name: &str) -> Option<String> {
        let requested = self.requested_settings.lock();
        let last = requested.iter().rev().find(|request| request.name == name)?;
        last.shown.clone()
    }

    fn notify(&self, channel: &str, payload: &str) -> Result<(), Error> {
        let (channel, payload) = (channel.to_owned(), payload.to_owned());
        let process = self.process();
        self.announcements.notify(Notification { process, channel, payload })
    }

    fn listening_channels(&self) -> Vec<String> {
        self.shared.hub.channels(self.presence.process)
    }

    fn trigger_depth(&self) -> i64 {
        self.held.running.trigger_depth()
    }

    fn advisory(&self) -> &AdvisoryLocks {
        &self.advisory
    }

    fn cancel(&self) {
        self.presence.cancellation.handle().cancel();
    }

    fn terminate(&self) {
        self.presence.terminated.cancel();
    }
}
