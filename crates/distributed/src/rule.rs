//! The last rule of the optimizer: operators over a scan on several servers become a fragment.
//!
//! A fragment's operators give the same whether they work on all rows at once or on any part of them, with the parts
//! put together afterwards. Plans whose rows are all here are left as they are.

use super::broadcast::Broadcast;
use super::colocated;
use super::sites::{Participants, Sites};
use super::stage;
use crate::bundles::Stored;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{JoinType, Result};
use datafusion::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::limit::LocalLimitExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::union::InterleaveExec;
use datafusion::physical_plan::{
    Distribution, ExecutionPlan, ExecutionPlanProperties, Partitioning,
    replace_children_if_necessary,
};
use scan::shipping::Shipping;
use scan::spread_scan::SpreadScan;
use std::sync::Arc;

/// Makes fragments.
#[derive(Debug)]
pub struct ShipFragments;

impl PhysicalOptimizerRule for ShipFragments {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if plan.exists(|node| Ok(node.downcast_ref::<SpreadScan>().is_some()))? {
            rewrite(plan, true, false)
        } else {
            Ok(plan)
        }
    }

    fn name(&self) -> &'static str {
        "ship_fragments"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Operators that run on several servers.
pub(super) struct Fragment {
    /// What runs here.
    pub(super) plan: Arc<dyn ExecutionPlan>,
    pub(super) sites: Sites,
    pub(super) shipping: Arc<Shipping>,
}

/// A plan with fragments in the place of what can be one. What is run again and again takes no gathered rows along:
/// they are gathered once. `by_key` says whether somebody above relies on the partitions in which rows are.
pub(super) fn rewrite(
    plan: Arc<dyn ExecutionPlan>,
    once: bool,
    by_key: bool,
) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(fragment) = fragment_of(&plan, once)? {
        return partitioned_as(&plan, fragment.everywhere()?, by_key);
    }
    let once = once && plan.downcast_ref::<RecursiveQueryExec>().is_none();
    let required = plan.input_distribution_requirements().into_per_child();
    let passes_on = by_key && plan.downcast_ref::<RepartitionExec>().is_none();
    let interleaves = plan.downcast_ref::<InterleaveExec>().is_some();
    let children = plan.children().into_iter().zip(required).map(|(child, required)| {
        let by_key = match required {
            Distribution::UnspecifiedDistribution => passes_on || interleaves,
            Distribution::SinglePartition => false,
            _ => true,
        };
        rewrite(Arc::clone(child), once, by_key)
    });
    let children: Result<Vec<_>> = children.collect();
    replace_children_if_necessary(plan, children?)
}

/// What has taken a plan's place, in partitions on which others rely.
fn partitioned_as(
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

/// A plan as one fragment, if it can be one.
pub(super) fn fragment_of(plan: &Arc<dyn ExecutionPlan>, once: bool) -> Result<Option<Fragment>> {
    if let Some(scan) = plan.downcast_ref::<SpreadScan>() {
        return Ok(Some(Fragment {
            plan: Arc::new(scan.here.clone()),
            sites: Sites::owners(vec![scan.elsewhere.clone()]),
            shipping: Arc::clone(&scan.shipping),
        }));
    }
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        return if once && !join.null_aware { fragment_of_join(plan, join) } else { Ok(None) };
    }
    if let Some(aggregate) = plan.downcast_ref::<AggregateExec>()
        && *aggregate.mode() != AggregateMode::Partial
    {
        return if once { stage::of_groups(plan, aggregate) } else { Ok(None) };
    }
    if let Some(stored) = plan.downcast_ref::<Stored>() {
        return fragment_of_stored(plan, stored, once);
    }
    if !is_by_part(plan) {
        return Ok(None);
    }
    let Some(fragment) = fragment_of(&undealt(plan.children()[0]), once)? else { return Ok(None) };
    if !fragment.ships(plan) {
        return Ok(None);
    }
    let children = vec![Arc::clone(&fragment.plan)];
    let plan = replace_children_if_necessary(Arc::clone(plan), children)?;
    Ok(Some(Fragment { plan, ..fragment }))
}

impl Fragment {
    /// Its rows on all of its servers.
    fn everywhere(self) -> Result<Arc<dyn ExecutionPlan>> {
        let Shipping { gathering, fan_in, .. } = *self.shipping;
        self.sites.everywhere(self.plan, gathering, fan_in)
    }

    /// Whether an operator may become part of it.
    pub(super) fn ships(&self, plan: &Arc<dyn ExecutionPlan>) -> bool {
        self.shipping.operators && self.shipping.portable.operator(plan.as_ref())
    }
}

/// Rows that stay on the servers that run the fragment below, as the beginning of the one that runs next.
fn fragment_of_stored(
    plan: &Arc<dyn ExecutionPlan>,
    stored: &Stored,
    once: bool,
) -> Result<Option<Fragment>> {
    let Some(below) = fragment_of(stored.bundle(), once)?.filter(|below| below.ships(plan)) else {
        return Ok(None);
    };
    let Some(participants) = Participants::of(&[&below.sites])?.map(Arc::new) else {
        return Ok(None);
    };
    let (parts, by_key) = (below.sites.each(&below.plan)?, below.sites.are_dealt());
    let plan = Arc::new(stored.everywhere(parts, Arc::clone(&participants), by_key));
    Ok(Some(Fragment { plan, sites: Sites::Participants(participants), shipping: below.shipping }))
}

/// A join as a fragment: over both sides where they lie together, of its right side, if the left one is small enough to be
/// sent to everybody, or of both sides dealt out by the join's keys.
fn fragment_of_join(
    plan: &Arc<dyn ExecutionPlan>,
    join: &HashJoinExec,
) -> Result<Option<Fragment>> {
    let (left, right) = (gathered(join.left()), gathered(join.right()));
    if let Some(fragment) = colocated::of_join(plan, join, [&left, &right])? {
        return Ok(Some(fragment));
    }
    let to_right = fragment_of(&right, true)?;
    if let Some(fragment) = &to_right
        && fragment.ships(plan)
        && is_broadcast(join, fragment)
    {
        let left = single(rewrite(left, true, false)?);
        let children = vec![Arc::new(Broadcast::new(left)) as _, Arc::clone(&fragment.plan)];
        let plan = match join.partition_mode() {
            PartitionMode::CollectLeft => {
                replace_children_if_necessary(Arc::clone(plan), children)?
            }
            _ => {
                let builder = join.builder().with_new_children(children)?;
                builder
                    .with_partition_mode(PartitionMode::CollectLeft)
                    .recompute_properties()
                    .build_exec()?
            }
        };
        let (sites, shipping) = (fragment.sites.clone(), Arc::clone(&fragment.shipping));
        return Ok(Some(Fragment { plan, sites, shipping }));
    }
    stage::of_join(plan, join, left, (right, to_right))
}

/// Whether a join's left rows go to everybody.
fn is_broadcast(join: &HashJoinExec, right: &Fragment) -> bool {
    // The others must know of every row on the left whether it has met one.
    let by_row = matches!(
        join.join_type(),
        JoinType::Inner | JoinType::Right | JoinType::RightSemi | JoinType::RightAnti
    );
    let limit = right.shipping.broadcast_bytes;
    let Some(left) = bytes_of(join.left()).filter(|left| by_row && *left <= limit) else {
        return false;
    };
    // Everybody gets all of the left side, or each a part of both.
    let repartition = bytes_of(join.right()).map(|right| right.saturating_add(left));
    let is_cheaper = |repartition| left.saturating_mul(right.sites.count()) <= repartition;
    limit > 0
        && (join.partition_mode() == &PartitionMode::CollectLeft
            || repartition.is_none_or(is_cheaper))
}

/// How many bytes a plan's rows are believed to have; `None` where nothing is known.
pub(super) fn bytes_of(plan: &Arc<dyn ExecutionPlan>) -> Option<usize> {
    let statistics = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new());
    statistics.ok().and_then(|known| known.total_byte_size.get_value().copied())
}

/// Whether an operator with one child may take any part of the child's rows by itself.
fn is_by_part(plan: &Arc<dyn ExecutionPlan>) -> bool {
    if let Some(sort) = plan.downcast_ref::<SortExec>() {
        return sort.fetch().is_some() && sort.preserve_partitioning();
    }
    plan.downcast_ref::<FilterExec>().is_some()
        || plan.downcast_ref::<ProjectionExec>().is_some()
        || plan.downcast_ref::<LocalLimitExec>().is_some()
        || plan.downcast_ref::<AggregateExec>().is_some()
}

/// A plan whose rows are not dealt out to more partitions: they are on several servers already.
fn undealt(plan: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match plan.downcast_ref::<RepartitionExec>() {
        Some(repartition)
            if matches!(repartition.partitioning(), Partitioning::RoundRobinBatch(_)) =>
        {
            Arc::clone(repartition.input())
        }
        _ => Arc::clone(plan),
    }
}

/// A plan whose rows are in no partitions of their own: they will be in others.
pub(super) fn gathered(plan: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    if let Some(repartition) = plan.downcast_ref::<RepartitionExec>() {
        return gathered(repartition.input());
    }
    match plan.downcast_ref::<CoalescePartitionsExec>() {
        Some(merged) if merged.fetch().is_none() => gathered(merged.input()),
        _ => Arc::clone(plan),
    }
}

/// A plan in one partition.
fn single(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match plan.output_partitioning().partition_count() {
        1 => plan,
        _ => Arc::new(CoalescePartitionsExec::new(plan)),
    }
}
