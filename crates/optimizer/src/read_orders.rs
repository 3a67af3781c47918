//! Gives rows in the order in which one partition reads them.
//!
//! `array_agg(x) FROM generate_series(1, 20000) x` takes the numbers in the order of the series, and rows that a series makes
//! for an INSERT get their numbers from a sequence in it. The engine hands out the batches of one partition to several in
//! turn, and gathers them as they are done, which saves time only for joins and aggregates.

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
use datafusion::physical_plan::{
    ChildrenPropertiesMode, ExecutionPlan, ExecutionPlanProperties, ReplaceChildrenOptions,
};
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
                Some(aggregate) if depends(aggregate) => aggregate.input(),
                Some(_) => return Ok(Transformed::no(node)),
                None => match node.downcast_ref::<CoalescePartitionsExec>() {
                    Some(gathered) => gathered.input(),
                    None => return Ok(Transformed::no(node)),
                },
            };
            let Some(input) = whole(input)? else { return Ok(Transformed::no(node)) };
            Ok(Transformed::yes(over(&node, input)?))
        };
        let plan = plan.transform_up(kept).data()?;
        Ok(whole(&plan)?.unwrap_or(plan))
    }

    fn name(&self) -> &str {
        "read_orders"
    }

    fn schema_check(&self) -> bool {
        true
    }
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

/// Rows that stay in the partition that reads them. `None` if they do already.
fn whole(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(spread) = plan.downcast_ref::<RepartitionExec>() {
        let is_in_turn = matches!(spread.partitioning(), Partitioning::RoundRobinBatch(_));
        let is_one = spread.input().output_partitioning().partition_count() == 1;
        return Ok((is_in_turn && is_one).then(|| Arc::clone(spread.input())));
    }
    let is_in_order =
        plan.is::<ProjectionExec>() || plan.is::<FilterExec>() || plan.is::<LocalLimitExec>();
    if let (true, [input]) = (is_in_order, &plan.children()[..])
        && let Some(input) = whole(input)?
    {
        return Ok(Some(over(plan, input)?));
    }
    Ok(None)
}

/// An operator over another input.
fn over(
    plan: &Arc<dyn ExecutionPlan>,
    input: Arc<dyn ExecutionPlan>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    Arc::clone(plan).replace_children(vec![input], options)
}
