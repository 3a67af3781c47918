//! Fragments over exchanges: joins of which both sides are large, and aggregates with many groups.
//!
//! The rows of each input are dealt out by the join's keys or the groups, so that those with equal keys are on one of the
//! servers, in one of its partitions: there, the operator gives what it would give of all rows.

use super::exchange::Exchange;
use super::rule::{Fragment, bytes_of, fragment_of, gathered, rewrite};
use super::sites::{Participants, Sites};
use datafusion::common::Result;
use datafusion::physical_expr::PartitioningSatisfaction;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{
    ExecutionPlan, ExecutionPlanProperties, Partitioning, replace_children_if_necessary,
};
use std::sync::Arc;

/// With more groups than this an aggregate is finished where they are dealt out to, and not by the coordinator.
const GROUPS_MAX: usize = 100_000;

/// A join of two sides that have no more bytes together is not worth the messages of two exchanges.
const BYTES_MIN: usize = 1 << 20;

/// Rows that are to be dealt out, and by what.
struct Input {
    rows: Rows,
    by: Vec<Arc<dyn PhysicalExpr>>,
}

/// Where they are computed.
enum Rows {
    Here(Arc<dyn ExecutionPlan>),
    Spread(Fragment),
}

/// A join as a fragment over an exchange for each side. One of the sides may be computed on this server alone.
pub(super) fn of_join(
    plan: &Arc<dyn ExecutionPlan>,
    join: &HashJoinExec,
    left: Arc<dyn ExecutionPlan>,
    right: (Arc<dyn ExecutionPlan>, Option<Fragment>),
) -> Result<Option<Fragment>> {
    let is_spread = |fragment: Fragment| fragment.ships(plan).then_some(fragment);
    let (right, to_right) = (right.0, right.1.and_then(is_spread));
    let to_left = fragment_of(&left, true)?.and_then(is_spread);
    let Some(shipping) = [&to_left, &to_right].into_iter().flatten().next() else {
        return Ok(None);
    };
    let shipping = Arc::clone(&shipping.shipping);
    let bytes = bytes_of(join.left()).zip(bytes_of(join.right()));
    let worth = BYTES_MIN.min(shipping.broadcast_bytes);
    let is_small = bytes.is_some_and(|(left, right)| left.saturating_add(right) <= worth);
    if is_small || plan.output_ordering().is_some() {
        return Ok(None);
    }
    let rows = |fragment: Option<Fragment>, plan| match fragment {
        Some(fragment) => Ok::<_, datafusion::common::DataFusionError>(Rows::Spread(fragment)),
        None => Ok(Rows::Here(rewrite(plan, true, false)?)),
    };
    let (left_by, right_by) = join.on().iter().cloned().unzip();
    let inputs = [
        Input { rows: rows(to_left, left)?, by: left_by },
        Input { rows: rows(to_right, right)?, by: right_by },
    ];
    let Some((children, participants)) = exchanges(&inputs, shipping.partitions)? else {
        return Ok(None);
    };
    // What the join finds out about one part of the rows is not true of the others: nobody is told.
    let builder = join.builder().with_new_children(children)?.reset_state();
    let builder = builder.with_partition_mode(PartitionMode::Partitioned).recompute_properties();
    let sites = Sites::Participants(participants);
    Ok(Some(Fragment { plan: builder.build_exec()?, sites, shipping }))
}

/// The finishing of an aggregate as part of a fragment: where the rows of a group are together already, or are brought
/// together by an exchange.
pub(super) fn of_groups(
    plan: &Arc<dyn ExecutionPlan>,
    aggregate: &AggregateExec,
) -> Result<Option<Fragment>> {
    let by_key = matches!(
        aggregate.mode(),
        AggregateMode::FinalPartitioned | AggregateMode::SinglePartitioned
    );
    if !by_key || plan.output_ordering().is_some() {
        return Ok(None);
    }
    let input = aggregate.input();
    let Some(repartition) = input.downcast_ref::<RepartitionExec>() else {
        return over_joined(plan, input);
    };
    let Partitioning::Hash(by, _) = repartition.partitioning() else { return Ok(None) };
    if repartition.preserve_order() || !has_many_groups(input) {
        return Ok(None);
    }
    let Some(fragment) =
        fragment_of(&gathered(input), true)?.filter(|fragment| fragment.ships(plan))
    else {
        return Ok(None);
    };
    let shipping = Arc::clone(&fragment.shipping);
    let inputs = [Input { rows: Rows::Spread(fragment), by: by.clone() }];
    let Some((children, participants)) = exchanges(&inputs, shipping.partitions)? else {
        return Ok(None);
    };
    let plan = replace_children_if_necessary(Arc::clone(plan), children)?;
    Ok(Some(Fragment { plan, sites: Sites::Participants(participants), shipping }))
}

/// An aggregate right above a join whose keys are among its groups.
fn over_joined(
    plan: &Arc<dyn ExecutionPlan>,
    input: &Arc<dyn ExecutionPlan>,
) -> Result<Option<Fragment>> {
    let Some(fragment) = fragment_of(input, true)?.filter(|fragment| fragment.ships(plan)) else {
        return Ok(None);
    };
    let required = plan.input_distribution_requirements().into_per_child().swap_remove(0);
    let (partitioning, properties) =
        (fragment.plan.output_partitioning(), fragment.plan.equivalence_properties());
    let satisfaction = match partitioning {
        Partitioning::Hash(..) => partitioning.satisfaction(&required, properties, true),
        _ => PartitioningSatisfaction::NotSatisfied,
    };
    if !fragment.sites.are_dealt() || satisfaction == PartitioningSatisfaction::NotSatisfied {
        return Ok(None);
    }
    let children = vec![Arc::clone(&fragment.plan)];
    let plan = replace_children_if_necessary(Arc::clone(plan), children)?;
    Ok(Some(Fragment { plan, ..fragment }))
}

/// Whether more groups are believed to come than one server should finish.
fn has_many_groups(partial: &Arc<dyn ExecutionPlan>) -> bool {
    let statistics = StatisticsContext::new().compute(partial.as_ref(), &StatisticsArgs::new());
    let groups = statistics.ok().and_then(|known| known.num_rows.get_value().copied());
    groups.is_some_and(|groups| groups > GROUPS_MAX)
}

/// Exchanges, and the servers that take part in them.
type Exchanged = (Vec<Arc<dyn ExecutionPlan>>, Arc<Participants>);

/// An exchange for each input, and the servers that all of them deal out to.
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
        let exchange = Exchange::new(producers, input.by.clone(), participants, partitions);
        exchanges.push(Arc::new(exchange) as Arc<dyn ExecutionPlan>);
    }
    Ok(Some((exchanges, participants)))
}
