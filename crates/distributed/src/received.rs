//! Rows from other servers as the rows of an operator.

use crate::metrics::FragmentMetrics;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use futures::{Stream, StreamExt};
use std::sync::Arc;
use values::Error;
use values::translate::external;

/// The stream `rows`, which owns `held` until it is dropped.
pub(crate) fn holding<R: Stream>(rows: R, held: impl Send) -> impl Stream<Item = R::Item> {
    rows.map(move |batch| {
        let _ = &held;
        batch
    })
}

/// Receives the batches of one partition.
pub(crate) struct Received {
    schema: SchemaRef,
    bytes: Count,
    rows: Count,
    metrics: ExecutionPlanMetricsSet,
}

impl Received {
    /// For a partition of an operator with this schema.
    pub(crate) fn new(
        schema: SchemaRef,
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
    ) -> Self {
        Self {
            schema,
            bytes: MetricBuilder::new(metrics).counter("bytes_received", partition),
            rows: MetricBuilder::new(metrics).output_rows(partition),
            metrics: metrics.clone(),
        }
    }

    /// A batch from another server, with the operator's schema. Metrics are recorded and become an
    /// empty batch.
    pub(crate) fn take(&self, batch: Result<RecordBatch, store::Error>) -> Result<RecordBatch> {
        let batch = batch.map_err(Error::from).and_then(|batch| self.fitted(batch));
        batch.map_err(external)
    }

    /// Counts a batch that did not come from another server.
    pub(crate) fn count(&self, batch: &RecordBatch) {
        self.rows.add(batch.num_rows());
    }

    fn fitted(&self, batch: RecordBatch) -> values::Result<RecordBatch> {
        if let Some(metrics) = FragmentMetrics::of_batch(&batch) {
            metrics.record(&self.metrics);
            return Ok(RecordBatch::new_empty(Arc::clone(&self.schema)));
        }
        self.bytes.add(batch.get_array_memory_size());
        self.count(&batch);
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let (schema, columns) = (Arc::clone(&self.schema), batch.columns().to_vec());
        Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
    }
}
