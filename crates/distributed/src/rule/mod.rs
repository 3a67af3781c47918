//! The last rule of the optimizer: operators over a scan on several servers become a plan fragment.
//!
//! The operators of a fragment return the same rows whether they work on all input rows at once or
//! on any parts of them whose outputs are put together. Plans whose rows are all on this server do
//! not change.
//!
//! This module walks the plan. [`colocated`] and [`stage`] make fragments of joins and aggregates
//! out of the fragments of their inputs.

mod colocated;
mod fragment;
mod partitions;
mod stage;

use crate::boundary::Stored;
use crate::exchange::Broadcast;
use crate::remote::as_shipped;
use crate::sites::{Participants, Sites};
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
use datafusion::physical_plan::union::InterleaveExec;
use datafusion::physical_plan::{Distribution, ExecutionPlan, replace_children_if_necessary};
use fragment::Fragment;
use partitions::{bytes_of, partitioned_as, single, unpartitioned, without_round_robin};
use scan::spread_scan::SpreadScan;
use stage::{Input, Rows};
use std::sync::Arc;

/// The rule.
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

/// Replaces parts of a plan by fragments. `once` is false below operators that run their input
/// repeatedly: their fragments send no rows for joins, which are computed only once. `by_key` says
/// whether an operator above relies on the partitions of the rows.
fn rewrite(
    plan: Arc<dyn ExecutionPlan>,
    once: bool,
    by_key: bool,
) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(fragment) = fragment_of(&plan, once)? {
        return partitioned_as(&plan, fragment.everywhere()?, by_key);
    }
    let once = once && plan.downcast_ref::<RecursiveQueryExec>().is_none();
    let required = plan.input_distribution_requirements().into_per_child();
    let keeps_partitions = by_key && plan.downcast_ref::<RepartitionExec>().is_none();
    let interleaves = plan.downcast_ref::<InterleaveExec>().is_some();
    let children = plan.children().into_iter().zip(required).map(|(child, required)| {
        let by_key = match required {
            Distribution::UnspecifiedDistribution => keeps_partitions || interleaves,
            Distribution::SinglePartition => false,
            _ => true,
        };
        rewrite(Arc::clone(child), once, by_key)
    });
    let children: Result<Vec<_>> = children.collect();
    replace_children_if_necessary(plan, children?)
}

/// The plan as one fragment, if it can be one.
fn fragment_of(plan: &Arc<dyn ExecutionPlan>, once: bool) -> Result<Option<Fragment>> {
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
        return if once { fragment_of_groups(plan, aggregate) } else { Ok(None) };
    }
    if let Some(stored) = plan.downcast_ref::<Stored>() {
        return fragment_of_stored(plan, stored, once);
    }
    if !is_by_part(plan) {
        return Ok(None);
    }
    let input = without_round_robin(plan.children()[0]);
    let Some(fragment) = fragment_of(&input, once)?.filter(|fragment| fragment.ships(plan)) else {
        return Ok(None);
    };
    let children = vec![Arc::clone(&fragment.plan)];
    let plan = replace_children_if_necessary(Arc::clone(plan), children)?;
    Ok(Some(Fragment { plan, ..fragment }))
}

/// Stored rows of a fragment: they stay on its servers, and are the input of the fragment that runs
/// next.
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
    let (parts, by_key) = (below.sites.each(&below.plan)?, below.sites.is_hash_partitioned());
    let stored = stored.everywhere(parts, as_shipped, Arc::clone(&participants), by_key);
    let sites = Sites::Participants(participants);
    Ok(Some(Fragment { plan: Arc::new(stored), sites, shipping: below.shipping }))
}

/// A join as a fragment: over both sides if they are colocated; over the right side if the left one
/// is small enough for a broadcast; otherwise over an exchange for each side.
fn fragment_of_join(
    plan: &Arc<dyn ExecutionPlan>,
    join: &HashJoinExec,
) -> Result<Option<Fragment>> {
    let (left, right) = (unpartitioned(join.left()), unpartitioned(join.right()));
    if let Some(scans) = colocated::scans_of(plan, join, [&left, &right])
        && let Some(left) = fragment_of(&left, true)?
        && let Some(right) = fragment_of(&right, true)?
        && let Some(fragment) = colocated::of_join(plan, join, [left, right], &scans)?
    {
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
    fragment_over_exchanges(plan, join, left, right, to_right)
}

/// A join over an exchange for each side. One of the sides may be computed on this server alone.
fn fragment_over_exchanges(
    plan: &Arc<dyn ExecutionPlan>,
    join: &HashJoinExec,
    left: Arc<dyn ExecutionPlan>,
    right: Arc<dyn ExecutionPlan>,
    to_right: Option<Fragment>,
) -> Result<Option<Fragment>> {
    let is_spread = |fragment: Fragment| fragment.ships(plan).then_some(fragment);
    let to_right = to_right.and_then(is_spread);
    let to_left = fragment_of(&left, true)?.and_then(is_spread);
    let Some(fragment) = [&to_left, &to_right].into_iter().flatten().next() else {
        return Ok(None);
    };
    let shipping = Arc::clone(&fragment.shipping);
    if !stage::is_worthwhile(plan, join, &shipping) {
        return Ok(None);
    }
    let rows = |fragment: Option<Fragment>, plan| match fragment {
        Some(fragment) => Ok(Rows::Spread(fragment)),
        None => rewrite(plan, true, false).map(Rows::Here),
    };
    let (left_by, right_by) = join.on().iter().cloned().unzip();
    let inputs = [
        Input { rows: rows(to_left, left)?, by: left_by },
        Input { rows: rows(to_right, right)?, by: right_by },
    ];
    stage::of_join(join, &inputs, shipping)
}

/// The final part of an aggregate as part of a fragment: the rows of a group are in one partition
/// already, or an exchange brings them together.
fn fragment_of_groups(
    plan: &Arc<dyn ExecutionPlan>,
    aggregate: &AggregateExec,
) -> Result<Option<Fragment>> {
    if !stage::finishes_groups(plan, aggregate) {
        return Ok(None);
    }
    let ships = |fragment: &Fragment| fragment.ships(plan);
    let input = aggregate.input();
    let Some(repartition) = input.downcast_ref::<RepartitionExec>() else {
        return match fragment_of(input, true)?.filter(ships) {
            Some(fragment) => stage::of_partitioned(plan, fragment),
            None => Ok(None),
        };
    };
    let Some(by) = stage::exchange_keys(repartition) else { return Ok(None) };
    match fragment_of(&unpartitioned(input), true)?.filter(ships) {
        Some(partial) => stage::of_groups(plan, partial, by),
        None => Ok(None),
    }
}

/// Whether the left rows of a join are broadcast.
fn is_broadcast(join: &HashJoinExec, right: &Fragment) -> bool {
    // Other types need to know for each left row whether any server has a match.
    let by_row = matches!(
        join.join_type(),
        JoinType::Inner | JoinType::Right | JoinType::RightSemi | JoinType::RightAnti
    );
    let limit = right.shipping.broadcast_bytes;
    let Some(left) = bytes_of(join.left()).filter(|left| by_row && *left <= limit) else {
        return false;
    };
    // A broadcast sends the left side to each server, an exchange sends both sides once.
    let exchanged = bytes_of(join.right()).map(|right| right.saturating_add(left));
    let is_cheaper = |exchanged| left.saturating_mul(right.sites.count()) <= exchanged;
    limit > 0
        && (join.partition_mode() == &PartitionMode::CollectLeft
            || exchanged.is_none_or(is_cheaper))
}

/// Whether an operator with one child may work on any part of the child's rows alone.
fn is_by_part(plan: &Arc<dyn ExecutionPlan>) -> bool {
    if let Some(sort) = plan.downcast_ref::<SortExec>() {
        return sort.fetch().is_some() && sort.preserve_partitioning();
    }
    plan.downcast_ref::<FilterExec>().is_some()
        || plan.downcast_ref::<ProjectionExec>().is_some()
        || plan.downcast_ref::<LocalLimitExec>().is_some()
        || plan.downcast_ref::<AggregateExec>().is_some()
}
