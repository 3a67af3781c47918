//! Functions that PostgreSQL has and the engine lacks.

mod arrays;
pub(crate) mod catalog;
mod row_function;
mod sequences;
mod simple;
mod sleep;

use crate::error::Result;
use crate::session::Names;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;

/// Adds what is the same for every session.
pub(crate) fn register_shared(engine: &mut SessionState) -> Result<()> {
    for function in simple::all().into_iter().chain(arrays::all()).chain([sleep::function()]) {
        engine.register_udf(Arc::new(function))?;
    }
    Ok(())
}

/// Adds what depends on the session: sequences, and who and where it is.
pub(crate) fn register_for_session(engine: &mut SessionState, names: &Arc<Names>) {
    let functions = sequences::all(names).into_iter().chain(simple::of_session(names));
    for function in functions.chain(catalog::all(names)) {
        let registered = engine.register_udf(Arc::new(ScalarUDF::clone(&function)));
        debug_assert!(registered.is_ok(), "the registry takes functions");
    }
}
