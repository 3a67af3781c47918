//! Running the fragments of other servers.
//!
//! Bytes from the network are not trusted: whatever is wrong with them is an error, also where the engine would
//! panic. A server that no longer owns some of the keys takes their rows from who does, so that the answer is whole.

use super::broadcast;
use super::forward::with_others;
use super::gather::Gathering;
use super::metrics::{FragmentMetrics, Measuring};
use super::produce::produce;
use super::pushdown;
use super::reader::{ExchangeReader, Parts};
use super::remote::order_of;
use super::sites::Sites;
use super::storing::store_here;
use super::wire::{Fragment, Input, Scan};
use crate::database::Shared;
use crate::values::error::{Error, Result, SqlState};
use crate::scan::bucket_scan::BucketScan;
use crate::scan::places::{self, Elsewhere};
use crate::scan::provider::plan_schema;
use crate::short;
use crate::values::translate::told;
use bytes::Bytes;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::Schema;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning, execute_stream};
use futures::future::{BoxFuture, try_join_all};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryStreamExt};
use sdds::Key;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::time::Instant;
use store::{BatchStream, ExchangeId, Fragments, PushdownSteps, Reading};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Batches, or steps of an pushdown, that are computed ahead of who takes them.
const ITEMS_AHEAD: usize = 2;

/// Parts of an exchange, partitions of a reader, and servers that deal out, at most.
const PARTS_MAX: usize = 1 << 16;

/// Where goes what is to be sent.
pub(super) type Sender<T> = mpsc::Sender<std::result::Result<T, store::Error>>;

/// Runs fragments on a database's workers.
#[derive(Debug)]
pub(crate) struct Receiver(Weak<Shared>);

impl Receiver {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self(Arc::downgrade(shared))
    }
}

impl Receiver {
    /// What a task on the workers sends. It ends with the stream.
    fn serve<T: Send + 'static, A: Future<Output = Result<()>> + Send + 'static>(
        &self,
        answer: impl FnOnce(Arc<Shared>, Sender<T>) -> A,
    ) -> BoxStream<'static, std::result::Result<T, store::Error>> {
        let Some(shared) = self.0.upgrade() else { return failed(closed()) };
        let (sender, received) = mpsc::channel(ITEMS_AHEAD);
        let workers = shared.workers.clone().unwrap_or_else(Handle::current);
        let answered = AssertUnwindSafe(answer(shared, sender.clone())).catch_unwind();
        let mut tasks = JoinSet::new();
        let task = async move {
            let error = match answered.await {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error,
                Err(_) => Error::new(SqlState::InternalError, "a fragment cannot be run"),
            };
            // Who does not listen any more does not want to know.
            let _ = sender.send(Err(told(error))).await;
        };
        tasks.spawn_on(task, &workers);
        futures::stream::unfold((received, tasks), |(mut received, tasks)| async move {
            Some((received.recv().await?, (received, tasks)))
        })
        .boxed()
    }
}

impl Fragments for Receiver {
    fn run(&self, reading: Reading, fragment: Bytes) -> BatchStream {
        self.serve(
            |shared, batches| async move { answer(&shared, &reading, &fragment, &batches).await },
        )
    }

    fn pushdown(&self, reading: Reading, pushdown: Bytes) -> PushdownSteps {
        self.serve(|shared, steps| async move {
            let mut all = pushdown::open(&shared, &reading, &pushdown).await?;
            while let Some(step) = all.try_next().await? {
                if steps.send(Ok(step)).await.is_err() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn row_operation(
        &self,
        key: Key,
        operation: Bytes,
    ) -> BoxFuture<'static, std::result::Result<u64, store::Error>> {
        let shared = self.0.upgrade();
        Box::pin(async move {
            let Some(shared) = shared else { return Err(told(closed())) };
            let work = short::perform(&shared, key, &operation);
            // What the engine stumbles over is malformed.
            let stumbled = |_| Err(told(out_of_range("a row operation cannot be carried out")));
            AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(stumbled)
        })
    }

    fn take(&self, exchange: ExchangeId, part: u32) -> BatchStream {
        let Some(shared) = self.0.upgrade() else { return failed(closed()) };
        match shared.exchanges.take(exchange, part) {
            Ok(rows) => rows.map_err(|error| told(error.into())).boxed(),
            Err(error) => failed(error),
        }
    }

    fn describe(&self, name: &str) -> Option<RecordBatch> {
        crate::catalog_views::own_part(&*self.0.upgrade()?, name)
    }
}

fn closed() -> Error {
    Error::new(SqlState::AdminShutdown, "the database is closed")
}

fn failed<T: Send + 'static>(
    error: Error,
) -> BoxStream<'static, std::result::Result<T, store::Error>> {
    futures::stream::iter([Err(told(error))]).boxed()
}

async fn answer(
    shared: &Arc<Shared>,
    reading: &Reading,
    fragment: &[u8],
    batches: &Sender<RecordBatch>,
) -> Result<()> {
    let begun = Instant::now();
    let mut context = shared.engine.functions.task_ctx();
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
        Input::Stored(rows) => fragment.plan(vec![shared.results.get(*rows)?], &context)?,
    };
    if let Some(store) = fragment.store {
        return store_here(shared, store, plan, &context, (batches, measured)).await;
    }
    if let Some(exchange) = fragment.exchange {
        return produce_exchange(shared, exchange, &plan, context, (batches, measured)).await;
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
    shared: &Arc<Shared>,
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
    let exchanges = Arc::clone(&shared.exchanges);
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
