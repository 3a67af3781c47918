//! Forwarding a received fragment to further owners of its rows.
//!
//! A server that receives a fragment may own only a part of its rows: others have moved, or it is
//! asked for a whole branch of a tree ([`super::tree`]). Then it forwards the fragment, with its
//! operators unchanged, to the owners of the rest, and combines their output with its own.

use super::leaves::{order_of, properties_of};
use super::tree;
use crate::received::Received;
use crate::wire::fragment::Fragment;
use bytes::Bytes;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{StreamExt, TryStreamExt};
use scan::leaf;
use scan::places::Elsewhere;
use sdds::{KeyRange, ServerId};
use std::fmt;
use std::sync::Arc;
use store::{Delivery, Peers, Reader};

/// The output of `plan`, the fragment on this server, combined with that of the owners of the other
/// rows.
pub(crate) fn with_others(
    plan: Arc<dyn ExecutionPlan>,
    fragment: &Fragment<'_>,
    elsewhere: &Elsewhere,
) -> Result<Arc<dyn ExecutionPlan>> {
    let others: Vec<ServerId> = elsewhere.servers().into_iter().collect();
    if others.is_empty() {
        return Ok(plan);
    }
    let (order, (peers, reader)) = (order_of(&plan)?, elsewhere.peers()?);
    let mut parts = vec![Arc::clone(&plan)];
    for branch in tree::branches(others.len(), fragment.fan_in) {
        let servers = others[branch].to_vec();
        let (to, ranges) = (servers[0], elsewhere.ranges_at(&servers));
        let rows = (elsewhere.clone(), ranges.clone());
        parts.push(Arc::new(Forwarded {
            is_misdirected: !fragment.branch.contains(&to),
            fragment: fragment.forwarded(ranges, elsewhere.next_hop()?, servers)?.into(),
            to,
            rows,
            peers: Arc::clone(peers),
            reader: reader.clone(),
            properties: Arc::new(properties_of(&plan, order.clone())?),
            metrics: ExecutionPlanMetricsSet::new(),
        }));
    }
    combined(&plan, order, UnionExec::try_new(parts)?)
}

/// Partial results as one partial result.
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

/// Whether combining partial results of a fragment reduces their rows.
pub(super) fn is_reducible(fragment: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    let is_top = || Ok(fragment.fetch().is_some() && order_of(fragment)?.is_some());
    if partial_aggregate(fragment).is_some() { Ok(true) } else { is_top() }
}

fn partial_aggregate(plan: &Arc<dyn ExecutionPlan>) -> Option<&AggregateExec> {
    let aggregate = plan.downcast_ref::<AggregateExec>();
    aggregate.filter(|aggregate| *aggregate.mode() == AggregateMode::Partial)
}

/// The output of a fragment on the server to which it is forwarded.
struct Forwarded {
    peers: Arc<dyn Peers>,
    reader: Reader,
    to: ServerId,
    /// The rows that it reads there, for errors.
    rows: (Elsewhere, Vec<KeyRange>),
    fragment: Bytes,
    /// Whether the sender took this server for the owner of these rows.
    is_misdirected: bool,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
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
