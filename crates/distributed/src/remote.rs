//! `RemoteFragment`: what a fragment gives where another server runs it.

use super::broadcast::Broadcast;
use super::forward::properties;
use super::gather::Turns;
use super::metrics::FragmentMetrics;
use super::received::{Received, holding};
use super::sites::Site;
use super::wire::{Opened, Output, Ready, below, core_of, gathered_bytes};
use crate::bundles::Stored;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};
use futures::{StreamExt, TryStreamExt};
use scan::leaf;
use scan::places::Elsewhere;
use scan::shipping::BROADCAST_BYTES_MAX;
use sdds::GroupId;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use store::{BatchStream, Delivery};
use tokio::time::timeout;

/// How long it is waited for what a server says that it has spent: it has nothing left to do.
const METRICS_TIMEOUT: Duration = Duration::from_secs(1);

/// What a fragment gives on one of the other servers.
#[derive(Clone)]
pub(super) struct RemoteFragment {
    /// What runs here of the same.
    fragment: Arc<dyn ExecutionPlan>,
    site: Site,
    /// Where the servers take turns.
    turns: Option<Turns>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

/// A fragment that another server runs.
pub(super) struct Sent {
    pub(super) rows: BatchStream,
    /// Where it is noted what the server says that it has spent.
    metrics: ExecutionPlanMetricsSet,
    /// What it reads, for as long as it runs.
    read: Vec<Opened>,
}

impl Sent {
    /// What the server says next, other than what it has spent; that is noted.
    pub(super) async fn next(&mut self) -> Option<Result<RecordBatch, store::Error>> {
        loop {
            let batch = self.rows.next().await?;
            match batch.as_ref().ok().and_then(FragmentMetrics::of_batch) {
                Some(metrics) => metrics.note(&self.metrics),
                None => return Some(batch),
            }
        }
    }

    /// Waits a moment for what the server has spent, when it has nothing else to say any more.
    pub(super) async fn metrics(&mut self) {
        if let Ok(Some(Ok(batch))) = timeout(METRICS_TIMEOUT, self.rows.next()).await
            && let Some(metrics) = FragmentMetrics::of_batch(&batch)
        {
            metrics.note(&self.metrics);
        }
    }
}

impl RemoteFragment {
    pub(super) fn new(
        fragment: Arc<dyn ExecutionPlan>,
        site: Site,
        turns: Option<Turns>,
    ) -> Result<Self> {
        let properties = properties(&fragment, order_of(&fragment)?);
        let metrics = ExecutionPlanMetricsSet::new();
        Ok(Self { fragment, site, turns, properties: Arc::new(properties), metrics })
    }

    /// Who runs it.
    pub(super) fn group(&self) -> GroupId {
        self.site.group()
    }

    /// What people call the server that asks for its rows.
    fn asker(&self) -> Result<String> {
        let (peers, _) = self.site.peers()?;
        Ok(peers.server_name(peers.here()))
    }

    /// The fragment, and whose the rows are, where these are of one table.
    pub(super) fn over_table(&self) -> Option<(&Arc<dyn ExecutionPlan>, &Elsewhere)> {
        Some((&self.fragment, self.site.elsewhere()?))
    }

    /// Sends the fragment; `None` where rows for its joins turn out to be too many to be sent.
    pub(super) async fn send(
        &self,
        context: &Arc<TaskContext>,
        output: Output<'_>,
    ) -> Result<Option<Sent>> {
        if gathered_bytes(&self.fragment, context).await? > BROADCAST_BYTES_MAX {
            return Ok(None);
        }
        let ready = Ready::of(&self.fragment, self.site.consumer(), context).await?;
        let bytes = ready.to_bytes(&self.site.ranges()?, self.site.branch(), output)?;
        let (peers, reader) = self.site.peers()?;
        let rows = if self.site.is_misdirected() {
            peers.pass_on(reader, self.group(), bytes.into())
        } else {
            peers.run(reader, self.group(), bytes.into(), self.delivery())
        };
        let site = self.site.clone();
        let rows = rows.map_err(move |error| error.missing(|| site.rows())).boxed();
        Ok(Some(Sent { rows, metrics: self.metrics.clone(), read: ready.opened }))
    }

    fn delivery(&self) -> Delivery {
        if self.turns.is_some() { Delivery::Pulled } else { Delivery::Pushed }
    }

    /// Sends the fragment; what comes back is what the other server sends.
    async fn open(self, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(sent) = self.send(&context, Output::Sent).await? else {
            return self.over_sent_rows()?.execute(0, context);
        };
        let schema = self.fragment.schema();
        let received = Received::new(Arc::clone(&schema), &self.metrics, 0);
        let rows = match self.turns {
            Some(turns) => turns.taken_by(sent.rows).boxed(),
            None => sent.rows,
        };
        let rows = holding(rows.map(move |batch| received.take(batch)), sent.read);
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    /// What the other server runs where it is to have none of the fragment's rows.
    pub(super) fn of_no_rows(&self) -> Result<Self> {
        let none = Arc::new(Broadcast::new(Arc::new(EmptyExec::new(self.schema()))));
        Self::new(none, self.site.clone(), None)
    }

    /// The same operators, run here over the rows that the other server sends.
    pub(super) fn over_sent_rows(&self) -> Result<Arc<dyn ExecutionPlan>> {
        let core = core_of(&self.fragment);
        let plan = Arc::clone(&self.fragment).transform_down(|node| {
            if node.downcast_ref::<Broadcast>().is_some() {
                return Ok(Transformed::new(node, false, TreeNodeRecursion::Jump));
            }
            if Arc::ptr_eq(&core, &node) {
                let sent = Self::new(node, self.site.clone(), self.turns.clone())?;
                let sent = Arc::new(sent) as Arc<dyn ExecutionPlan>;
                return Ok(Transformed::new(sent, true, TreeNodeRecursion::Jump));
            }
            Ok(Transformed::yes(node.reset_state()?))
        })?;
        Ok(plan.data)
    }
}

/// A plan that is a fragment and nothing else, as one of the other servers runs it.
pub(super) fn whole(plan: &Arc<dyn ExecutionPlan>) -> Option<&RemoteFragment> {
    if let Some(merged) = plan.downcast_ref::<CoalescePartitionsExec>() {
        return merged.fetch().is_none().then(|| whole(merged.input()))?;
    }
    let union = plan.downcast_ref::<UnionExec>()?;
    union.inputs().get(1)?.downcast_ref()
}

/// What people call the servers that run a fragment, this one first, of an operator whose inputs are the fragment here and what
/// comes from the others; `None` for any other operator.
pub(crate) fn servers_of(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<[String]>> {
    let inputs = plan.children();
    let mut others = inputs.iter().filter_map(|input| input.downcast_ref::<RemoteFragment>());
    let first = others.next()?;
    let mut servers = vec![first.asker().ok()?];
    std::iter::once(first).chain(others).for_each(|other| servers.extend(other.site.names()));
    Some(servers.into())
}

/// The order that a fragment's output has on each server: what a top-N sorts by. The order of the scan is not kept.
pub(super) fn order_of(fragment: &Arc<dyn ExecutionPlan>) -> Result<Option<LexOrdering>> {
    let mut sorts = false;
    fragment.apply(|node| {
        sorts |= node.downcast_ref::<SortExec>().is_some();
        if let Some(stored) = node.downcast_ref::<Stored>() {
            sorts |= order_of(stored.bundle())?.is_some();
        }
        Ok(below(node))
    })?;
    Ok(fragment.output_ordering().filter(|_| sorts).cloned())
}

impl fmt::Debug for RemoteFragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteFragment(group {})", self.group().0)
    }
}

impl DisplayAs for RemoteFragment {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteFragment: {}, ", self.site)?;
        if self.turns.is_some() {
            write!(f, "pulled, ")?;
        }
        write!(f, "operators=[")?;
        let mut node = &self.fragment;
        loop {
            write!(f, "{}", node.name())?;
            let children = node.children();
            match children.last() {
                Some(next) if below(node) == TreeNodeRecursion::Continue => node = next,
                _ => return write!(f, "]"),
            }
            write!(f, ", ")?;
        }
    }
}

impl ExecutionPlan for RemoteFragment {
    leaf!("RemoteFragment");

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let opened = futures::stream::once(self.clone().open(context)).try_flatten();
        let rows = RecordBatchStreamAdapter::new(self.schema(), opened.boxed());
        Ok(Box::pin(cooperative(rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
