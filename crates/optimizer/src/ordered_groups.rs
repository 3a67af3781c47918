//! Keeps the first groups of an order only where the order is that of the aggregation's own values.
//!
//! `SELECT v, count(*) OVER () FROM t GROUP BY v ORDER BY v LIMIT 2`: the engine looks for the aggregation below operators that
//! return as many rows as they read, so that the window sees two groups. It follows the key by its name, also through
//! expressions: `SELECT -v AS v FROM (SELECT DISTINCT v FROM t) x ORDER BY v LIMIT 2` kept the least values of `v`.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use std::sync::Arc;

/// The rule of the physical optimizer. It runs after the one that limits aggregations.
#[derive(Debug)]
pub struct OrderedGroups;

impl PhysicalOptimizerRule for OrderedGroups {
    fn name(&self) -> &str {
        "ordered_groups"
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        checked(&plan, None)
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A plan with limits of aggregations where they hold. `key` is the column of the plan by which a sort above keeps the first
/// rows.
fn checked(plan: &Arc<dyn ExecutionPlan>, key: Option<usize>) -> Result<Arc<dyn ExecutionPlan>> {
    let below = key_below(plan, key);
    let children = plan.children().into_iter().map(|child| checked(child, below));
    let children = children.collect::<Result<Vec<_>>>()?;
    let plan = replace_children_if_necessary(Arc::clone(plan), children)?;
    let is_wrong = |aggregate: &&AggregateExec| {
        let is_ordered = aggregate.limit_options().is_some_and(|limit| limit.descending.is_some());
        is_ordered && key != Some(usize::from(!aggregate.aggr_expr().is_empty()))
    };
    let Some(aggregate) = plan.downcast_ref::<AggregateExec>().filter(is_wrong) else {
        return Ok(plan);
    };
    Ok(Arc::new(aggregate.with_new_limit_options(None)))
}

/// The column of an operator's input by which a sort keeps the first rows: in the operator, or above it. `None` if the operator
/// needs other rows, too.
fn key_below(plan: &Arc<dyn ExecutionPlan>, key: Option<usize>) -> Option<usize> {
    if let Some(sort) = plan.downcast_ref::<SortExec>() {
        sort.fetch()?;
        return match &sort.properties().output_ordering()?[..] {
            [only] => only.expr.downcast_ref::<Column>().map(Column::index),
            _ => None,
        };
    }
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let computed = projection.expr().get(key?)?;
        return computed.expr.downcast_ref::<Column>().map(Column::index);
    }
    if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
        let is_final =
            matches!(aggregate.mode(), AggregateMode::Final | AggregateMode::FinalPartitioned);
        return key.filter(|_| is_final);
    }
    let keeps_all = plan.is::<CoalescePartitionsExec>() && plan.fetch().is_none()
        || plan.is::<RepartitionExec>()
        || plan.is::<UnionExec>();
    key.filter(|_| keeps_all)
}
