//! Operators that become a plan fragment.

use crate::sites::Sites;
use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use scan::shipping::Shipping;
use std::sync::Arc;

/// Operators that run on several servers.
pub(super) struct Fragment {
    /// The operators as this server runs them.
    pub(super) plan: Arc<dyn ExecutionPlan>,
    pub(super) sites: Sites,
    pub(super) shipping: Arc<Shipping>,
}

impl Fragment {
    /// The fragment's rows from all of its servers.
    pub(super) fn everywhere(self) -> Result<Arc<dyn ExecutionPlan>> {
        let Shipping { gathering, fan_in, .. } = *self.shipping;
        self.sites.everywhere(self.plan, gathering, fan_in)
    }

    /// Whether an operator may become part of it.
    pub(super) fn ships(&self, plan: &Arc<dyn ExecutionPlan>) -> bool {
        self.shipping.operators && self.shipping.portable.operator(plan.as_ref())
    }
}
