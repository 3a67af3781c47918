//! Keeps apart joins whose keys match NULLs (`a IS NOT DISTINCT FROM b`) and joins whose keys do not (`a = b`).
//!
//! `... q JOIN t ON q.a IS NOT DISTINCT FROM t.a JOIN u ON true`: the engine makes one list of the keys of inner joins within
//! each other, and lets all match NULLs as those of the outermost join do. Equalities that come later to a join whose keys
//! match NULLs become such keys, too.

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::{Join, JoinType, LogicalPlan, Projection};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// Orders inner joins. Joins with the other kind of keys stay as they are.
pub(crate) fn order_joins(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    if !plan.exists(|node| Ok(inner(node).is_some_and(matches_nulls)))? {
        return rule.rewrite(plan, config);
    }
    rule.rewrite(plan.transform_up_with_subqueries(set_apart).data()?, config)
}

/// Puts a projection on inner joins below another one, or below a condition, that has the other kind of keys.
fn set_apart(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let kind = match &plan {
        LogicalPlan::Filter(_) => Some(false),
        plan => inner(plan).map(matches_nulls),
    };
    let Some(outer) = kind else { return Ok(Transformed::no(plan)) };
    plan.map_children(|child| {
        let is_other = inner(&child).is_some_and(|join| matches_nulls(join) != outer);
        Ok(if is_other { Transformed::yes(projected(child)) } else { Transformed::no(child) })
    })
}

fn inner(plan: &LogicalPlan) -> Option<&Join> {
    match plan {
        LogicalPlan::Join(join) if join.join_type == JoinType::Inner => Some(join),
        _ => None,
    }
}

fn matches_nulls(join: &Join) -> bool {
    join.null_equality == NullEquality::NullEqualsNull
}

/// All columns of a plan.
fn projected(plan: LogicalPlan) -> LogicalPlan {
    let schema = Arc::clone(plan.schema());
    LogicalPlan::Projection(Projection::new_from_schema(Arc::new(plan), schema))
}

/// Makes keys of conditions.
pub(crate) fn find_keys(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    match &plan {
        LogicalPlan::Join(join) if matches_nulls(join) => Ok(Transformed::no(plan)),
        _ => rule.rewrite(plan, config),
    }
}
