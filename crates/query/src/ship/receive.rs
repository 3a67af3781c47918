//! Running the bundles of other servers.
//!
//! Bytes from the network are not trusted: whatever is wrong with them is an error, also where the engine would
//! panic. A server that no longer owns some of the keys takes their rows from who does, so that the answer is whole.

use super::everywhere;
use super::remote::order_of;
use super::wire::Bundle;
use crate::database::Shared;
use crate::error::{Error, Result, SqlState};
use crate::scan::bucket_scan::BucketScan;
use crate::scan::places::{self, Elsewhere};
use crate::scan::provider::plan_schema;
use bytes::Bytes;
use datafusion::arrow::array::RecordBatch;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::{FutureExt, StreamExt, TryStreamExt};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use store::{BatchStream, Bundles, Reading};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Batches that are computed ahead of who takes them.
const BATCHES_AHEAD: usize = 2;

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
        let Some(shared) = self.0.upgrade() else {
            let closed = Error::new(SqlState::AdminShutdown, "the database is closed");
            return futures::stream::iter([Err(remote(closed))]).boxed();
        };
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

    fn describe(&self, name: &str) -> Option<RecordBatch> {
        crate::system::own_part(&*self.0.upgrade()?, name)
    }
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
    let scan = scan(reading, &bundle, &context, partitions).await?;
    let plan = bundle.plan(scan, &context)?;
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

/// The scan of a bundle: of the rows that are here, and of those that have left.
async fn scan(
    reading: &Reading,
    bundle: &Bundle<'_>,
    context: &TaskContext,
    partitions: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let view = reading.table(bundle.table()).filter(|view| {
        let columns = view.table().columns.len();
        view.table().version == bundle.version() && bundle.read.iter().all(|read| *read < columns)
    });
    let Some(view) = view else {
        let relation = format!("table {}", bundle.table().0);
        return Err(store::Error::SchemaConflict { relation }.into());
    };
    if bundle.output.iter().any(|out| *out >= bundle.read.len()) {
        return Err(Error::new(SqlState::ProtocolViolation, "a bundle's columns are out of range"));
    }
    let schema = Arc::new(plan_schema(view.table(), &bundle.read));
    let predicate = bundle.predicate(context)?;
    let places::Found { pieces, coverage, elsewhere } =
        places::find(&view, &bundle.ranges, predicate.as_ref(), &schema, &bundle.read).await?;
    let table = Arc::clone(view.table());
    let scan = BucketScan::new(table, pieces, bundle.read.clone(), schema, partitions, coverage);
    let scan = scan.with_conjuncts(predicate.into_iter().collect())?;
    let scan = scan.with_output(&bundle.output)?.with_limit(bundle.limit);
    let elsewhere = Elsewhere::new(view, elsewhere).with_hops(bundle.hops);
    Ok(everywhere(Arc::new(scan), &elsewhere)?)
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
