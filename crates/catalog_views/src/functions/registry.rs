//! The functions that a statement may name.

use crate::session_context::SessionContext;
use datafusion::execution::SessionState;
use datafusion::logical_expr::ScalarUDF;
use functions::system::missing;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// What the engine's planner takes for more than a function, where no function has its name.
const OF_THE_PLANNER: [&str; 1] = ["unnest"];

/// The functions that a statement may name. Those that depend on its session are made when the first of
/// them is named: most statements name none.
pub struct Functions<'a> {
    shared: &'a SessionState,
    session: Arc<dyn SessionContext>,
    of_session: OnceLock<HashMap<String, Arc<ScalarUDF>>>,
}

impl<'a> Functions<'a> {
    pub fn new(shared: &'a SessionState, session: Arc<dyn SessionContext>) -> Self {
        Self { shared, session, of_session: OnceLock::new() }
    }

    /// The functions that are the same for every session.
    pub fn shared(&self) -> &'a SessionState {
        self.shared
    }

    /// A function of one value a row.
    pub fn scalar(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        match self.shared.scalar_functions().get(name) {
            Some(shared) => Some(Arc::clone(shared)),
            None if self.is_over_rows(name) => None,
            None => self.of_session().get(name).cloned(),
        }
    }

    /// Whether a function over many rows has this name: no function of the session does.
    fn is_over_rows(&self, name: &str) -> bool {
        self.shared.aggregate_functions().contains_key(name)
            || self.shared.window_functions().contains_key(name)
    }

    /// What stands for a function of a name that no function of any kind has.
    pub fn missing(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        let exists = self.has(name)
            || self.shared.higher_order_functions().contains_key(name)
            || OF_THE_PLANNER.contains(&name);
        (!exists).then(|| Arc::new(missing::function(name)))
    }

    /// The names of all functions of one value a row.
    pub fn scalar_names(&self) -> Vec<String> {
        self.shared.scalar_functions().keys().chain(self.of_session().keys()).cloned().collect()
    }

    /// Whether a name that a statement uses is one of a function's names.
    pub fn are_same(&self, called: &str, name: &str) -> bool {
        let aggregate = self.shared.aggregate_functions().get(called);
        called == name
            || self.scalar(called).is_some_and(|function| function.name() == name)
            || aggregate.is_some_and(|function| function.name() == name)
    }

    /// Whether there is a function of any kind of this name.
    pub fn has(&self, name: &str) -> bool {
        self.is_over_rows(name)
            || self.shared.table_functions().contains_key(name)
            || self.scalar(name).is_some()
    }

    fn of_session(&self) -> &HashMap<String, Arc<ScalarUDF>> {
        self.of_session.get_or_init(|| {
            let functions = of_session(&self.session).into_iter();
            functions.map(|function| (function.name().to_owned(), Arc::new(function))).collect()
        })
    }
}

/// What depends on the session: sequences, who and where it is, and what it sees of the catalog.
fn of_session(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    super::all(session)
}
