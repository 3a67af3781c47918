//! `ExchangeReader`: the leaf of a fragment that reads its server's parts of an exchange from all
//! producers.

use super::exchanges::Exchanges;
use crate::received::Received;
use crate::wire::fragment::Parts;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
};
use futures::StreamExt;
use scan::leaf;
use std::fmt;
use std::sync::Arc;
use store::Peers;
use values::translate::external;

/// Reads parts of an exchange.
pub(crate) struct ExchangeReader {
    /// The place among the fragment's readers.
    place: u32,
    pub(crate) parts: Parts,
    peers: Arc<dyn Peers>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl ExchangeReader {
    pub(crate) fn new(
        place: u32,
        parts: Parts,
        schema: SchemaRef,
        peers: Arc<dyn Peers>,
        metrics: ExecutionPlanMetricsSet,
    ) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(parts.partitions as usize),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        Self { place, parts, peers, properties: Arc::new(properties), metrics }
    }
}

impl fmt::Debug for ExchangeReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExchangeReader({})", self.place)
    }
}

impl DisplayAs for ExchangeReader {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExchangeReader: partitions={}", self.parts.partitions)
    }
}

impl ExecutionPlan for ExchangeReader {
    leaf!("ExchangeReader");

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let exchange = self.parts.exchange;
        let part = u32::try_from(partition).ok().and_then(|at| self.parts.first.checked_add(at));
        let Some(part) = part else { return internal_err!("an exchange has no such part") };
        let received = Arc::new(Received::new(self.schema(), &self.metrics, partition));
        let mut sources = Vec::with_capacity(self.parts.producers.len());
        for producer in &self.parts.producers {
            let received = Arc::clone(&received);
            sources.push(if *producer == self.peers.here() {
                let rows = Exchanges::of(&context)?.take(exchange, part).map_err(external)?;
                rows.inspect(move |batch| batch.iter().for_each(|b| received.count(b))).boxed()
            } else {
                let rows = self.peers.take(*producer, exchange, part);
                rows.map(move |batch| received.take(batch)).boxed()
            });
        }
        let rows = futures::stream::select_all(sources);
        let rows = RecordBatchStreamAdapter::new(self.schema(), rows);
        Ok(Box::pin(cooperative(rows)))
    }
}
