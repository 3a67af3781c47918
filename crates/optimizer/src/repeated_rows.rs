//! Keeps the engine from taking the key of rows for one of the rows that `unnest` and the like make of them.
//!
//! `SELECT DISTINCT id, x FROM t, unnest(t.a) x`: for the engine `id` determines a row behind `unnest`, too, so that it drops
//! the DISTINCT, keys of GROUP BY, and joins. Rules that look at keys get a plan in which they end there.

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, FunctionalDependencies, Result};
use datafusion::logical_expr::{LogicalPlan, Unnest};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// Applies a rule that looks at keys.
pub(crate) fn without_keys(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    let looks_at_keys = rule.apply_order().is_none() || matches!(plan, LogicalPlan::Distinct(_));
    let is_unnest = |node: &LogicalPlan| Ok(matches!(node, LogicalPlan::Unnest(_)));
    if looks_at_keys && plan.exists(is_unnest)? {
        return rule.rewrite(with_no_keys(plan)?, config);
    }
    rule.rewrite(plan, config)
}

/// The plan in which no key of rows is one of the rows that are made of them.
fn with_no_keys(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| {
        let LogicalPlan::Unnest(unnest) = node else {
            return Ok(Transformed::yes(node.recompute_schema()?));
        };
        let schema = DFSchema::clone(&unnest.schema);
        let schema = schema.with_functional_dependencies(FunctionalDependencies::empty())?;
        Ok(Transformed::yes(LogicalPlan::Unnest(Unnest { schema: Arc::new(schema), ..unnest })))
    })
    .data()
}
