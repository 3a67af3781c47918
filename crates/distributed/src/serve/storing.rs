//! Storing the rows of a fragment of another server.

use super::Sender;
use super::metrics::send_metrics;
use crate::boundary::{Results, Stored};
use crate::wire::fragment::StoreAs;
use datafusion::arrow::array::RecordBatch;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;
use std::time::Instant;
use values::Result;

/// Runs a fragment and stores its rows until its coordinator closes the channel. Then answers how
/// much is stored.
pub(super) async fn store(
    results: &Arc<Results>,
    store: StoreAs,
    plan: Arc<dyn ExecutionPlan>,
    context: &Arc<TaskContext>,
    answers: &Sender<RecordBatch>,
    begun: Option<Instant>,
) -> Result<()> {
    let stored = Arc::new(Stored::here(Arc::clone(&plan), 0, store.bytes_max));
    let _opened = stored.opened(context).await?;
    send_metrics(&plan, begun, answers).await?;
    let answer = stored.amounts().to_batch()?;
    let _held = results.insert(store.id, stored)?;
    if answers.send(Ok(answer)).await.is_ok() {
        answers.closed().await;
    }
    Ok(())
}
