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
    let (mut parts, mut refused) = (Vec::new(), None);
    let mut report_interval = tokio::time::interval(std::time::Duration::from_millis(100));
    loop {
        tokio::select! {
            finished = tasks.join_next() => match finished {
                None => break,
                Some(Ok(filled)) => {
                    let (part, error) = filled?;
                    if error.is_some() {
                        // The rows of other streams have no place before its rows.
                        (parts, refused) = (vec![part], error);
                        break;
                    }
                    parts.push(part);
                }
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
    let loaded = transaction.finish_ingest(table, parts).await?;
    refused.map_or(Ok(loaded), Err)
}

/// Fills a part with the rows of a stream, up to one that violates a constraint.
async fn fill(
    mut part: IngestPart,
    mut stream: SendableRecordBatchStream,
    assembly: Arc<Assembly>,
    rows: Arc<AtomicU64>,
) -> Result<(IngestPart, Option<Error>)> {
    while let Some(batch) = stream.next().await {
        let (batch, error) = match assembly.rows_before_error(&batch?) {
            Ok(checked) => checked,
            Err(error) => return Ok((part, Some(error))),
        };
        rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        part.append(batch)?;
        if error.is_some() {
            return Ok((part, error));
        }
        tokio::task::consume_budget().await;
    }
    Ok((part, None))
}
