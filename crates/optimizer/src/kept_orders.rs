//! Keeps the keys of ORDER BY behind a primary key where sets or joins repeat its rows.
//!
//! `SELECT id, unnest(v) FROM t ORDER BY id, 2`: the engine takes the key of `t` for one of the rows that `unnest` makes of
//! its rows, and drops the second key. An outer join makes rows in which the key is NULL, and each of them is another one.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Drops repeated keys where no rows are repeated.
pub(crate) fn drop_keys(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    let repeats =
        |node: &LogicalPlan| Ok(matches!(node, LogicalPlan::Unnest(_) | LogicalPlan::Join(_)));
    if matches!(plan, LogicalPlan::Sort(_)) && plan.exists(repeats)? {
        return Ok(Transformed::no(plan));
    }
    rule.rewrite(plan, config)
}
