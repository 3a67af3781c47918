//! Moves conditions down, with five cases that the engine's rule gets wrong.
//!
//! `SELECT count(*) FROM t HAVING false`: the engine takes a condition without columns for one of a key, and moves it below
//! the aggregation. There it leaves no rows, of which all are counted: there is still one group, as for the set
//! of ROLLUP that has no keys.
//!
//! A condition on a volatile key stays above the aggregation: the engine would compute the key once for the condition and once
//! for the groups, which then do not fulfil it.
//!
//! A subquery in a condition becomes a join, for which columns of the subquery's FROM are added to its rows. The alias around
//! them does not list these, and the engine's rule fails.
//!
//! A condition without columns above rows that are computed once, for several readers, holds for one of them: it does not move
//! below, where the engine's rule takes it.
//!
//! A condition over both sides of a join that calls a subquery stays above the join: the engine awaits such calls in filters,
//! and not in conditions of joins.
//!
//! A volatile condition above groups, distinct rows, window functions or functions of sets is computed once for each of their
//! rows. The engine's rule moves it below, where it is computed for other rows.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Filter, Join, LogicalPlan, SubqueryAlias};
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
            if aggregate.group_expr.is_empty() || aggregate.group_expr.iter().any(stays_above) =>
        {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        }
        LogicalPlan::Extension(_) => return Ok(Transformed::no(LogicalPlan::Filter(filter))),
        LogicalPlan::SubqueryAlias(named)
            if std::ptr::eq(input, &*filter.input)
                && named.schema.fields().len() != named.input.schema().fields().len() =>
        {
            let whole = SubqueryAlias::try_new(Arc::clone(&named.input), named.alias.clone())?;
            filter.input = Arc::new(LogicalPlan::SubqueryAlias(whole));
        }
        LogicalPlan::Join(join) => {
            let parts = parted(&filter, |condition| waits_above(condition, join))?;
            return push_rest(rule, filter, parts, config);
        }
        LogicalPlan::Aggregate(_)
        | LogicalPlan::Distinct(_)
        | LogicalPlan::Window(_)
        | LogicalPlan::Unnest(_) => {
            let parts = parted(&filter, |condition| Ok(condition.is_volatile()))?;
            return push_rest(rule, filter, parts, config);
        }
        _ => {}
    }
    rule.rewrite(LogicalPlan::Filter(filter), config)
}

/// Moves a filter's conditions down but those that stay above.
fn push_rest(
    rule: &dyn OptimizerRule,
    filter: Filter,
    (staying, rest): (Vec<Expr>, Vec<Expr>),
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    if staying.is_empty() {
        return rule.rewrite(LogicalPlan::Filter(filter), config);
    }
    let Some(rest) = conjunction(rest) else {
        return Ok(Transformed::no(LogicalPlan::Filter(filter)));
    };
    let below = Filter::try_new(rest, Arc::clone(lowest(&filter)))?;
    let below = rule.rewrite(LogicalPlan::Filter(below), config)?;
    below.map_data(|below| above(staying, below))
}

/// Whether conditions stay above an aggregation with a key.
fn stays_above(key: &Expr) -> bool {
    matches!(key, Expr::GroupingSet(_)) || key.is_volatile()
}

/// What is below a filter and those under it.
fn lowest(filter: &Filter) -> &Arc<LogicalPlan> {
    match &*filter.input {
        LogicalPlan::Filter(below) => lowest(below),
        _ => &filter.input,
    }
}

/// A filter.
fn above(conditions: Vec<Expr>, plan: LogicalPlan) -> Result<LogicalPlan> {
    Ok(match conjunction(conditions) {
        Some(condition) => LogicalPlan::Filter(Filter::try_new(condition, Arc::new(plan))?),
        None => plan,
    })
}

/// The conditions of a filter, and of those under it: those that stay above its input, and the rest.
fn parted(
    filter: &Filter,
    stays: impl Fn(&Expr) -> Result<bool>,
) -> Result<(Vec<Expr>, Vec<Expr>)> {
    let mut conditions = split_conjunction_owned(filter.predicate.clone());
    let mut below = &*filter.input;
    while let LogicalPlan::Filter(filter) = below {
        conditions.extend(split_conjunction_owned(filter.predicate.clone()));
        below = &filter.input;
    }
    let (mut staying, mut rest) = (Vec::new(), Vec::new());
    for condition in conditions {
        if stays(&condition)? { staying.push(condition) } else { rest.push(condition) }
    }
    Ok((staying, rest))
}

/// Whether a condition is over both sides of a join and calls a subquery.
fn waits_above(condition: &Expr, join: &Join) -> Result<bool> {
    let columns = condition.column_refs();
    let has_all =
        |side: &LogicalPlan| columns.iter().all(|column| side.schema().has_column(column));
    let is_of_both = !has_all(&join.left) && !has_all(&join.right);
    let is_awaited = |part: &Expr| {
        Ok(matches!(part, Expr::ScalarFunction(call) if call.func.as_async().is_some()))
    };
    Ok(is_of_both && condition.exists(is_awaited)?)
}
