//! What the functions of a statement run in.

use crate::context::Inner;
use crate::context::call_site::CallSite;
use std::fmt;
use std::sync::{Arc, Weak};
use store::Reading;
use store::catalog::Catalog;
use values::error::{Error, Result, SqlState};

/// What the functions of a statement run in.
pub(super) struct Environment {
    pub(super) session: Weak<Inner>,
    /// The number of the statement in the session.
    pub(super) statement: u64,
    /// The catalog at the snapshot of the statement.
    pub(super) catalog: Arc<Catalog>,
    /// The snapshot; `None` of a statement that is only described.
    pub(super) reading: Option<Reading>,
    /// The place of their calls.
    pub(super) site: CallSite,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("site", &self.site).finish_non_exhaustive()
    }
}

impl Environment {
    /// The snapshot.
    ///
    /// # Errors
    /// The statement is only described.
    pub(super) fn reading(&self) -> Result<&Reading> {
        self.reading.as_ref().ok_or_else(|| {
            let message = "a function of a statement that is only described is executed";
            Error::new(SqlState::InternalError, message)
        })
    }

    /// The session.
    ///
    /// # Errors
    /// It has ended.
    pub(super) fn session(&self) -> Result<Arc<Inner>> {
        self.session.upgrade().ok_or_else(|| {
            let message = "terminating connection due to administrator command";
            Error::new(SqlState::AdminShutdown, message)
        })
    }
}
