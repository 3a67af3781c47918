//! Plans with and without partitions of their own, and their estimated sizes.

use datafusion::common::Result;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, Partitioning};
use std::sync::Arc;

/// A replacement of `before`, in the partitions on which operators above rely.
pub(super) fn partitioned_as(
    before: &Arc<dyn ExecutionPlan>,
    plan: Arc<dyn ExecutionPlan>,
    by_key: bool,
) -> Result<Arc<dyn ExecutionPlan>> {
    let partitioning = before.output_partitioning();
    let is_single = partitioning.partition_count() == 1;
    match (partitioning, plan.output_ordering()) {
        (_, Some(order)) if is_single => {
            Ok(Arc::new(SortPreservingMergeExec::new(order.clone(), plan)))
        }
        (_, None) if is_single => Ok(Arc::new(CoalescePartitionsExec::new(plan))),
        (Partitioning::Hash(..), _) if by_key => {
            Ok(Arc::new(RepartitionExec::try_new(plan, partitioning.clone())?))
        }
        _ => Ok(plan),
    }
}

/// The plan without a round-robin repartitioning on top: its rows are on several servers anyway.
pub(super) fn without_round_robin(plan: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match plan.downcast_ref::<RepartitionExec>() {
        Some(repartition)
            if matches!(repartition.partitioning(), Partitioning::RoundRobinBatch(_)) =>
        {
            Arc::clone(repartition.input())
        }
        _ => Arc::clone(plan),
    }
}

/// The plan without repartitionings and merges on top: its rows will be partitioned in another way.
pub(super) fn unpartitioned(plan: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    if let Some(repartition) = plan.downcast_ref::<RepartitionExec>() {
        return unpartitioned(repartition.input());
    }
    match plan.downcast_ref::<CoalescePartitionsExec>() {
        Some(merged) if merged.fetch().is_none() => unpartitioned(merged.input()),
        _ => Arc::clone(plan),
    }
}

/// The plan in one partition.
pub(super) fn single(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match plan.output_partitioning().partition_count() {
        1 => plan,
        _ => Arc::new(CoalescePartitionsExec::new(plan)),
    }
}

/// The estimated bytes of a plan's rows; `None` if unknown.
pub(super) fn bytes_of(plan: &Arc<dyn ExecutionPlan>) -> Option<usize> {
    let statistics = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new());
    statistics.ok().and_then(|known| known.total_byte_size.get_value().copied())
}
