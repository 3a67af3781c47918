//! Producing an exchange, and reading from one, for a fragment of another server.

use super::Sender;
use super::metrics::send_metrics;
use crate::exchange::{ExchangeReader, Exchanges, produce};
use crate::wire::fragment::Parts;
use crate::wire::{out_of_range, rows};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::Schema;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
use std::sync::Arc;
use std::time::Instant;
use store::{ExchangeId, Reading};
use values::Result;

/// Parts of an exchange, partitions of a reader, and producers, at most.
const PARTS_MAX: usize = 1 << 16;

/// Produces the rows of a fragment for an exchange, until its coordinator closes the channel. An
/// empty batch says that the exchange is open.
pub(super) async fn produce_exchange(
    exchanges: &Arc<Exchanges>,
    exchange: ExchangeId,
    plan: &Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    batches: &Sender<RecordBatch>,
    begun: Option<Instant>,
) -> Result<()> {
    let repartition = plan.downcast_ref::<RepartitionExec>();
    let Some((repartition, Partitioning::Hash(by, parts))) =
        repartition.map(|repartition| (repartition, repartition.partitioning()))
    else {
        return Err(out_of_range("an exchange has no hash partitioning"));
    };
    if !(1..=PARTS_MAX).contains(parts) {
        return Err(out_of_range("an exchange has too many parts"));
    }
    let open = Arc::clone(exchanges).open(exchange, *parts, context.memory_pool())?;
    let opened = RecordBatch::new_empty(Arc::new(Schema::empty()));
    if batches.send(Ok(opened)).await.is_ok() {
        let (plans, queues) = (vec![Arc::clone(repartition.input())], Arc::clone(&open.queues));
        produce(plans, by.clone(), *parts, queues, context).await;
        send_metrics(plan, begun, batches).await?;
        batches.closed().await;
    }
    Ok(())
}

/// The readers of a fragment.
pub(super) fn readers(
    reading: &Reading,
    parts: &[(Parts, &[u8])],
) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
    let Some((peers, _)) = reading.peers() else {
        return Err(out_of_range("a server without peers takes part in no exchange"));
    };
    let reader = |(place, (parts, schema)): (usize, &(Parts, &[u8]))| {
        if parts.partitions as usize > PARTS_MAX || parts.producers.len() > PARTS_MAX {
            return Err(out_of_range("an exchange has too many parts"));
        }
        let (schema, _) = rows::from_bytes(schema)?;
        let (peers, metrics) = (Arc::clone(peers), ExecutionPlanMetricsSet::new());
        let reader = ExchangeReader::new(place as u32, parts.clone(), schema, peers, metrics);
        Ok(Arc::new(reader) as Arc<dyn ExecutionPlan>)
    };
    parts.iter().enumerate().map(reader).collect()
}
