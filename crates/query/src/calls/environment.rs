//! What the functions of a statement run in.

use super::body::{BodyHost, Prepared};
use super::function::UserFunction;
use super::statements::AtCall;
use crate::context::Inner;
use crate::context::call_site::{CallSite, DEPTH_MAX};
use analyzer::tree::Executed;
use datafusion::logical_expr::ScalarUDF;
use lowering::{Shape, UserFunctions};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};
use store::Reading;
use store::catalog::RelationId;
use values::error::{Error, Result, SqlState};

/// What the functions of a statement run in.
pub(crate) struct Environment {
    session: Weak<Inner>,
    /// The snapshot of the statement.
    pub(super) reading: Reading,
    site: CallSite,
    known: Mutex<HashMap<RelationId, Arc<Ready>>>,
}

/// A function with hosts that nobody uses at the moment, which know its expressions.
pub(super) struct Ready {
    pub(super) prepared: Prepared,
    hosts: Mutex<Vec<BodyHost>>,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("site", &self.site).finish_non_exhaustive()
    }
}

impl Environment {
    /// The session.
    ///
    /// # Errors
    /// It has ended.
    pub(super) fn session(&self) -> Result<Arc<Inner>> {
        self.session.upgrade().ok_or_else(|| {
            Error::new(
                SqlState::AdminShutdown,
                "terminating connection due to administrator command",
            )
        })
    }

    fn ready(&self, id: RelationId) -> Result<Arc<Ready>> {
        if let Some(ready) = self.known.lock().get(&id) {
            return Ok(Arc::clone(ready));
        }
        let prepared = Prepared::of(self.reading.catalog(), id)?;
        let ready = Arc::new(Ready { prepared, hosts: Mutex::default() });
        self.known.lock().insert(id, Arc::clone(&ready));
        Ok(ready)
    }

    /// Does something with a host for a function.
    pub(super) fn host(self: &Arc<Self>, ready: &Ready) -> Result<BodyHost> {
        if self.site.depth >= DEPTH_MAX {
            let message = "stack depth limit exceeded";
            return Err(Error::new(SqlState::StatementTooComplex, message));
        }
        let kept = ready.hosts.lock().pop();
        Ok(kept.unwrap_or_else(|| {
            let is_volatile = ready.prepared.is_volatile();
            let site = self.site.inside(is_volatile);
            ready.prepared.host(AtCall { environment: Arc::downgrade(self), site, is_volatile })
        }))
    }
}

impl Ready {
    /// Keeps a host for the next call.
    pub(super) fn keep(&self, host: BodyHost) {
        self.hosts.lock().push(host);
    }
}

/// The functions of users of a session, at a snapshot and a place.
pub(crate) fn user_functions(
    session: &Weak<Inner>,
    reading: Reading,
    site: CallSite,
) -> Arc<dyn UserFunctions> {
    let (session, known) = (Weak::clone(session), Mutex::default());
    Arc::new(Functions(Arc::new(Environment { session, reading, site, known })))
}

struct Functions(Arc<Environment>);

impl UserFunctions for Functions {
    fn function(&self, executed: &Executed, shape: Shape) -> Result<ScalarUDF> {
        let ready = self.0.ready(RelationId(executed.id))?;
        if ready.prepared.needs_driver {
            self.0.site.note_driver_needed();
        }
        let (environment, signature) = (Arc::clone(&self.0), executed.signature.clone());
        Ok(ScalarUDF::new_from_impl(UserFunction::new(environment, ready, signature, shape)))
    }
}
