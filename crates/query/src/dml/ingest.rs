//! Bulk loads: the partitions of a plan are loaded in parallel, each into a part of its own.

use crate::context::Frame;
use crate::context::outcome::Progress;
use datafusion::common::runtime::JoinSet;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use futures::StreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::catalog::TableId;
use store::{DistributedTransaction, IngestPart};
use table_rows::Assembly;
use values::error::{Error, Result, SqlState};

/// Runs a plan, loads its rows, and returns their number.
pub(crate) async fn ingest(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: TableId,
    plan: Arc<dyn ExecutionPlan>,
    assembly: Assembly,
) -> Result<u64> {
    let context = frame.engine().task_ctx();
    let mut streams = Vec::new();
    for partition in 0..plan.output_partitioning().partition_count() {
        streams.push(plan.execute(partition, Arc::clone(&context))?);
    }
    load_streams(frame, transaction, table, streams, assembly).await
}

/// Loads the rows of several streams in parallel and returns their number.
pub(crate) async fn load_streams(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: TableId,
    streams: Vec<SendableRecordBatchStream>,
    assembly: Assembly,
) -> Result<u64> {
    let assembly = Arc::new(assembly);
    let rows = Arc::new(AtomicU64::new(0));
    let mut tasks = JoinSet::new();
    for stream in streams {
        let part = transaction.ingest(table)?;
        tasks.spawn(fill(part, stream, Arc::clone(&assembly), Arc::clone(&rows)));
    }
    let mut parts = Vec::new();
    let mut report_interval = tokio::time::interval(std::time::Duration::from_millis(100));
    loop {
        tokio::select! {
            finished = tasks.join_next() => match finished {
                None => break,
                Some(Ok(part)) => parts.push(part?),
                Some(Err(error)) => {
                    return Err(Error::new(SqlState::InternalError, error.to_string()));
                }
            },
            _ = report_interval.tick() => frame.session.report(Progress {
                rows: rows.load(Ordering::Relaxed),
                rows_expected: None,
            }),
        }
    }
    Ok(transaction.finish_ingest(table, parts).await?)
}

async fn fill(
    mut part: IngestPart,
    mut stream: SendableRecordBatchStream,
    assembly: Arc<Assembly>,
    rows: Arc<AtomicU64>,
) -> Result<IngestPart> {
    while let Some(batch) = stream.next().await {
        let batch = assembly.assemble(&batch?)?;
        rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        part.append(batch)?;
        tokio::task::consume_budget().await;
    }
    Ok(part)
}
