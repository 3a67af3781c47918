//! The session of a statement, attached to the engine's configuration.

use crate::session_context::{DatabaseContext, SessionContext};
use datafusion::execution::SessionState;
use datafusion::prelude::SessionConfig;
use session_settings::{Settings, cluster};
use std::fmt;
use std::sync::{Arc, Weak};

/// The database and the session that a statement runs in. System tables are computed from them.
pub struct Origin {
    /// The database.
    pub shared: Weak<dyn DatabaseContext>,
    /// The session that runs the statement.
    pub session: Arc<dyn SessionContext>,
    /// The settings at the start of the statement.
    pub settings: Arc<Settings>,
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin").field("session", &self.session).finish_non_exhaustive()
    }
}

/// Attaches the origin of a statement to a configuration.
pub fn install(config: &mut SessionConfig, origin: Origin) {
    config.set_extension(Arc::new(origin));
}

/// The origin of a statement and its database; `None` if the engine has none or the database is
/// closed.
pub(crate) fn of(engine: &SessionState) -> Option<(Arc<Origin>, Arc<dyn DatabaseContext>)> {
    let origin = engine.config().get_extension::<Origin>()?;
    let database = origin.shared.upgrade()?;
    Some((origin, database))
}

/// The settings that a statement runs with: names and values, sorted by name.
pub(crate) fn settings(engine: &SessionState) -> Vec<(String, String)> {
    let origin = engine.config().get_extension::<Origin>();
    origin.map_or_else(Vec::new, |origin| {
        let mut settings = origin.settings.all();
        if let Some(shared) = origin.shared.upgrade() {
            cluster::with_values(shared.store(), &mut settings);
        }
        settings
    })
}

/// What `current_setting` knows: the settings, and the roles, which are none of the listed ones.
pub fn named_settings(engine: &SessionState) -> Vec<(String, String)> {
    let mut settings = settings(engine);
    if let Some(origin) = engine.config().get_extension::<Origin>() {
        for name in ["role", "session_authorization"] {
            settings.extend(origin.settings.get(name).map(|value| (name.to_owned(), value)));
        }
    }
    settings
}

/// The value of one setting that a statement runs with.
pub fn setting(config: &SessionConfig, name: &str) -> Option<String> {
    config.get_extension::<Origin>()?.settings.get(name)
}
