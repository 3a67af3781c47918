//! Keeps the first groups of an aggregate in a queue only if they are few.
//!
//! `SELECT a, max(b) FROM t GROUP BY a ORDER BY 2 DESC LIMIT 2000000000`: the engine allocates the queue for as many groups
//! as the limit says, however few there are, and does not count its memory. With a limit beyond the address space it panics.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use std::sync::Arc;

/// The most groups that are kept in a queue. A queue of as many takes some megabytes.
const GROUPS_MAX: usize = 1 << 16;

/// The rule of the physical optimizer. It runs after the one that makes queues.
#[derive(Debug)]
pub struct FewGroups;

impl PhysicalOptimizerRule for FewGroups {
    fn name(&self) -> &str {
        "few_groups"
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let without_queue = |node: Arc<dyn ExecutionPlan>| {
            let aggregate = node.downcast_ref::<AggregateExec>();
            let is_long = |of: &&AggregateExec| {
                of.limit_options().is_some_and(|options| options.limit > GROUPS_MAX)
            };
            Ok(match aggregate.filter(is_long) {
                Some(aggregate) => {
                    Transformed::yes(Arc::new(aggregate.with_new_limit_options(None)) as Arc<_>)
                }
                None => Transformed::no(node),
            })
        };
        plan.transform_up(without_queue).data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}
