//! Keeps the types of sums of decimals.
//!
//! `SELECT count(DISTINCT k), sum(n) FROM t`: the engine sums `n` for each `k`, and then these sums, whose type has more
//! digits than that of the first sum. The expressions above would compare and compute with another type than theirs.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::expr_rewriter::coerce_plan_expr_for_schema;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// Rewrites an aggregation, with casts to the types of before.
pub(crate) fn with_casts(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    if !matches!(plan, LogicalPlan::Aggregate(_)) {
        return rule.rewrite(plan, config);
    }
    let before = Arc::clone(plan.schema());
    let rewritten = rule.rewrite(plan, config)?;
    match types(&before) == types(rewritten.data.schema()) {
        true => Ok(rewritten),
        false => rewritten.map_data(|plan| coerce_plan_expr_for_schema(plan, &before)),
    }
}

fn types(schema: &DFSchema) -> Vec<DataType> {
    schema.fields().iter().map(|field| field.data_type().clone()).collect()
}
