//! Execution metrics of a fragment on the server that ran it, for EXPLAIN ANALYZE.
//!
//! `is_measured` in a fragment asks the server to return its metrics after the last row. They are
//! in the metadata of the schema of an empty batch, and become metrics of the operator that stands
//! for the fragment in the coordinator's plan.

use crate::wire::out_of_range;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::Schema;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use values::Result;

/// In a session's configuration: other servers are asked for their metrics.
#[derive(Debug)]
pub struct Measuring;

impl Measuring {
    pub(crate) fn is_on(context: &TaskContext) -> bool {
        context.session_config().get_extension::<Self>().is_some()
    }

    /// The context with measuring switched on, if it has no other users.
    pub(crate) fn on(context: Arc<TaskContext>) -> Arc<TaskContext> {
        match Arc::try_unwrap(context) {
            Ok(context) => {
                let config = context.session_config().clone().with_extension(Arc::new(Self));
                Arc::new(context.with_session_config(config))
            }
            Err(context) => context,
        }
    }
}

/// Metrics of a fragment on a server, including the servers that it asks.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct FragmentMetrics {
    /// From the arrival of the fragment to its last row, in microseconds.
    pub(crate) time: u64,
    /// Processor time, in nanoseconds.
    compute: u64,
    /// Rows read by scans.
    rows: u64,
}

/// The key in the metadata of the schema.
const METRICS: &str = "pando.metrics";

/// The names of the metrics.
const TIME: &str = "server_time";
const COMPUTE: &str = "server_compute";
const ROWS: &str = "server_rows_read";

impl FragmentMetrics {
    /// Adds the metrics of one operator, which include those of the servers that it stands for.
    pub(crate) fn add(&mut self, operator: &MetricsSet, is_scan: bool) {
        let sum = |name| operator.sum_by_name(name).map_or(0, |metric| metric.as_usize());
        let rows = if is_scan { operator.output_rows().unwrap_or(0) } else { 0 };
        self.compute += (operator.elapsed_compute().unwrap_or(0) + sum(COMPUTE)) as u64;
        self.rows += (rows + sum(ROWS)) as u64;
    }

    /// The metrics as an empty batch.
    pub(crate) fn to_batch(self) -> Result<RecordBatch> {
        let text = serde_json::to_string(&self)
            .map_err(|error| out_of_range(&format!("metrics cannot be serialized: {error}")))?;
        let metadata = HashMap::from([(METRICS.to_owned(), text)]);
        Ok(RecordBatch::new_empty(Arc::new(Schema::empty().with_metadata(metadata))))
    }

    /// `None` for a batch of rows.
    pub(crate) fn of_batch(batch: &RecordBatch) -> Option<Self> {
        serde_json::from_str(batch.schema_ref().metadata().get(METRICS)?).ok()
    }

    /// Adds the metrics to those of an operator.
    pub(crate) fn record(self, metrics: &ExecutionPlanMetricsSet) {
        let time = |name| MetricBuilder::new(metrics).subset_time(name, 0);
        time(TIME).add_duration(Duration::from_micros(self.time));
        time(COMPUTE).add_duration(Duration::from_nanos(self.compute));
        MetricBuilder::new(metrics).counter(ROWS, 0).add(self.rows as usize);
    }
}
