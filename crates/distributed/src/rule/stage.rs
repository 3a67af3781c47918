//! Fragments over exchanges: joins of two large inputs, and aggregates with many groups.
//!
//! The rows of each input are hash-partitioned by the join's keys or the groups. Rows with equal
//! keys meet in one partition of one server, where the operator returns what it would return for
//! all rows.

use super::fragment::Fragment;
use super::partitions::bytes_of;
use crate::exchange::Exchange;
use crate::remote::as_shipped;
use crate::sites::{Participants, Sites};
use datafusion::common::Result;
use datafusion::physical_expr::{PartitioningSatisfaction, PhysicalExpr};
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{
    ExecutionPlan, ExecutionPlanProperties, Partitioning, replace_children_if_necessary,
};
use scan::shipping::Shipping;
use std::sync::Arc;

/// An aggregate with more groups than this is finished on the servers among which they are
/// partitioned, instead of on the coordinator.
const GROUPS_MAX: usize = 100_000;

/// A join whose sides have no more bytes together is not worth the messages of two exchanges.
const BYTES_MIN: usize = 1 << 20;

/// Rows to be hash-partitioned.
pub(super) struct Input {
    pub(super) rows: Rows,
    /// The keys.
    pub(super) by: Vec<Arc<dyn PhysicalExpr>>,
}

/// Where the rows of an input are computed.
pub(super) enum Rows {
    Here(Arc<dyn ExecutionPlan>),
    Spread(Fragment),
}

/// Whether a join is worth an exchange for each side.
pub(super) fn is_worthwhile(
    plan: &Arc<dyn ExecutionPlan>,
    join: &HashJoinExec,
    shipping: &Shipping,
) -> bool {
    let bytes = bytes_of(join.left()).zip(bytes_of(join.right()));
    let worth = BYTES_MIN.min(shipping.broadcast_bytes);
    let is_small = bytes.is_some_and(|(left, right)| left.saturating_add(right) <= worth);
    !is_small && plan.output_ordering().is_none()
}

/// A join as a fragment over an exchange for each side.
pub(super) fn of_join(
    join: &HashJoinExec,
    inputs: &[Input; 2],
    shipping: Arc<Shipping>,
) -> Result<Option<Fragment>> {
    let Some((children, participants)) = exchanges(inputs, shipping.partitions)? else {
        return Ok(None);
    };
    // The dynamic filter of the join on one server does not hold on the others, so it is removed.
    let builder = join.builder().with_new_children(children)?.reset_state();
    let builder = builder.with_partition_mode(PartitionMode::Partitioned).recompute_properties();
    let sites = Sites::Participants(participants);
    Ok(Some(Fragment { plan: builder.build_exec()?, sites, shipping }))
}

/// Whether an aggregate finishes groups that are hash-partitioned.
pub(super) fn finishes_groups(plan: &Arc<dyn ExecutionPlan>, aggregate: &AggregateExec) -> bool {
    let by_key = matches!(
        aggregate.mode(),
        AggregateMode::FinalPartitioned | AggregateMode::SinglePartitioned
    );
    by_key && plan.output_ordering().is_none()
}

/// The keys of an aggregate's input if that is worth an exchange: it is hash-partitioned and has
/// many groups.
pub(super) fn exchange_keys(repartition: &RepartitionExec) -> Option<&[Arc<dyn PhysicalExpr>]> {
    let Partitioning::Hash(by, _) = repartition.partitioning() else { return None };
    (!repartition.preserve_order() && has_many_groups(repartition)).then_some(by.as_slice())
}

/// The final aggregate as a fragment over an exchange of its partial groups.
pub(super) fn of_groups(
    plan: &Arc<dyn ExecutionPlan>,
    partial: Fragment,
    by: &[Arc<dyn PhysicalExpr>],
) -> Result<Option<Fragment>> {
    let shipping = Arc::clone(&partial.shipping);
    let inputs = [Input { rows: Rows::Spread(partial), by: by.to_vec() }];
    let Some((children, participants)) = exchanges(&inputs, shipping.partitions)? else {
        return Ok(None);
    };
    let plan = replace_children_if_necessary(Arc::clone(plan), children)?;
    Ok(Some(Fragment { plan, sites: Sites::Participants(participants), shipping }))
}

/// An aggregate as part of the fragment below it, if that has all rows of a group in one partition.
pub(super) fn of_partitioned(
    plan: &Arc<dyn ExecutionPlan>,
    fragment: Fragment,
) -> Result<Option<Fragment>> {
    let required = plan.input_distribution_requirements().into_per_child().swap_remove(0);
    let (partitioning, properties) =
        (fragment.plan.output_partitioning(), fragment.plan.equivalence_properties());
    let satisfaction = match partitioning {
        Partitioning::Hash(..) => partitioning.satisfaction(&required, properties, true),
        _ => PartitioningSatisfaction::NotSatisfied,
    };
    if !fragment.sites.is_hash_partitioned()
        || satisfaction == PartitioningSatisfaction::NotSatisfied
    {
        return Ok(None);
    }
    let children = vec![Arc::clone(&fragment.plan)];
    let plan = replace_children_if_necessary(Arc::clone(plan), children)?;
    Ok(Some(Fragment { plan, ..fragment }))
}

/// Whether more groups are expected than one server should finish.
fn has_many_groups(partial: &RepartitionExec) -> bool {
    let statistics = StatisticsContext::new().compute(partial, &StatisticsArgs::new());
    let groups = statistics.ok().and_then(|known| known.num_rows.get_value().copied());
    groups.is_some_and(|groups| groups > GROUPS_MAX)
}

/// An exchange for each input, and the servers among which all of them partition their rows.
type Exchanged = (Vec<Arc<dyn ExecutionPlan>>, Arc<Participants>);

fn exchanges(inputs: &[Input], partitions: usize) -> Result<Option<Exchanged>> {
    let sites = inputs.iter().filter_map(|input| match &input.rows {
        Rows::Here(_) => None,
        Rows::Spread(fragment) => Some(&fragment.sites),
    });
    let Some(participants) = Participants::of(&sites.collect::<Vec<_>>())? else {
        return Ok(None);
    };
    let participants = Arc::new(participants);
    let mut exchanges = Vec::with_capacity(inputs.len());
    for input in inputs {
        let producers = match &input.rows {
            Rows::Here(plan) => vec![Arc::clone(plan)],
            Rows::Spread(fragment) => fragment.sites.each(&fragment.plan)?,
        };
        let participants = Arc::clone(&participants);
        let exchange =
            Exchange::new(producers, as_shipped, input.by.clone(), participants, partitions);
        exchanges.push(Arc::new(exchange) as Arc<dyn ExecutionPlan>);
    }
    Ok(Some((exchanges, participants)))
}
