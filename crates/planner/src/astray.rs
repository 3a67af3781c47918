//! Detects dynamic filters that may be applied to the wrong column.
//!
//! Joins and top-N push filters down to scans and fill them in at run time. DataFusion resolves the
//! columns of such a filter by name (apache/datafusion#25259 fixes that, after 55.2). Below an
//! operator whose output has two columns of one name, a filter may therefore refer to the wrong one
//! and drop rows. The filter of `min` and `max` knows only those of their arguments that are columns and had a value
//! already: with `min(a), max(b + 1)` it drops the rows that have no new least `a`. The filter of a join on an array and
//! another key misses rows if an array has a NULL in it. A plan with such a filter is planned
//! again without dynamic filters.

use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::SessionState;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::joins::HashJoinExec;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The ids of dynamic filters.
type Filters = BTreeSet<u64>;

/// Whether a filter in a plan may refer to the wrong column.
pub(super) fn is_possible(plan: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    let (mut filled_in, mut forgets) = (Filters::new(), false);
    plan.apply(|node| {
        filled_in.extend(produced(node));
        forgets |= forgets_arguments(node) || compares_arrays(node);
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(forgets || !filled_in.is_empty() && from_above(plan, &filled_in)?.is_none())
}

/// The filters in `filled_in` that a plan uses and operators above it produce. `None` if one of
/// them, or one that is produced inside the plan, may refer to the wrong column.
fn from_above(plan: &Arc<dyn ExecutionPlan>, filled_in: &Filters) -> Result<Option<Filters>> {
    let own = produced(plan);
    let mut found = Filters::new();
    for child in plan.children() {
        let Some(mut below) = from_above(child, filled_in)? else { return Ok(None) };
        below.retain(|filter| !own.contains(filter));
        if !below.is_empty() && has_ambiguous_names(child) {
            return Ok(None);
        }
        found.extend(below);
    }
    plan.apply_expressions(&mut |expression| consumed(expression, &mut found))?;
    found.retain(|filter| filled_in.contains(filter) && !own.contains(filter));
    Ok(Some(found))
}

/// Whether the filter of an aggregation may not know the arguments of all calls.
fn forgets_arguments(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let Some(aggregation) = plan.downcast_ref::<AggregateExec>() else { return false };
    let calls = aggregation.aggr_expr();
    let arguments = |call: &Arc<AggregateFunctionExpr>| call.expressions();
    let are_same = calls.windows(2).all(|pair| arguments(&pair[0]) == arguments(&pair[1]));
    let has_filter = aggregation.filter_expr().iter().any(Option::is_some);
    let is_known = calls.len() == 1 || are_same && !has_filter;
    !produced(plan).is_empty() && !is_known
}

/// Whether the filter of a join may compare arrays together with other keys.
fn compares_arrays(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let Some(join) = plan.downcast_ref::<HashJoinExec>() else { return false };
    let schema = join.left().schema();
    let is_nested = |key: &Arc<dyn PhysicalExpr>| {
        key.data_type(&schema).is_ok_and(|data_type| data_type.is_nested())
    };
    join.on().len() > 1
        && !produced(plan).is_empty()
        && join.on().iter().any(|(key, _)| is_nested(key))
}

fn produced(plan: &Arc<dyn ExecutionPlan>) -> Filters {
    let produced = plan.dynamic_expressions_produced();
    produced.iter().filter_map(|expression| expression.expression_id()).collect()
}

fn consumed(expression: &Arc<dyn PhysicalExpr>, into: &mut Filters) -> Result<TreeNodeRecursion> {
    expression.apply(|part| {
        into.extend(part.expression_id());
        Ok(TreeNodeRecursion::Continue)
    })
}

fn has_ambiguous_names(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let schema = plan.schema();
    let names: BTreeSet<&String> = schema.fields().iter().map(|field| field.name()).collect();
    names.len() < schema.fields().len()
}

/// The engine with dynamic filters disabled.
pub(super) fn prevented(engine: &SessionState) -> SessionState {
    let mut engine = engine.clone();
    let options = &mut engine.config_mut().options_mut().optimizer;
    options.enable_join_dynamic_filter_pushdown = false;
    options.enable_topk_dynamic_filter_pushdown = false;
    options.enable_aggregate_dynamic_filter_pushdown = false;
    engine
}
