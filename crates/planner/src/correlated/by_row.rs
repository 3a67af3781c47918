//! A registry of the subqueries that run once per row, used to inspect and cost them.

use super::function::SubqueryFunction;
use datafusion::logical_expr::ScalarUDF;
use datafusion::logical_expr::async_udf::AsyncScalarUDF;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The subquery functions of all live plans of an engine. To collect them, register this as an
/// extension of the engine's configuration.
#[derive(Debug, Default)]
pub struct ByRow(Mutex<Vec<Weak<SubqueryFunction>>>);

impl ByRow {
    pub(super) fn add(&self, function: &Arc<SubqueryFunction>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(function));
    }

    /// The subquery behind a function, if it is a subquery function.
    pub fn find(&self, function: &ScalarUDF) -> Option<Arc<SubqueryFunction>> {
        let called = function.inner().downcast_ref::<AsyncScalarUDF>()?;
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = known.iter().filter_map(Weak::upgrade);
        known.find(|known| *called == AsyncScalarUDF::new(Arc::clone(known) as _))
    }
}
