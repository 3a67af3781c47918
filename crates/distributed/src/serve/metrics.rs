//! Collecting the metrics of a fragment that this server has run.

use super::Sender;
use crate::boundary::Stored;
use crate::metrics::FragmentMetrics;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_plan::ExecutionPlan;
use scan::bucket_scan::BucketScan;
use std::sync::Arc;
use std::time::Instant;
use values::Result;

/// Sends the metrics of a plan that is finished, if they are asked for: then `begun` is the time of
/// the fragment's arrival.
pub(super) async fn send_metrics(
    plan: &Arc<dyn ExecutionPlan>,
    begun: Option<Instant>,
    batches: &Sender<RecordBatch>,
) -> Result<()> {
    if let Some(begun) = begun {
        // A receiver that is gone does not want them.
        let _ = batches.send(Ok(collect(plan, begun)?.to_batch()?)).await;
    }
    Ok(())
}

fn collect(plan: &Arc<dyn ExecutionPlan>, begun: Instant) -> Result<FragmentMetrics> {
    let mut all = FragmentMetrics::default();
    plan.apply(|node| {
        // The fragment below stored rows has returned its own metrics.
        if node.downcast_ref::<Stored>().is_some() {
            return Ok(TreeNodeRecursion::Jump);
        }
        if let Some(metrics) = node.metrics() {
            all.add(&metrics, node.downcast_ref::<BucketScan>().is_some());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    all.time = begun.elapsed().as_micros() as u64;
    Ok(all)
}
