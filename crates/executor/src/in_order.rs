//! The rows of several partitions, one partition after the other.
//!
//! The sides of a UNION ALL are partitions. [`InOrder`] computes them at the same time, and gives the rows of the first side
//! before those of the second one. A side that is ahead of its turn waits with its next batch.

use crate::one_input;
use datafusion::common::{Result, Statistics, exec_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::common::spawn_buffered;
use datafusion::physical_plan::execution_plan::{Boundedness, CardinalityEffect, EmissionType};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning,
    PlanProperties,
};
use futures::{StreamExt, stream};
use std::fmt;
use std::sync::Arc;

/// Batches that a partition computes ahead of its turn.
const BATCHES_AHEAD: usize = 1;

/// An operator with one partition: those of its input, one after the other.
#[derive(Debug)]
pub struct InOrder {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl InOrder {
    /// The partitions of a plan in their order.
    pub fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let rows = EquivalenceProperties::new(input.schema());
        let partitions = Partitioning::UnknownPartitioning(1);
        let (emission, bounds) = (EmissionType::Incremental, Boundedness::Bounded);
        let properties = Arc::new(PlanProperties::new(rows, partitions, emission, bounds));
        Self { input, properties }
    }

    /// The plan whose partitions they are.
    pub fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.input
    }
}

impl DisplayAs for InOrder {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InOrder")
    }
}

impl ExecutionPlan for InOrder {
    one_input!("InOrder", input, |_order, input| Ok(Arc::new(Self::new(input))));

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn child_stats_requests(&self, _: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(None)]
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        match inputs {
            [input] => Ok(Arc::clone(input)),
            _ => exec_err!("InOrder has one input"),
        }
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let partitions = 0..self.input.output_partitioning().partition_count();
        let started = partitions.map(|partition| {
            let rows = self.input.execute(partition, Arc::clone(&context))?;
            Ok(spawn_buffered(rows, BATCHES_AHEAD))
        });
        let started = started.collect::<Result<Vec<_>>>()?;
        let rows = stream::iter(started).flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}
