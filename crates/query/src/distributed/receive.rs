//! Running the fragments of other servers.
//!
//! Bytes from the network are not trusted: whatever is wrong with them is an error, also where the engine would
//! panic. A server that no longer owns some of the keys takes their rows from who does, so that the answer is whole.

use super::broadcast;
use super::exchanges::Exchanges;
use super::forward::with_others;
use super::metrics::{FragmentMetrics, Measuring};
use super::produce::produce;
use super::reader::{ExchangeReader, Parts};
use super::remote::order_of;
use super::sites::Sites;
use super::storing::store_here;
use super::wire::{Fragment, Input, Scan};
use crate::distributed::bundles::Results;
use crate::scan::bucket_scan::BucketScan;
use crate::scan::places::{self, Elsewhere};
use crate::scan::provider::plan_schema;
use crate::scan::shipping::Gathering;
use crate::values::error::{Error, Result, SqlState};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::Schema;
use datafusion::execution::{SessionState, TaskContext};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning, execute_stream};
use futures::future::try_join_all;
use futures::{FutureExt, StreamExt, TryStreamExt};
use std::sync::Arc;
use std::time::Instant;
use store::{ExchangeId, Reading};
use tokio::sync::mpsc;

/// Parts of an exchange, partitions of a reader, and servers that deal out, at most.
const PARTS_MAX: usize = 1 << 16;

/// Where goes what is to be sent.
pub(crate) type Sender<T> = mpsc::Sender<std::result::Result<T, store::Error>>;

/// What a server needs to run plan fragments.
#[derive(Debug)]
pub(crate) struct Node {
    /// The engine, with all functions.
    engine: SessionState,
    /// The exchanges that are open on this server.
    pub(crate) exchanges: Arc<Exchanges>,
    /// The rows of bundles that are stored on this server.
    pub(crate) results: Arc<Results>,
}

impl Node {
    /// A server with an engine whose plans find the same exchanges.
    pub(crate) fn new(engine: SessionState, exchanges: Arc<Exchanges>) -> Self {
        Self { engine, exchanges, results: Arc::default() }
    }

    /// A context to run plans of other servers in.
    pub(crate) fn task_context(&self) -> Arc<TaskContext> {
        self.engine.task_ctx()
    }

    /// Runs a fragment that another server has sent, on the rows of `reading`, and sends its output to `batches`.
    ///
    /// # Errors
    /// 08P01 if the bytes are no fragment; as running the plan.
    pub(crate) async fn run(
        &self,
        reading: &Reading,
        fragment: &[u8],
        batches: &Sender<RecordBatch>,
    ) -> Result<()> {
        answer(self, reading, fragment, batches).await
    }
}

async fn answer(
    node: &Node,
    reading: &Reading,
    fragment: &[u8],
    batches: &Sender<RecordBatch>,
) -> Result<()> {
    let begun = Instant::now();
    let mut context = node.task_context();
    let fragment = Fragment::from_bytes(fragment)?;
    let measured = fragment.is_measured.then_some(begun);
    if fragment.is_measured {
        context = Measuring::on(context);
    }
    let alone = fragment.exchange.is_none() && fragment.store.is_none();
    let plan = match &fragment.input {
        Input::Scans(scans) if alone && scans.len() == 1 => {
            let (here, elsewhere) = found(reading, &scans[0], &context).await?;
            let plan = fragment.plan(vec![Arc::new(here)], &context)?;
            with_others(plan, &fragment, &elsewhere)?
        }
        Input::Scans(scans) => {
            let scans = scans.iter().map(|of| whole_scan(reading, of, &context));
            fragment.plan(try_join_all(scans).await?, &context)?
        }
        Input::Parts(parts) => fragment.plan(readers(reading, parts)?, &context)?,
        Input::Stored(rows) => fragment.plan(vec![node.results.get(*rows)?], &context)?,
    };
    if let Some(store) = fragment.store {
        return store_here(node, store, plan, &context, (batches, measured)).await;
    }
    if let Some(exchange) = fragment.exchange {
        return produce_exchange(node, exchange, &plan, context, (batches, measured)).await;
    }
    let plan = match order_of(&plan)? {
        Some(order) => Arc::new(SortPreservingMergeExec::new(order, plan)),
        None => plan,
    };
    let mut rows = execute_stream(Arc::clone(&plan), context)?;
    while let Some(batch) = rows.try_next().await? {
        if batches.send(Ok(batch)).await.is_err() {
            return Ok(());
        }
    }
    send_metrics(&plan, measured, batches).await
}

/// Tells what a fragment has cost, where that is asked for.
pub(super) async fn send_metrics(
    plan: &Arc<dyn ExecutionPlan>,
    measured: Option<Instant>,
    batches: &Sender<RecordBatch>,
) -> Result<()> {
    if let Some(begun) = measured {
        // Who does not listen any more does not want to know.
        let _ = batches.send(Ok(FragmentMetrics::of(plan, begun)?.to_batch()?)).await;
    }
    Ok(())
}

/// Deals out the rows of a fragment, for as long as its coordinator listens. An empty batch says that it has begun.
async fn produce_exchange(
    node: &Node,
    exchange: ExchangeId,
    plan: &Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    (batches, measured): (&Sender<RecordBatch>, Option<Instant>),
) -> Result<()> {
    let repartition = plan.downcast_ref::<RepartitionExec>();
    let Some((repartition, Partitioning::Hash(by, parts))) =
        repartition.map(|d| (d, d.partitioning()))
    else {
        return Err(out_of_range("an exchange does not say how rows are dealt out"));
    };
    if !(1..=PARTS_MAX).contains(parts) {
        return Err(out_of_range("an exchange has too many parts"));
    }
    let exchanges = Arc::clone(&node.exchanges);
    let open = exchanges.open(exchange, *parts, context.memory_pool())?;
    let begun = RecordBatch::new_empty(Arc::new(Schema::empty()));
    if batches.send(Ok(begun)).await.is_ok() {
        let (plans, queues) = (vec![Arc::clone(repartition.input())], Arc::clone(&open.queues));
        produce(plans, by.clone(), *parts, queues, context).await;
        send_metrics(plan, measured, batches).await?;
        batches.closed().await;
    }
    Ok(())
}

/// The readers of a fragment.
fn readers(reading: &Reading, parts: &[(Parts, &[u8])]) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
    let Some((peers, _)) = reading.peers() else {
        return Err(out_of_range("a server without others takes part in no exchange"));
    };
    let reader = |(place, (parts, schema)): (usize, &(Parts, &[u8]))| {
        if parts.partitions as usize > PARTS_MAX || parts.producers.len() > PARTS_MAX {
            return Err(out_of_range("an exchange has too many parts"));
        }
        let (schema, _) = broadcast::from_bytes(schema)?;
        let (peers, metrics) = (Arc::clone(peers), ExecutionPlanMetricsSet::new());
        let reader = ExchangeReader::new(place as u32, parts.clone(), schema, peers, metrics);
        Ok(Arc::new(reader) as Arc<dyn ExecutionPlan>)
    };
    parts.iter().enumerate().map(reader).collect()
}

/// What is wrong with bytes that another server has sent.
pub(crate) fn out_of_range(message: &str) -> Error {
    Error::new(SqlState::ProtocolViolation, message)
}

/// The scan of a fragment: of the rows that are here, and of those that have left.
async fn whole_scan(
    reading: &Reading,
    scan: &Scan<'_>,
    context: &TaskContext,
) -> Result<Arc<dyn ExecutionPlan>> {
    let (here, elsewhere) = found(reading, scan, context).await?;
    let sites = Sites::owners(vec![elsewhere]);
    Ok(sites.everywhere(Arc::new(here), Gathering::PUSH, usize::MAX)?)
}

/// What a scan of a fragment reads: the rows that are here, and whose the others are.
pub(super) async fn found(
    reading: &Reading,
    scan: &Scan<'_>,
    context: &TaskContext,
) -> Result<(BucketScan, Elsewhere)> {
    let view = reading.table(scan.table()).filter(|view| {
        let columns = view.table().columns.len();
        view.table().version == scan.version() && scan.read.iter().all(|read| *read < columns)
    });
    let Some(view) = view else {
        let relation = format!("table {}", scan.table().0);
        return Err(store::Error::SchemaConflict { relation }.into());
    };
    if scan.output.iter().any(|out| *out >= scan.read.len()) {
        return Err(out_of_range("a fragment's columns are out of range"));
    }
    let schema = Arc::new(plan_schema(view.table(), &scan.read));
    let predicate = scan.predicate(context)?;
    let places::Found { pieces, coverage, here: ranges, elsewhere } =
        places::find(&view, &scan.ranges, predicate.as_ref(), &schema, &scan.read).await?;
    let table = Arc::clone(view.table());
    let partitions = context.session_config().target_partitions();
    let here = BucketScan::new(table, pieces, scan.read.clone(), schema, partitions, coverage);
    let here = here.with_conjuncts(predicate.into_iter().collect())?;
    let here = here.with_output(&scan.output)?.with_limit(scan.limit);
    Ok((here, Elsewhere::new(view, ranges, elsewhere).with_hops(scan.hops)))
}
