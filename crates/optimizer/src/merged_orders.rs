//! Counts the first rows of an order above the operators that need all rows.
//!
//! `SELECT count(*) OVER (), id FROM t ORDER BY id LIMIT 2`, where the partitions of `t` are sorted: the engine merges the
//! partitions in their order below the window, and drops the sort. The merge takes the number of first rows from the sort, so
//! that the window sees two rows. The same happens below filters, joins, and the OFFSET of a subquery. Here the sort leaves a
//! limit in its place, which the engine pushes down later as far as it holds.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::ensure_requirements::enforce_distribution::{
    DistributionContext, PlanWithKeyRequirements, adjust_input_keys_ordering, ensure_distribution,
    reorder_join_keys_to_inputs,
};
use datafusion::physical_optimizer::ensure_requirements::enforce_sorting::sort_pushdown::{
    SortPushDown, assign_initial_requirements, pushdown_sorts,
};
use datafusion::physical_optimizer::ensure_requirements::enforce_sorting::{
    PlanWithCorrespondingCoalescePartitions, PlanWithCorrespondingSort, ensure_sorting,
    parallelize_sorts, replace_with_order_preserving_variants as variants,
};
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use std::sync::Arc;
use variants::{OrderPreservationContext, replace_with_order_preserving_variants};

/// The rule of the physical optimizer, in the place of the engine's `EnsureRequirements`. It has the same steps, but for the
/// one for endless inputs.
#[derive(Debug)]
pub struct MergedOrders;

impl PhysicalOptimizerRule for MergedOrders {
    fn name(&self) -> &str {
        "EnsureRequirements"
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = match config.optimizer.top_down_join_key_reordering {
            true => {
                let context = PlanWithKeyRequirements::new_default(plan);
                context.transform_down(adjust_input_keys_ordering).data()?.plan
            }
            false => plan
                .transform_up(|node| reorder_join_keys_to_inputs(node).map(Transformed::yes))
                .data()?,
        };
        let context = DistributionContext::new_default(plan);
        let plan = context.transform_up(|node| ensure_distribution(node, config)).data()?.plan;
        let context = PlanWithCorrespondingSort::new_default(plan);
        let mut plan = context.transform_up(ensure_sorting).data()?.plan;
        if config.optimizer.repartition_sorts {
            let context = PlanWithCorrespondingCoalescePartitions::new_default(plan);
            plan = context.transform_up(parallelize_sorts).data()?.plan;
        }
        let context = OrderPreservationContext::new_default(plan);
        let plan = context.transform_up(|node| merged(node, config)).data()?.plan;
        let mut context = SortPushDown::new_default(plan);
        assign_initial_requirements(&mut context);
        Ok(pushdown_sorts(context)?.plan)
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A sort replaced by merges below it, with a limit in its place; or the node as it is.
fn merged(
    mut node: OrderPreservationContext,
    config: &ConfigOptions,
) -> Result<Transformed<OrderPreservationContext>> {
    let plan = Arc::clone(&node.plan);
    let Some(sort) = plan.downcast_ref::<SortExec>() else {
        return replace_with_order_preserving_variants(node, false, true, config);
    };
    node.plan = Arc::new(sort.with_fetch(None));
    let replaced = replace_with_order_preserving_variants(node, false, true, config)?.data;
    if replaced.plan.is::<SortExec>() {
        // What is below the sort was only tried.
        return Ok(Transformed::no(OrderPreservationContext::new_default(plan)));
    }
    let Some(fetch) = sort.fetch() else { return Ok(Transformed::yes(replaced)) };
    let order = sort.properties().output_ordering().cloned();
    let input = Arc::clone(&replaced.plan);
    let limit: Arc<dyn ExecutionPlan> = match input.output_partitioning().partition_count() {
        1 => {
            let mut limit = GlobalLimitExec::new(input, 0, Some(fetch));
            limit.set_required_ordering(order);
            Arc::new(limit)
        }
        _ => {
            let mut limit = LocalLimitExec::new(input, fetch);
            limit.set_required_ordering(order);
            Arc::new(limit)
        }
    };
    Ok(Transformed::yes(OrderPreservationContext::new(limit, false, vec![replaced])))
}
