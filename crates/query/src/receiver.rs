//! Execution of other servers' requests: plan fragments, DML pushdowns and operations on single rows.
//!
//! Bytes from the network are not trusted: malformed ones are an error, also where the engine would panic.

use crate::context::Shared;
use crate::dml::pushdown;
use crate::session::procedural::guests::Guests;
use crate::short;
use crate::short::Operations;
use bytes::Bytes;
use catalog_views::own_part;
use datafusion::arrow::array::RecordBatch;
use distributed::{Sender, out_of_range};
use executor::{Control, Task};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryStreamExt};
use sdds::{Key, TransactionId};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use store::catalog::TableId;
use store::{BatchStream, ExchangeId, Fragments, PushdownSteps, Reading};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use values::error::{Error, Result, SqlState};
use values::translate::to_store_error;

/// Batches, or steps of a DML pushdown, that are computed ahead of their consumer.
const ITEMS_AHEAD: usize = 2;

/// Executes requests on a database's executors.
#[derive(Debug)]
pub(crate) struct Receiver {
    shared: Weak<Shared>,
    /// The operations on single rows that other servers have sent.
    operations: Arc<Operations>,
    /// The sessions for clients of other servers.
    guests: Arc<Guests>,
}

impl Receiver {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        let (operations, guests) = Default::default();
        Self { shared: Arc::downgrade(shared), operations, guests }
    }
}

impl Receiver {
    /// The items that a task on an executor sends. Dropping the stream ends the task.
    fn serve<T: Send + 'static, A: Future<Output = Result<()>> + Send + 'static>(
        &self,
        answer: impl FnOnce(Arc<Shared>, Sender<T>) -> A,
    ) -> BoxStream<'static, std::result::Result<T, store::Error>> {
        let Some(shared) = self.shared.upgrade() else { return failed(closed()) };
        let (sender, received) = mpsc::channel(ITEMS_AHEAD);
        let memory = Some(Arc::clone(shared.store.memory()));
        let control = Control::with_memory(CancellationToken::new(), None, memory);
        let lease = shared.executors.as_ref().map(|all| all.lease(&control));
        let answered = AssertUnwindSafe(answer(shared, sender.clone())).catch_unwind();
        let task = async move {
            let error = match answered.await {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error,
                Err(_) => Error::new(SqlState::InternalError, "a fragment cannot be run"),
            };
            // The receiver may be gone; then nobody needs the error.
            let _ = sender.send(Err(to_store_error(error))).await;
        };
        let task = match &lease {
            Some(lease) => lease.spawn(&control, task),
            None => Task::new(tokio::spawn(control.scope(task)), control),
        };
        futures::stream::unfold((received, task, lease), |(mut received, task, lease)| async move {
            Some((received.recv().await?, (received, task, lease)))
        })
        .boxed()
    }
}

impl Fragments for Receiver {
    fn run(&self, reading: Reading, fragment: Bytes) -> BatchStream {
        self.serve(
            |shared, batches| async move { shared.node.run(&reading, &fragment, &batches).await },
        )
    }

    fn pushdown(&self, reading: Reading, pushdown: Bytes) -> PushdownSteps {
        self.serve(|shared, steps| async move {
            let mut all = pushdown::open(&shared.node, &reading, &pushdown).await?;
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
        let (shared, operations) = (self.shared.upgrade(), Arc::clone(&self.operations));
        Box::pin(async move {
            let Some(shared) = shared else { return Err(to_store_error(closed())) };
            let work = short::perform(&shared, &operations, key, &operation);
            // The engine panics only on malformed operations.
            let stumbled =
                |_| Err(to_store_error(out_of_range("a row operation cannot be carried out")));
            AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(stumbled)
        })
    }

    fn call(
        &self,
        id: TransactionId,
        table: TableId,
        key: Key,
        call: Bytes,
    ) -> BoxFuture<'static, std::result::Result<Bytes, store::Error>> {
        let (shared, guests) = (self.shared.upgrade(), Arc::clone(&self.guests));
        Box::pin(async move {
            let Some(shared) = shared else { return Err(to_store_error(closed())) };
            let work = guests.call(&shared, id, (table, key), &call);
            // The engine panics only on malformed rows.
            let stumbled = |_| Err(to_store_error(out_of_range("a call cannot be carried out")));
            AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(stumbled)
        })
    }

    fn end_call(&self, id: TransactionId) {
        self.guests.end(id);
    }

    fn take(&self, exchange: ExchangeId, part: u32) -> BatchStream {
        let Some(shared) = self.shared.upgrade() else { return failed(closed()) };
        match shared.node.exchanges.take(exchange, part) {
            Ok(rows) => rows.map_err(|error| to_store_error(error.into())).boxed(),
            Err(error) => failed(error),
        }
    }

    fn publish(&self, notifications: &[u8]) {
        if let (Some(shared), Some(all)) =
            (self.shared.upgrade(), notifications::decode(notifications))
        {
            shared.hub.publish(&all);
        }
    }

    fn describe(&self, name: &str) -> Option<RecordBatch> {
        own_part(&*self.shared.upgrade()?, name)
    }
}

fn closed() -> Error {
    Error::new(SqlState::AdminShutdown, "the database is closed")
}

fn failed<T: Send + 'static>(
    error: Error,
) -> BoxStream<'static, std::result::Result<T, store::Error>> {
    futures::stream::iter([Err(to_store_error(error))]).boxed()
}
