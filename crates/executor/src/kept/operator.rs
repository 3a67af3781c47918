//! [`KeptRowsExec`], the operator that computes rows once, or reads them.

use super::{Kept, Rows};
use crate::one_input;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::distribution_requirements::InputDistributionRequirements;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, Partitioning, PlanProperties,
};
use futures::{StreamExt, TryStreamExt, stream};
use std::fmt;
use std::sync::Arc;

/// Rows that are computed once for all operators with the same [`Kept`]. The first that is executed has its input run.
#[derive(Debug)]
pub struct KeptRowsExec {
    input: Arc<dyn ExecutionPlan>,
    name: Arc<str>,
    rows: Arc<Kept>,
    properties: Arc<PlanProperties>,
}

impl KeptRowsExec {
    /// The rows of a plan, under the name of its query.
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, name: Arc<str>, rows: Arc<Kept>) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        Self { input, name, rows, properties: Arc::new(properties) }
    }
}

impl DisplayAs for KeptRowsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeptRows: {}", self.name)
    }
}

impl ExecutionPlan for KeptRowsExec {
    one_input!("KeptRows", input, |kept, input| {
        Ok(Arc::new(Self::new(input, Arc::clone(&kept.name), Arc::clone(&kept.rows))))
    });

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition])
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema = self.schema();
        let rows = stream::once(self.rows.rows(&self.input, &context));
        let rows = rows.map_err(DataFusionError::Shared);
        let of = Arc::clone(&schema);
        let batches = rows.map_ok(move |rows: Arc<Rows>| {
            let of = Arc::clone(&of);
            let places = 0..rows.batches.len();
            stream::iter(places.map(move |at| with_schema(&rows.batches[at], &of)))
        });
        let adapter = RecordBatchStreamAdapter::new(schema, batches.try_flatten().boxed());
        Ok(Box::pin(cooperative(adapter)))
    }
}

/// A batch with the schema of a reader, whose copy of the query may be planned otherwise.
fn with_schema(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().to_vec();
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}
