//! What exchanges and boundaries need of an operator that stands for a fragment on another server.

use crate::metrics::FragmentMetrics;
use crate::wire::output::Output;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::StreamExt;
use futures::future::BoxFuture;
use sdds::ServerId;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;
use store::BatchStream;
use tokio::time::timeout;

/// How long the metrics of a server are awaited after its last row.
const METRICS_TIMEOUT: Duration = Duration::from_secs(1);

/// An exchange, or stored rows, that a fragment reads. They end when this is dropped.
pub(crate) type KeepAlive = Arc<dyn Any + Send + Sync>;

/// An operator that stands for a fragment on another server.
pub(crate) trait Shipped: Send + Sync {
    /// The server.
    fn server(&self) -> ServerId;

    /// The order of the fragment's output on one server.
    fn order(&self) -> Result<Option<LexOrdering>>;

    /// Sends the fragment; `None` if the rows for its joins are too many to be sent.
    fn send<'a>(
        &'a self,
        context: &'a Arc<TaskContext>,
        output: Output<'a>,
    ) -> BoxFuture<'a, Result<Option<Sent>>>;

    /// Sends a fragment without rows in place of this one.
    fn send_empty<'a>(
        &'a self,
        context: &'a Arc<TaskContext>,
        output: Output<'a>,
    ) -> BoxFuture<'a, Result<Option<Sent>>>;

    /// The same operators, run on this server over rows that the other one sends.
    fn over_sent_rows(&self) -> Result<Arc<dyn ExecutionPlan>>;
}

/// Returns the operator as [`Shipped`]; `None` if it runs on this server.
pub(crate) type AsShipped = fn(&Arc<dyn ExecutionPlan>) -> Option<&dyn Shipped>;

/// A fragment that was sent to another server.
pub(crate) struct Sent {
    pub(crate) rows: BatchStream,
    /// Receives the server's metrics.
    pub(crate) metrics: ExecutionPlanMetricsSet,
    /// What the fragment reads.
    pub(crate) read: Vec<KeepAlive>,
}

impl Sent {
    /// The next batch. Metrics are recorded and skipped.
    pub(crate) async fn next(&mut self) -> Option<Result<RecordBatch, store::Error>> {
        loop {
            let batch = self.rows.next().await?;
            match batch.as_ref().ok().and_then(FragmentMetrics::of_batch) {
                Some(metrics) => metrics.record(&self.metrics),
                None => return Some(batch),
            }
        }
    }

    /// Waits for the server's metrics, after its last row.
    pub(crate) async fn metrics(&mut self) {
        if let Ok(Some(Ok(batch))) = timeout(METRICS_TIMEOUT, self.rows.next()).await
            && let Some(metrics) = FragmentMetrics::of_batch(&batch)
        {
            metrics.record(&self.metrics);
        }
    }
}
