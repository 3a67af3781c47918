//! `RemoteBundle`: what a bundle gives where another server runs it.

use super::broadcast::Broadcast;
use super::wire::{Ready, gathered_bytes, scan_of};
use crate::error::{Error, Result as QueryResult};
use crate::scan::places::{Elsewhere, Owned};
use crate::translate::external;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, PhysicalExpr};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet,
};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning,
    PlanProperties,
};
use futures::{StreamExt, TryStreamExt};
use std::fmt;
use std::sync::Arc;

/// Gathered rows that are sent to owners; with more of them a join is done here, over the rows that owners send.
pub(super) const BROADCAST_BYTES_MAX: usize = 8 << 20;

/// One owner's part of a bundle's output.
#[derive(Clone)]
pub(super) struct RemoteBundle {
    /// What runs here of the same.
    bundle: Arc<dyn ExecutionPlan>,
    elsewhere: Elsewhere,
    owner: usize,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl RemoteBundle {
    pub(super) fn new(
        bundle: Arc<dyn ExecutionPlan>,
        elsewhere: Elsewhere,
        owner: usize,
    ) -> Result<Self> {
        let mut equivalences = EquivalenceProperties::new(bundle.schema());
        equivalences.add_orderings(order_of(&bundle)?);
        let properties = PlanProperties::new(
            equivalences,
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        let metrics = ExecutionPlanMetricsSet::new();
        Ok(Self { bundle, elsewhere, owner, properties: Arc::new(properties), metrics })
    }

    fn owned(&self) -> &Owned {
        &self.elsewhere.owners()[self.owner]
    }

    /// Sends the bundle; what comes back is what the owner sends.
    async fn open(self, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if gathered_bytes(&self.bundle, &context).await? > BROADCAST_BYTES_MAX {
            return self.over_sent_rows()?.execute(0, context);
        }
        let (owner, ranges) = self.owned();
        let hops = self.elsewhere.next_hop()?;
        let bytes = Ready::of(&self.bundle, &context).await?.to_bytes(hops, ranges)?;
        let (peers, reader) = self.elsewhere.peers()?;
        let batches = peers.run(reader, *owner, bytes.into());
        let bytes = MetricBuilder::new(&self.metrics).counter("bytes_received", 0);
        let received = Received {
            schema: self.bundle.schema(),
            bytes,
            metrics: BaselineMetrics::new(&self.metrics, 0),
        };
        let schema = Arc::clone(&received.schema);
        let batches = batches.map(move |batch| {
            batch.map_err(Error::from).and_then(|batch| received.take(batch)).map_err(external)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }

    /// The same operators, run here over the rows that the owner sends.
    fn over_sent_rows(&self) -> Result<Arc<dyn ExecutionPlan>> {
        let scan = scan_of(&self.bundle)?;
        let plan = Arc::clone(&self.bundle).transform_down(|node| {
            if node.downcast_ref::<Broadcast>().is_some() {
                return Ok(Transformed::new(node, false, TreeNodeRecursion::Jump));
            }
            if scan.as_ref().is_some_and(|scan| Arc::ptr_eq(scan, &node)) {
                let sent = Self::new(node, self.elsewhere.clone(), self.owner)?;
                let sent = Arc::new(sent) as Arc<dyn ExecutionPlan>;
                return Ok(Transformed::new(sent, true, TreeNodeRecursion::Jump));
            }
            Ok(Transformed::yes(node.reset_state()?))
        })?;
        Ok(plan.data)
    }
}

/// The order that a bundle's output has on each server: what a top-N sorts by. The order of the scan is not kept.
pub(super) fn order_of(bundle: &Arc<dyn ExecutionPlan>) -> Result<Option<LexOrdering>> {
    let mut sorts = false;
    bundle.apply(|node| {
        sorts |= node.downcast_ref::<SortExec>().is_some();
        Ok(match node.downcast_ref::<Broadcast>() {
            Some(_) => TreeNodeRecursion::Jump,
            None => TreeNodeRecursion::Continue,
        })
    })?;
    Ok(bundle.output_ordering().filter(|_| sorts).cloned())
}

/// Takes in what an owner sends.
struct Received {
    schema: SchemaRef,
    bytes: Count,
    metrics: BaselineMetrics,
}

impl Received {
    fn take(&self, batch: RecordBatch) -> QueryResult<RecordBatch> {
        self.bytes.add(batch.get_array_memory_size());
        self.metrics.output_rows().add(batch.num_rows());
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let (schema, columns) = (Arc::clone(&self.schema), batch.columns().to_vec());
        Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
    }
}

impl fmt::Debug for RemoteBundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteBundle(group {})", self.owned().0.0)
    }
}

impl DisplayAs for RemoteBundle {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (owner, ranges) = self.owned();
        let (server, ranges) = (self.elsewhere.server(*owner), self.elsewhere.shown(ranges));
        write!(f, "RemoteBundle: server={server}, ranges={ranges}, operators=[")?;
        let mut node = &self.bundle;
        loop {
            write!(f, "{}", node.name())?;
            let children = node.children();
            match children.last() {
                Some(next) => node = next,
                None => return write!(f, "]"),
            }
            write!(f, ", ")?;
        }
    }
}

impl ExecutionPlan for RemoteBundle {
    fn name(&self) -> &'static str {
        "RemoteBundle"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

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
