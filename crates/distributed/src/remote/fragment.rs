//! `RemoteFragment`: the operator that stands for a fragment on another server.

use super::filters::gathered_bytes;
use super::gather::Turns;
use super::leaves::{below, core_of, order_of, properties_of};
use super::ready::Ready;
use crate::exchange::Broadcast;
use crate::received::{Received, holding};
use crate::shipped::{Sent, Shipped};
use crate::sites::Site;
use crate::wire::output::Output;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use scan::leaf;
use scan::places::Elsewhere;
use scan::shipping::BROADCAST_BYTES_MAX;
use sdds::ServerId;
use std::fmt;
use std::sync::Arc;
use store::Delivery;

/// The rows of a fragment on another server.
#[derive(Clone)]
pub(crate) struct RemoteFragment {
    /// The fragment as this server runs it.
    fragment: Arc<dyn ExecutionPlan>,
    site: Site,
    /// `None` if the server pushes its rows.
    turns: Option<Turns>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl RemoteFragment {
    pub(super) fn new(
        fragment: Arc<dyn ExecutionPlan>,
        site: Site,
        turns: Option<Turns>,
    ) -> Result<Self> {
        let properties = properties_of(&fragment, order_of(&fragment)?)?;
        let metrics = ExecutionPlanMetricsSet::new();
        Ok(Self { fragment, site, turns, properties: Arc::new(properties), metrics })
    }

    /// The name of the server that asks for its rows.
    fn asker(&self) -> Result<String> {
        let (peers, _) = self.site.peers()?;
        Ok(peers.server_name(peers.here()))
    }

    /// The fragment and the owners of its rows, if it reads one table.
    pub(crate) fn over_table(&self) -> Option<(&Arc<dyn ExecutionPlan>, &Elsewhere)> {
        Some((&self.fragment, self.site.elsewhere()?))
    }

    fn delivery(&self) -> Delivery {
        if self.turns.is_some() { Delivery::Pulled } else { Delivery::Pushed }
    }

    /// Sends the fragment and receives its rows.
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
}

impl Shipped for RemoteFragment {
    fn server(&self) -> ServerId {
        self.site.server()
    }

    fn order(&self) -> Result<Option<LexOrdering>> {
        order_of(&self.fragment)
    }

    fn send<'a>(
        &'a self,
        context: &'a Arc<TaskContext>,
        output: Output<'a>,
    ) -> BoxFuture<'a, Result<Option<Sent>>> {
        let sent = async move {
            if gathered_bytes(&self.fragment, context).await? > BROADCAST_BYTES_MAX {
                return Ok(None);
            }
            let ready = Ready::of(&self.fragment, self.site.consumer(), context).await?;
            let bytes = ready.to_bytes(&self.site.ranges()?, self.site.branch(), output)?;
            let (peers, reader) = self.site.peers()?;
            let rows = if self.site.is_misdirected() {
                peers.pass_on(reader, self.server(), bytes.into())
            } else {
                peers.run(reader, self.server(), bytes.into(), self.delivery())
            };
            let site = self.site.clone();
            let rows = rows.map_err(move |error| error.missing(|| site.rows())).boxed();
            Ok(Some(Sent { rows, metrics: self.metrics.clone(), read: ready.opened }))
        };
        sent.boxed()
    }

    fn send_empty<'a>(
        &'a self,
        context: &'a Arc<TaskContext>,
        output: Output<'a>,
    ) -> BoxFuture<'a, Result<Option<Sent>>> {
        let sent = async move {
            let empty = Arc::new(Broadcast::new(Arc::new(EmptyExec::new(self.schema()))));
            Self::new(empty, self.site.clone(), None)?.send(context, output).await
        };
        sent.boxed()
    }

    fn over_sent_rows(&self) -> Result<Arc<dyn ExecutionPlan>> {
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

/// The operator as [`Shipped`], if it stands for a fragment on another server.
pub(crate) fn as_shipped(plan: &Arc<dyn ExecutionPlan>) -> Option<&dyn Shipped> {
    plan.downcast_ref::<RemoteFragment>().map(|fragment| fragment as &dyn Shipped)
}

/// A plan that consists of one fragment, as one of the other servers runs it.
pub(crate) fn whole(plan: &Arc<dyn ExecutionPlan>) -> Option<&RemoteFragment> {
    if let Some(merged) = plan.downcast_ref::<CoalescePartitionsExec>() {
        return merged.fetch().is_none().then(|| whole(merged.input()))?;
    }
    let union = plan.downcast_ref::<UnionExec>()?;
    union.inputs().get(1)?.downcast_ref()
}

/// The names of the servers that run a fragment, this one first, for an operator whose inputs are
/// the fragment on all servers; `None` for other operators.
pub(crate) fn servers_of(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<[String]>> {
    let inputs = plan.children();
    let mut others = inputs.iter().filter_map(|input| input.downcast_ref::<RemoteFragment>());
    let first = others.next()?;
    let mut servers = vec![first.asker().ok()?];
    std::iter::once(first).chain(others).for_each(|other| servers.extend(other.site.names()));
    Some(servers.into())
}

impl fmt::Debug for RemoteFragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteFragment(server {})", self.server())
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
