//! Running a fragment on behalf of another server, together with those who own some of its rows.
//!
//! A server that is sent a fragment may own but a part of the rows that it reads: others of them have moved, or it is asked
//! for a whole branch of a tree ([`super::tree`]). Then the fragment goes on to those who own the rest, in the bytes in
//! which it came, and what they give is combined with what is found here.

use super::received::Received;
use super::remote::order_of;
use super::tree;
use super::wire::Fragment;
use bytes::Bytes;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, PhysicalExpr};
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
};
use futures::{StreamExt, TryStreamExt};
use scan::leaf;
use scan::places::Elsewhere;
use sdds::{GroupId, KeyRange};
use std::fmt;
use std::sync::Arc;
use store::{Delivery, Peers, Reader};

/// What a fragment gives here, `plan`, combined with what it gives of those who own the rest of what its scan reads.
pub(super) fn with_others(
    plan: Arc<dyn ExecutionPlan>,
    fragment: &Fragment<'_>,
    elsewhere: &Elsewhere,
) -> Result<Arc<dyn ExecutionPlan>> {
    let owners = elsewhere.owners();
    if owners.is_empty() {
        return Ok(plan);
    }
    let (order, (peers, reader)) = (order_of(&plan)?, elsewhere.peers()?);
    let mut parts = vec![Arc::clone(&plan)];
    for branch in tree::branches(owners.len(), fragment.fan_in) {
        let groups: Vec<GroupId> = owners[branch].iter().map(|(group, _)| *group).collect();
        let (to, ranges) = (groups[0], elsewhere.ranges_of_all(&groups));
        let rows = (elsewhere.clone(), ranges.clone());
        parts.push(Arc::new(Forwarded {
            is_misdirected: !fragment.branch.contains(&to),
            fragment: fragment.passed_on(ranges, elsewhere.next_hop()?, groups)?.into(),
            to,
            rows,
            peers: Arc::clone(peers),
            reader: reader.clone(),
            properties: Arc::new(properties(&plan, order.clone())),
            metrics: ExecutionPlanMetricsSet::new(),
        }));
    }
    combined(&plan, order, UnionExec::try_new(parts)?)
}

/// The parts of an answer as one that can be combined with others again.
fn combined(
    plan: &Arc<dyn ExecutionPlan>,
    order: Option<LexOrdering>,
    parts: Arc<dyn ExecutionPlan>,
) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(aggregate) = partial_aggregate(plan) {
        let calls = aggregate.aggr_expr().to_vec();
        let (filters, schema) = (vec![None; calls.len()], parts.schema());
        let groups = aggregate.group_expr().as_final();
        let parts = Arc::new(CoalescePartitionsExec::new(parts));
        let mode = AggregateMode::PartialReduce;
        let reduced = AggregateExec::try_new(mode, groups, calls, filters, parts, schema)?;
        return Ok(Arc::new(reduced));
    }
    Ok(match order {
        Some(order) => {
            Arc::new(SortPreservingMergeExec::new(order, parts).with_fetch(plan.fetch()))
        }
        None => parts,
    })
}

/// Whether parts of a fragment's answer become less where they are combined.
pub(super) fn is_reducible(fragment: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    let is_top = || Ok(fragment.fetch().is_some() && order_of(fragment)?.is_some());
    if partial_aggregate(fragment).is_some() { Ok(true) } else { is_top() }
}

fn partial_aggregate(plan: &Arc<dyn ExecutionPlan>) -> Option<&AggregateExec> {
    let aggregate = plan.downcast_ref::<AggregateExec>();
    aggregate.filter(|aggregate| *aggregate.mode() == AggregateMode::Partial)
}

/// What a fragment that came from another server gives where it is sent on to.
struct Forwarded {
    peers: Arc<dyn Peers>,
    reader: Reader,
    to: GroupId,
    /// Which rows it reads there.
    rows: (Elsewhere, Vec<KeyRange>),
    fragment: Bytes,
    /// Whether this server was taken for the owner of its rows.
    is_misdirected: bool,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

/// Of what another server gives of a fragment.
pub(super) fn properties(
    fragment: &Arc<dyn ExecutionPlan>,
    order: Option<LexOrdering>,
) -> PlanProperties {
    let mut equivalences = EquivalenceProperties::new(fragment.schema());
    equivalences.add_orderings(order);
    let partitioning = Partitioning::UnknownPartitioning(1);
    let (emission, boundedness) = (EmissionType::Incremental, Boundedness::Bounded);
    PlanProperties::new(equivalences, partitioning, emission, boundedness)
        .with_scheduling_type(SchedulingType::Cooperative)
}

impl fmt::Debug for Forwarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Forwarded(to {})", self.to)
    }
}

impl DisplayAs for Forwarded {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Forwarded: server={}", self.peers.server_name(self.to))
    }
}

impl ExecutionPlan for Forwarded {
    leaf!("Forwarded");

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let received = Received::new(self.schema(), &self.metrics, 0);
        let fragment = self.fragment.clone();
        let rows = if self.is_misdirected {
            self.peers.pass_on(&self.reader, self.to, fragment)
        } else {
            self.peers.run(&self.reader, self.to, fragment, Delivery::Pushed)
        };
        let (elsewhere, ranges) = self.rows.clone();
        let rows = rows.map_err(move |error| error.missing(|| elsewhere.rows_of(&ranges)));
        let rows = rows.map(move |batch| received.take(batch));
        Ok(Box::pin(cooperative(RecordBatchStreamAdapter::new(self.schema(), rows))))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
