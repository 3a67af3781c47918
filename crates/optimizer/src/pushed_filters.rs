//! Moves conditions down, with two cases that the engine's rule gets wrong.
//!
//! `SELECT count(*) FROM t HAVING false`: the engine takes a condition without columns for one of a key, and moves it below
//! the aggregation. There it leaves no rows, of which all are counted: there is still one group, as for the set
//! of ROLLUP that has no keys.
//!
//! A subquery in a condition becomes a join, for which columns of the subquery's FROM are added to its rows. The alias around
//! them does not list these, and the engine's rule fails.

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Expr, LogicalPlan, SubqueryAlias};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// Moves a condition down.
pub(crate) fn push_down(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Filter(mut filter) = plan else { return rule.rewrite(plan, config) };
    // The engine's rule takes conditions above each other together.
    let mut input = &*filter.input;
    while let LogicalPlan::Filter(below) = input {
        input = &below.input;
    }
    match input {
        LogicalPlan::Aggregate(aggregate)
            if aggregate.group_expr.is_empty()
                || aggregate.group_expr.iter().any(|key| matches!(key, Expr::GroupingSet(_))) =>
        {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        }
        LogicalPlan::SubqueryAlias(named)
            if std::ptr::eq(input, &*filter.input)
                && named.schema.fields().len() != named.input.schema().fields().len() =>
        {
            let whole = SubqueryAlias::try_new(Arc::clone(&named.input), named.alias.clone())?;
            filter.input = Arc::new(LogicalPlan::SubqueryAlias(whole));
        }
        _ => {}
    }
    rule.rewrite(LogicalPlan::Filter(filter), config)
}
