//! Running the bundles of other servers.
//!
//! Bytes from the network are not trusted: whatever is wrong with them is an error, also where the engine would
//! panic. A server that no longer owns some of the keys takes their rows from who does, so that the answer is whole.

use super::broadcast;
use super::dealing::deal;
use super::forward::with_others;
use super::gather::Gathering;
use super::reader::{ExchangeReader, Parts};
use super::remote::order_of;
use super::sites::Sites;
use super::wire::{Bundle, Input, Scan};
use crate::database::Shared;
use crate::error::{Error, Result, SqlState};
use crate::scan::bucket_scan::BucketScan;
use crate::scan::places::{self, Elsewhere};
use crate::scan::provider::plan_schema;
use bytes::Bytes;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::Schema;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning, execute_stream};
use futures::future::try_join_all;
use futures::{FutureExt, StreamExt, TryStreamExt};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use store::{BatchStream, Bundles, ExchangeId, Reading};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Batches that are computed ahead of who takes them.
const BATCHES_AHEAD: usize = 2;

/// Parts of an exchange, partitions of a reader, and servers that deal out, at most.
const PARTS_MAX: usize = 1 << 16;

/// Where batches go that are to be sent.
type Sender = mpsc::Sender<std::result::Result<RecordBatch, store::Error>>;

/// Runs bundles on a database's workers.
#[derive(Debug)]
pub(crate) struct Receiver(Weak<Shared>);

impl Receiver {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self(Arc::downgrade(shared))
    }
}

impl Bundles for Receiver {
    fn run(&self, reading: Reading, bundle: Bytes) -> BatchStream {
        let Some(shared) = self.0.upgrade() else { return failed(closed()) };
        let (batches, received) = mpsc::channel(BATCHES_AHEAD);
        let workers = shared.workers.clone().unwrap_or_else(Handle::current);
        // The task ends with the stream that holds it.
        let mut tasks = JoinSet::new();
        tasks.spawn_on(serve(shared, reading, bundle, batches), &workers);
        futures::stream::unfold((received, tasks), |(mut received, tasks)| async move {
            Some((received.recv().await?, (received, tasks)))
        })
        .boxed()
    }

    fn take(&self, exchange: ExchangeId, part: u32) -> BatchStream {
        let Some(shared) = self.0.upgrade() else { return failed(closed()) };
        match shared.exchanges.take(exchange, part) {
            Ok(rows) => rows.map_err(|error| remote(error.into())).boxed(),
            Err(error) => failed(error),
        }
    }

    fn describe(&self, name: &str) -> Option<RecordBatch> {
        crate::system::own_part(&*self.0.upgrade()?, name)
    }
}

fn closed() -> Error {
    Error::new(SqlState::AdminShutdown, "the database is closed")
}

fn failed(error: Error) -> BatchStream {
    futures::stream::iter([Err(remote(error))]).boxed()
}

async fn serve(shared: Arc<Shared>, reading: Reading, bundle: Bytes, batches: Sender) {
    let answered = AssertUnwindSafe(answer(&shared, &reading, &bundle, &batches));
    let error = match answered.catch_unwind().await {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error,
        Err(_) => Error::new(SqlState::InternalError, "a bundle cannot be run"),
    };
    // Who does not listen any more does not want to know.
    let _ = batches.send(Err(remote(error))).await;
}

async fn answer(
    shared: &Arc<Shared>,
    reading: &Reading,
    bundle: &[u8],
    batches: &Sender,
) -> Result<()> {
    let context = shared.engine.functions.task_ctx();
    let partitions = context.session_config().target_partitions();
    let bundle = Bundle::from_bytes(bundle)?;
    let alone = bundle.exchange.is_none();
    let plan = match &bundle.input {
        Input::Scans(scans) if alone && scans.len() == 1 => {
            let (here, elsewhere) = scan(reading, &scans[0], &context, partitions).await?;
            let plan = bundle.plan(vec![here], &context)?;
            with_others(plan, &bundle, &elsewhere)?
        }
        Input::Scans(scans) => {
            let scans = scans.iter().map(|of| whole_scan(reading, of, &context, partitions));
            bundle.plan(try_join_all(scans).await?, &context)?
        }
        Input::Parts(parts) => bundle.plan(readers(reading, parts)?, &context)?,
    };
    if let Some(exchange) = bundle.exchange {
        return deal_out(shared, exchange, &plan, context, batches).await;
    }
    let plan = match order_of(&plan)? {
        Some(order) => Arc::new(SortPreservingMergeExec::new(order, plan)),
        None => plan,
    };
    let mut rows = execute_stream(plan, context)?;
    while let Some(batch) = rows.try_next().await? {
        if batches.send(Ok(batch)).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Deals out the rows of a bundle, for as long as its coordinator listens. An empty batch says that it has begun.
async fn deal_out(
    shared: &Arc<Shared>,
    exchange: ExchangeId,
    plan: &Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    batches: &Sender,
) -> Result<()> {
    let dealt = plan.downcast_ref::<RepartitionExec>();
    let Some((dealt, Partitioning::Hash(by, parts))) = dealt.map(|d| (d, d.partitioning())) else {
        return Err(out_of_range("an exchange does not say how rows are dealt out"));
    };
    if !(1..=PARTS_MAX).contains(parts) {
        return Err(out_of_range("an exchange has too many parts"));
    }
    let exchanges = Arc::clone(&shared.exchanges);
    let open = exchanges.open(exchange, *parts, context.memory_pool())?;
    let begun = RecordBatch::new_empty(Arc::new(Schema::empty()));
    if batches.send(Ok(begun)).await.is_ok() {
        let (plans, queues) = (vec![Arc::clone(dealt.input())], Arc::clone(&open.queues));
        deal(plans, by.clone(), *parts, queues, context).await;
        batches.closed().await;
    }
    Ok(())
}

/// The readers of a bundle.
fn readers(reading: &Reading, parts: &[(Parts, &[u8])]) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
    let Some((peers, _)) = reading.peers() else {
        return Err(out_of_range("a server without others takes part in no exchange"));
    };
    let reader = |(place, (parts, schema)): (usize, &(Parts, &[u8]))| {
        if parts.partitions as usize > PARTS_MAX || parts.dealers.len() > PARTS_MAX {
            return Err(out_of_range("an exchange has too many parts"));
        }
        let (schema, _) = broadcast::from_bytes(schema)?;
        let (peers, metrics) = (Arc::clone(peers), ExecutionPlanMetricsSet::new());
        let reader = ExchangeReader::new(place as u32, parts.clone(), schema, peers, metrics);
        Ok(Arc::new(reader) as Arc<dyn ExecutionPlan>)
    };
    parts.iter().enumerate().map(reader).collect()
}

fn out_of_range(message: &str) -> Error {
    Error::new(SqlState::ProtocolViolation, message)
}

/// The scan of a bundle: of the rows that are here, and of those that have left.
async fn whole_scan(
    reading: &Reading,
    of: &Scan<'_>,
    context: &TaskContext,
    partitions: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let (here, elsewhere) = scan(reading, of, context, partitions).await?;
    Ok(Sites::owners(vec![elsewhere]).everywhere(here, Gathering::PUSH, usize::MAX)?)
}

/// The scan of a bundle's rows that are here, and where the others are.
async fn scan(
    reading: &Reading,
    scan: &Scan<'_>,
    context: &TaskContext,
    partitions: usize,
) -> Result<(Arc<dyn ExecutionPlan>, Elsewhere)> {
    let view = reading.table(scan.table()).filter(|view| {
        let columns = view.table().columns.len();
        view.table().version == scan.version() && scan.read.iter().all(|read| *read < columns)
    });
    let Some(view) = view else {
        let relation = format!("table {}", scan.table().0);
        return Err(store::Error::SchemaConflict { relation }.into());
    };
    if scan.output.iter().any(|out| *out >= scan.read.len()) {
        return Err(out_of_range("a bundle's columns are out of range"));
    }
    let schema = Arc::new(plan_schema(view.table(), &scan.read));
    let predicate = scan.predicate(context)?;
    let places::Found { pieces, coverage, here: ranges, elsewhere } =
        places::find(&view, &scan.ranges, predicate.as_ref(), &schema, &scan.read).await?;
    let table = Arc::clone(view.table());
    let here = BucketScan::new(table, pieces, scan.read.clone(), schema, partitions, coverage);
    let here = here.with_conjuncts(predicate.into_iter().collect())?;
    let here = here.with_output(&scan.output)?.with_limit(scan.limit);
    let elsewhere = Elsewhere::new(view, ranges, elsewhere).with_hops(scan.hops);
    Ok((Arc::new(here), elsewhere))
}

/// An error as it is told to another server.
fn remote(error: Error) -> store::Error {
    store::Error::Remote {
        sql_state: error.state().code().to_owned(),
        message: error.message().to_owned(),
        detail: error.detail().map(ToOwned::to_owned),
        hint: error.hint().map(ToOwned::to_owned),
    }
}
