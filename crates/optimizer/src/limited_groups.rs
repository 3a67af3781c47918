//! Limits of aggregations where the engine puts them wrongly.
//!
//! `SELECT DISTINCT x FROM (SELECT x FROM s UNION ALL SELECT x FROM s) t ORDER BY x LIMIT 3`, where the rows of `s` are sorted:
//! the engine sorts the groups that each partition has made, and keeps three of them. Some of them are equal, so that fewer
//! are left when they are put together. The limit holds behind that.
//!
//! `SELECT DISTINCT a, count(*) OVER (PARTITION BY b) FROM t LIMIT 3`: the engine lets an aggregation of rows in any order stop
//! early. When its rows are sorted later, it takes the limit for one of the first groups in an order, and fails.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::limit::LocalLimitExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use std::sync::Arc;

/// The rule of the physical optimizer. It runs after the one that sorts.
#[derive(Debug)]
pub struct LimitedGroups;

impl PhysicalOptimizerRule for LimitedGroups {
    fn name(&self) -> &str {
        "limited_groups"
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(of_node).data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn of_node(node: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let Some(aggregate) = node.downcast_ref::<AggregateExec>() else {
        return Ok(Transformed::no(node));
    };
    let is_early = aggregate.limit_options().is_some_and(|limit| limit.descending.is_none());
    if is_early && !aggregate.is_unordered_unfiltered_group_by_distinct() {
        let whole: Arc<dyn ExecutionPlan> = Arc::new(aggregate.with_new_limit_options(None));
        return Ok(Transformed::yes(whole));
    }
    if !matches!(aggregate.mode(), AggregateMode::Final | AggregateMode::FinalPartitioned) {
        return Ok(Transformed::no(node));
    }
    let mut least = None;
    let input = unlimited(aggregate.input(), &mut least)?;
    let Some(fetch) = least else { return Ok(Transformed::no(node)) };
    let whole = replace_children_if_necessary(Arc::clone(&node), vec![input])?;
    let limited: Arc<dyn ExecutionPlan> = Arc::new(LocalLimitExec::new(whole, fetch));
    Ok(Transformed::yes(limited))
}

/// A plan without limits above its first aggregation; `least` becomes the least of them.
fn unlimited(
    plan: &Arc<dyn ExecutionPlan>,
    least: &mut Option<usize>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let children = plan.children();
    let [child] = children[..] else { return Ok(Arc::clone(plan)) };
    if plan.downcast_ref::<AggregateExec>().is_some() {
        return Ok(Arc::clone(plan));
    }
    let before = *least;
    let input = unlimited(child, least)?;
    let whole = plan.fetch().and_then(|fetch| Some((fetch, plan.with_fetch(None)?)));
    let plan = match whole {
        Some((fetch, whole)) => {
            *least = Some(least.map_or(fetch, |least| least.min(fetch)));
            whole
        }
        None => Arc::clone(plan),
    };
    match *least == before {
        true => Ok(plan),
        false => replace_children_if_necessary(plan, vec![input]),
    }
}
