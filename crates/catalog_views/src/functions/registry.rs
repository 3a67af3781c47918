//! The functions that a statement may name.

use super::advisory;
use crate::session_context::SessionContext;
use datafusion::execution::SessionState;
use datafusion::logical_expr::ScalarUDF;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The functions that a statement may name. Those that depend on the session are created when a
/// name is first looked up among them, because most statements use none.
#[derive(Debug)]
pub struct Functions<'a> {
    shared: &'a SessionState,
    session: Option<Arc<dyn SessionContext>>,
    of_session: OnceLock<HashMap<String, Arc<ScalarUDF>>>,
    /// Whether `set_config` has been looked up.
    sets: AtomicBool,
}

impl<'a> Functions<'a> {
    /// The functions of an engine, and those of a session.
    pub fn new(shared: &'a SessionState, session: Arc<dyn SessionContext>) -> Self {
        let sets = AtomicBool::new(false);
        Self { shared, session: Some(session), of_session: OnceLock::new(), sets }
    }

    /// The functions of an engine alone.
    pub fn without_session(shared: &'a SessionState) -> Self {
        let sets = AtomicBool::new(false);
        Self { shared, session: None, of_session: OnceLock::new(), sets }
    }

    /// The functions that are the same for every session.
    pub fn shared(&self) -> &'a SessionState {
        self.shared
    }

    /// The scalar function with a name, for one call.
    pub fn scalar(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        match self.shared.scalar_functions().get(name) {
            // The engine's knows no seeds.
            Some(shared) if name != "random" || self.session.is_none() => Some(Arc::clone(shared)),
            _ if self.is_over_rows(name) => None,
            _ => {
                self.sets.fetch_or(name == "set_config", Ordering::Relaxed);
                let known = self.of_session().get(name)?;
                let of_call = self.session.as_ref().and_then(|of| advisory::of_call(name, of));
                Some(of_call.map_or_else(|| Arc::clone(known), Arc::new))
            }
        }
    }

    /// The session, if a call of the statement may have changed its settings before the next call.
    pub fn changing(&self) -> Option<Arc<dyn SessionContext>> {
        self.session.clone().filter(|_| self.sets.load(Ordering::Relaxed))
    }

    /// Whether an aggregate or window function has this name. No function of the session has such a
    /// name.
    fn is_over_rows(&self, name: &str) -> bool {
        self.shared.aggregate_functions().contains_key(name)
            || self.shared.window_functions().contains_key(name)
    }

    /// Whether a function of any kind has this name.
    pub fn has(&self, name: &str) -> bool {
        self.is_over_rows(name)
            || self.shared.table_functions().contains_key(name)
            || self.scalar(name).is_some()
    }

    fn of_session(&self) -> &HashMap<String, Arc<ScalarUDF>> {
        self.of_session.get_or_init(|| {
            let functions = self.session.iter().flat_map(super::all);
            functions.map(|function| (function.name().to_owned(), Arc::new(function))).collect()
        })
    }
}
