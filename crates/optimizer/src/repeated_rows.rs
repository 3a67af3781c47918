//! Keeps the engine from taking the key of rows for one of the rows that `unnest` and the like make of them.
//!
//! `SELECT DISTINCT id, x FROM t, unnest(t.a) x`: for the engine `id` determines a row behind `unnest`, too, so that it drops
//! the DISTINCT, keys of GROUP BY, and joins. Rules that look at keys get a plan in which they end there.

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, FunctionalDependencies, Result};
use datafusion::logical_expr::{LogicalPlan, Unnest};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// The engine's rules that look at keys.
const RULES: [&str; 3] = ["eliminate_join", "optimize_projections", "replace_distinct_aggregate"];

/// A rule of the logical optimizer that looks at keys.
#[derive(Debug)]
pub struct RepeatedRows(Arc<dyn OptimizerRule + Send + Sync>);

impl RepeatedRows {
    /// The rule to use in the place of a rule of the engine.
    pub fn of(rule: Arc<dyn OptimizerRule + Send + Sync>) -> Arc<dyn OptimizerRule + Send + Sync> {
        if RULES.contains(&rule.name()) { Arc::new(Self(rule)) } else { rule }
    }
}

impl OptimizerRule for RepeatedRows {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let looks_at_keys =
            self.apply_order().is_none() || matches!(plan, LogicalPlan::Distinct(_));
        let is_unnest = |node: &LogicalPlan| Ok(matches!(node, LogicalPlan::Unnest(_)));
        if looks_at_keys && plan.exists(is_unnest)? {
            return self.0.rewrite(without_keys(plan)?, config);
        }
        self.0.rewrite(plan, config)
    }
}

/// The plan in which no key of rows is one of the rows that are made of them.
fn without_keys(plan: LogicalPlan) -> Result<LogicalPlan> {
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
