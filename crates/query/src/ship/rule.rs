//! The last rule of the optimizer: operators over a scan on several servers become a bundle.
//!
//! A bundle's operators give the same whether they work on all rows at once or on any part of them, with the parts
//! put together afterwards. Plans whose rows are all here are left as they are.

use super::broadcast::Broadcast;
use super::remote::BROADCAST_BYTES_MAX;
use super::{Shipping, everywhere};
use crate::scan::places::Elsewhere;
use crate::scan::spread_scan::SpreadScan;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{JoinType, Result};
use datafusion::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::limit::LocalLimitExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, Partitioning, replace_children_if_necessary};
use std::sync::Arc;

/// Makes bundles.
#[derive(Debug)]
pub(crate) struct ShipBundles;

impl PhysicalOptimizerRule for ShipBundles {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match plan.exists(|node| Ok(node.downcast_ref::<SpreadScan>().is_some()))? {
            true => rewrite(plan, true),
            false => Ok(plan),
        }
    }

    fn name(&self) -> &'static str {
        "ship_bundles"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Operators that run on every owner.
struct Bundle {
    /// What runs here.
    plan: Arc<dyn ExecutionPlan>,
    elsewhere: Elsewhere,
    shipping: Arc<Shipping>,
}

/// A plan with bundles in the place of what can be one. What is run again and again takes no gathered rows along:
/// they are gathered once.
fn rewrite(plan: Arc<dyn ExecutionPlan>, once: bool) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(bundle) = bundle_of(&plan, once)? {
        return everywhere(bundle.plan, &bundle.elsewhere);
    }
    let once = once && plan.downcast_ref::<RecursiveQueryExec>().is_none();
    let children: Result<Vec<_>> =
        plan.children().into_iter().map(|child| rewrite(Arc::clone(child), once)).collect();
    replace_children_if_necessary(plan, children?)
}

/// A plan as one bundle, if it can be one.
fn bundle_of(plan: &Arc<dyn ExecutionPlan>, once: bool) -> Result<Option<Bundle>> {
    if let Some(scan) = plan.downcast_ref::<SpreadScan>() {
        return Ok(Some(Bundle {
            plan: Arc::new(scan.here.clone()),
            elsewhere: scan.elsewhere.clone(),
            shipping: Arc::clone(&scan.shipping),
        }));
    }
    let Some(by_part) = child_by_part(plan, once) else { return Ok(None) };
    let mut children: Vec<_> = plan.children().into_iter().cloned().collect();
    let below = undealt(&children[by_part]);
    let Some(bundle) = bundle_of(&below, once)? else { return Ok(None) };
    if !bundle.shipping.bundling || !bundle.shipping.portable.operator(plan.as_ref()) {
        return Ok(None);
    }
    for (index, child) in children.iter_mut().enumerate() {
        *child = match index == by_part {
            true => Arc::clone(&bundle.plan),
            false => Arc::new(Broadcast::new(rewrite(Arc::clone(child), once)?)),
        };
    }
    let plan = replace_children_if_necessary(Arc::clone(plan), children)?;
    Ok(Some(Bundle { plan, ..bundle }))
}

/// The child of which an operator may take any part of the rows by itself.
fn child_by_part(plan: &Arc<dyn ExecutionPlan>, once: bool) -> Option<usize> {
    if plan.downcast_ref::<FilterExec>().is_some()
        || plan.downcast_ref::<ProjectionExec>().is_some()
        || plan.downcast_ref::<LocalLimitExec>().is_some()
    {
        return Some(0);
    }
    if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
        return (*aggregate.mode() == AggregateMode::Partial).then_some(0);
    }
    if let Some(sort) = plan.downcast_ref::<SortExec>() {
        return (sort.fetch().is_some() && sort.preserve_partitioning()).then_some(0);
    }
    let join = plan.downcast_ref::<HashJoinExec>()?;
    let collects = *join.partition_mode() == PartitionMode::CollectLeft && !join.null_aware;
    // The others must know of every row on the left whether it has met one.
    let by_row = matches!(
        join.join_type(),
        JoinType::Inner | JoinType::Right | JoinType::RightSemi | JoinType::RightAnti
    );
    (once && collects && by_row && is_small(join.left())).then_some(1)
}

/// Whether rows are believed to be few enough to be sent to every owner.
fn is_small(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let statistics = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new());
    let bytes = statistics.ok().and_then(|known| known.total_byte_size.get_value().copied());
    bytes.is_some_and(|bytes| bytes <= BROADCAST_BYTES_MAX)
}

/// A plan whose rows are not dealt out to more partitions: they are on several servers already.
fn undealt(plan: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match plan.downcast_ref::<RepartitionExec>() {
        Some(dealt) if matches!(dealt.partitioning(), Partitioning::RoundRobinBatch(_)) => {
            Arc::clone(dealt.input())
        }
        _ => Arc::clone(plan),
    }
}
