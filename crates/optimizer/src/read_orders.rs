//! Gives rows in the order in which one partition reads them, and the sides of a UNION ALL in theirs.
//!
//! `array_agg(x) FROM generate_series(1, 20000) x` takes the numbers in the order of the series, and rows that a series makes
//! for an INSERT get their numbers from a sequence in it. The engine hands out the batches of one partition to several in
//! turn, and gathers them as they are done, which saves time only for joins and aggregates. Volatile functions are called in
//! the order of the rows, too: `SELECT nextval('s') FROM (SELECT x FROM t ORDER BY x OFFSET 0) y`.
//!
//! `SELECT 1 UNION ALL SELECT 2` gives 1 first. The engine gathers the rows of the sides as they come. A side that is read in
//! several partitions, as large tables are, has no order.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_expr::Partitioning;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::limit::LocalLimitExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, ExecutionPlan, ExecutionPlanProperties, InputOrderMode,
    ReplaceChildrenOptions,
};
use executor::InOrder;
use std::sync::Arc;

/// The rule of the physical optimizer. It runs after partitions are made.
#[derive(Debug)]
pub struct ReadOrders;

impl PhysicalOptimizerRule for ReadOrders {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let kept = |node: Arc<dyn ExecutionPlan>| {
            let input = match node.downcast_ref::<AggregateExec>() {
                Some(aggregate) if depends(aggregate) => {
                    whole(aggregate.input(), is_sorted_for(aggregate))?
                }
                Some(_) => return Ok(Transformed::no(node)),
                None => match node.downcast_ref::<CoalescePartitionsExec>() {
                    Some(gathered) => whole(gathered.input(), false)?,
                    None if calls_volatile(&node)? => whole(node.children()[0], true)?,
                    None => return Ok(Transformed::no(node)),
                },
            };
            let Some(input) = input else { return Ok(Transformed::no(node)) };
            Ok(Transformed::yes(over(&node, vec![input])?))
        };
        let plan = plan.transform_up(kept).data()?;
        Ok(whole(&plan, false)?.unwrap_or(plan))
    }

    fn name(&self) -> &str {
        "read_orders"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Whether an operator is a projection that calls volatile functions.
fn calls_volatile(node: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    let Some(projection) = node.downcast_ref::<ProjectionExec>() else { return Ok(false) };
    for computed in projection.expr() {
        if computed.expr.exists(|part| Ok(part.is_volatile_node()))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an aggregate gathers values in the order in which rows come, or returns one of several equal ones.
fn depends(aggregate: &AggregateExec) -> bool {
    aggregate.aggr_expr().iter().any(|call| {
        let name = call.fun().name();
        let gathers = matches!(name, "array_agg" | "string_agg" | "first_value")
            || name.ends_with(" in order")
            || name.ends_with("least_value")
            || name.ends_with("greatest_value");
        gathers && call.order_bys().is_empty()
    })
}

/// Whether an aggregate may rely on an order of its rows, which the sides of a union can have in common.
fn is_sorted_for(aggregate: &AggregateExec) -> bool {
    let is_ordered = aggregate.aggr_expr().iter().any(|call| !call.order_bys().is_empty());
    is_ordered || *aggregate.input_order_mode() != InputOrderMode::Linear
}

/// Rows that stay in the partition that reads them, or come from the sides of a union in turn. `None` if they do already, or
/// if rows that have to stay sorted would not.
fn whole(
    plan: &Arc<dyn ExecutionPlan>,
    stays_sorted: bool,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(spread) = plan.downcast_ref::<RepartitionExec>() {
        let is_in_turn = matches!(spread.partitioning(), Partitioning::RoundRobinBatch(_));
        return match spread.input().output_partitioning().partition_count() {
            1 => Ok(is_in_turn.then(|| Arc::clone(spread.input()))),
            _ if is_in_turn => whole(spread.input(), stays_sorted),
            _ => Ok(None),
        };
    }
    if plan.is::<UnionExec>() {
        let is_lost = stays_sorted && plan.output_ordering().is_some();
        return if is_lost { Ok(None) } else { in_order(plan) };
    }
    let is_in_order =
        plan.is::<ProjectionExec>() || plan.is::<FilterExec>() || plan.is::<LocalLimitExec>();
    if let (true, [input]) = (is_in_order, &plan.children()[..])
        && let Some(input) = whole(input, stays_sorted)?
    {
        return Ok(Some(over(plan, vec![input])?));
    }
    Ok(None)
}

/// The sides of a union in their order. `None` if one of them has several partitions.
fn in_order(union: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let mut sides = Vec::new();
    for side in union.children() {
        let side = match side.output_partitioning().partition_count() {
            1 => Arc::clone(side),
            _ => match whole(side, false)? {
                Some(side) if side.output_partitioning().partition_count() == 1 => side,
                _ => return Ok(None),
            },
        };
        sides.push(side);
    }
    Ok(Some(Arc::new(InOrder::new(over(union, sides)?))))
}

/// An operator over other inputs.
fn over(
    plan: &Arc<dyn ExecutionPlan>,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    Arc::clone(plan).replace_children(inputs, options)
}
