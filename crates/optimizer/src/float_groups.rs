//! Keeps groups of floating-point numbers out of aggregations that hold only the first groups:
//! `GROUP BY x ORDER BY max(y) LIMIT 2`, `SELECT DISTINCT x ... ORDER BY x LIMIT 2`.
//!
//! Their hash table compares keys as Rust does. It does not find a NaN again, panics when it removes
//! one, and counts each NaN as a group. Other aggregations compare NaNs as equal, as PostgreSQL does.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use std::sync::Arc;

/// The rule of the physical optimizer. It runs after the one that limits aggregations.
#[derive(Debug)]
pub struct FloatGroups;

impl PhysicalOptimizerRule for FloatGroups {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let unlimited = |node: Arc<dyn ExecutionPlan>| match node.downcast_ref::<AggregateExec>() {
            Some(aggregate) if holds_first_floats(aggregate)? => {
                let all: Arc<dyn ExecutionPlan> = Arc::new(aggregate.with_new_limit_options(None));
                Ok(Transformed::yes(all))
            }
            _ => Ok(Transformed::no(node)),
        };
        plan.transform_up(unlimited).data()
    }

    fn name(&self) -> &str {
        "float_groups"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Whether an aggregation holds only the first groups in an order, and a key is a floating-point
/// number.
fn holds_first_floats(aggregate: &AggregateExec) -> Result<bool> {
    if aggregate.limit_options().is_none_or(|limit| limit.descending.is_none()) {
        return Ok(false);
    }
    let input = aggregate.input().schema();
    for (key, _) in aggregate.group_expr().expr() {
        if key.data_type(&input)?.is_floating() {
            return Ok(true);
        }
    }
    Ok(false)
}
