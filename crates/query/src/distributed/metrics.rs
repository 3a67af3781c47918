//! What a fragment has cost the server that ran it, for EXPLAIN ANALYZE.
//!
//! Whoever measures says so with a fragment. Then the server tells what it has spent when it is done: in an empty batch, whose
//! schema says it. It becomes metrics of the operator that stands for the fragment in the coordinator's plan.

use super::receive::out_of_range;
use crate::distributed::bundles::Stored;
use crate::scan::bucket_scan::BucketScan;
use crate::values::error::Result as QueryResult;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::Schema;
use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// In a session's configuration: other servers are asked what they spend.
#[derive(Debug)]
pub(crate) struct Measuring;

impl Measuring {
    pub(super) fn is_on(context: &TaskContext) -> bool {
        context.session_config().get_extension::<Self>().is_some()
    }

    /// A context that nobody else has yet, in which others are asked, too.
    pub(super) fn on(context: Arc<TaskContext>) -> Arc<TaskContext> {
        match Arc::try_unwrap(context) {
            Ok(context) => {
                let config = context.session_config().clone().with_extension(Arc::new(Self));
                Arc::new(context.with_session_config(config))
            }
            Err(context) => context,
        }
    }
}

/// What a server has spent on a fragment, with those that it has asked in turn.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct FragmentMetrics {
    /// From the fragment's arrival to its last row, in microseconds.
    time: u64,
    /// Of processors, in nanoseconds.
    compute: u64,
    /// Rows that were read.
    rows: u64,
}

/// The key of the schema's metadata.
const METRICS: &str = "pando.spent";

/// The metrics' names.
const TIME: &str = "server_time";
const COMPUTE: &str = "server_compute";
const ROWS: &str = "server_rows_read";

impl FragmentMetrics {
    /// What a plan has cost that is done now.
    pub(super) fn of(plan: &Arc<dyn ExecutionPlan>, begun: Instant) -> Result<Self> {
        let (mut compute, mut rows) = (0, 0);
        plan.apply(|node| {
            // What another fragment has left there has been told of.
            if node.downcast_ref::<Stored>().is_some() {
                return Ok(TreeNodeRecursion::Jump);
            }
            if let Some(metrics) = node.metrics() {
                let told = |name| metrics.sum_by_name(name).map_or(0, |metric| metric.as_usize());
                compute += metrics.elapsed_compute().unwrap_or(0) + told(COMPUTE);
                rows += told(ROWS) + if is_scan(node) { rows_of(&metrics) } else { 0 };
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        let time = begun.elapsed().as_micros() as u64;
        Ok(Self { time, compute: compute as u64, rows: rows as u64 })
    }

    pub(super) fn to_batch(self) -> QueryResult<RecordBatch> {
        let text = serde_json::to_string(&self);
        let text = text.map_err(|error| out_of_range(&format!("figures have no form: {error}")))?;
        let metadata = HashMap::from([(METRICS.to_owned(), text)]);
        Ok(RecordBatch::new_empty(Arc::new(Schema::empty().with_metadata(metadata))))
    }

    /// `None` for a batch of rows.
    pub(super) fn of_batch(batch: &RecordBatch) -> Option<Self> {
        serde_json::from_str(batch.schema_ref().metadata().get(METRICS)?).ok()
    }

    pub(super) fn note(self, metrics: &ExecutionPlanMetricsSet) {
        let time = |name| MetricBuilder::new(metrics).subset_time(name, 0);
        time(TIME).add_duration(Duration::from_micros(self.time));
        time(COMPUTE).add_duration(Duration::from_nanos(self.compute));
        MetricBuilder::new(metrics).counter(ROWS, 0).add(self.rows as usize);
    }
}

fn is_scan(node: &Arc<dyn ExecutionPlan>) -> bool {
    node.downcast_ref::<BucketScan>().is_some()
}

fn rows_of(metrics: &MetricsSet) -> usize {
    metrics.output_rows().unwrap_or(0)
}
