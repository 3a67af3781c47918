//! The subqueries of plans that run by row, for whoever wants to know what they would do.

use super::function::SubqueryFunction;
use datafusion::logical_expr::ScalarUDF;
use datafusion::logical_expr::async_udf::AsyncScalarUDF;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Those of all plans that an engine has made, if this is an extension of its configuration, as long as there are such plans.
#[derive(Debug, Default)]
pub struct ByRow(Mutex<Vec<Weak<SubqueryFunction>>>);

impl ByRow {
    pub(super) fn add(&self, function: &Arc<SubqueryFunction>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(function));
    }

    /// The subquery that a function is, if it is one.
    pub fn find(&self, function: &ScalarUDF) -> Option<Arc<SubqueryFunction>> {
        let called = function.inner().downcast_ref::<AsyncScalarUDF>()?;
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = known.iter().filter_map(Weak::upgrade);
        known.find(|known| *called == AsyncScalarUDF::new(Arc::clone(known) as _))
    }
}
