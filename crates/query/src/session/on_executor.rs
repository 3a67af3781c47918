//! Running a statement on an executor, and waiting for it no longer than it may run.

use super::Session;
use crate::context::Inner;
use crate::context::outcome::{Outcome, Rows};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use executor::{Control, Executors, Lease, Task};
use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt};
use parser::Statement;
use parser::commands::Command;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::mpsc;
use values::error::{Error, Result, SqlState};
use values::translate::external;

/// The bytes of changes that are committed where the session is, at most.
const BRIEF_BYTES: u64 = 1 << 16;

/// Batches that are computed ahead of their consumer.
const BATCHES_AHEAD: usize = 2;

impl Session {
    /// Runs one statement, on an executor if there are any. Parameters are `$1`, `$2`, ...
    ///
    /// # Errors
    /// Any SQLSTATE; positions count from the statement's beginning.
    pub fn run<'a>(
        &'a self,
        statement: &'a Statement,
        parameters: &'a [ScalarValue],
    ) -> BoxFuture<'a, Result<Outcome>> {
        let inner = self.inner();
        let executors = inner.shared.executors.as_ref().filter(|_| !inner.is_brief(statement));
        let Some(executors) = executors else {
            let control = inner.begin_statement();
            return Box::pin(async move {
                let run = inner.run(inner, statement, parameters, &control);
                control.scope(run).await
            });
        };
        let (statement, parameters) = (statement.clone(), parameters.to_vec());
        Box::pin(async move {
            let run = |session: Self, control: Control| async move {
                let inner = session.inner();
                Ok(match inner.run(inner, &statement, &parameters, &control).await? {
                    Outcome::Rows(rows) => {
                        let (rows, are_all) = ahead(rows);
                        (Outcome::Rows(rows), are_all)
                    }
                    done => (done, true),
                })
            };
            let ((outcome, is_done), lease, control) = self.leased(executors, run).await?;
            Ok(match outcome {
                Outcome::Rows(rows) if !is_done => {
                    Outcome::Rows(self.computed_by(lease, control, rows))
                }
                outcome => outcome,
            })
        })
    }

    /// Does a part of a statement's work on an executor, if there are any.
    pub(super) async fn on_executor<T, F>(&self, work: impl FnOnce(Self, Control) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        match &self.inner().shared.executors {
            Some(executors) => self.leased(executors, work).await.map(|(done, ..)| done),
            None => {
                let control = self.inner().begin_statement();
                control.scope(work(self.clone(), control.clone())).await
            }
        }
    }

    /// Does work on an executor. A caller who waits in vain for its early end abandons it.
    async fn leased<T, F>(
        &self,
        executors: &Executors,
        work: impl FnOnce(Self, Control) -> F,
    ) -> Result<(T, Lease, Control)>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let control = self.inner().begin_statement();
        let lease = executors.lease(&control);
        let mut task = lease.spawn(&control, work(self.clone(), control.clone()));
        let done = tokio::select! {
            biased;
            done = &mut task => done.unwrap_or_else(|_| Err(ended_early())),
            error = control.overdue() => {
                self.abandon();
                Err(error)
            }
        };
        Ok((done?, lease, control))
    }

    /// Leaves the transaction to a statement that does not notice its end.
    fn abandon(&self) {
        let inner = self.inner();
        inner.conversation.fail();
        inner.conversation.abandon(&inner.settings);
    }

    /// The same rows, computed by the executor that has begun them.
    fn computed_by(&self, lease: Lease, statement: Control, rows: Rows) -> Rows {
        let Rows { fields, mut stream, command, control } = rows;
        let (sender, batches) = mpsc::channel(BATCHES_AHEAD);
        let schema = stream.schema();
        let task = lease.spawn(&statement, async move {
            while let Some(batch) = stream.next().await {
                if sender.send(batch).await.is_err() {
                    break;
                }
            }
        });
        let ending = {
            let statement = statement.clone();
            async move { statement.overdue().await }.boxed()
        };
        let session = self.clone();
        let stream = Computed { schema, batches, ending, task: Some(task), session, _lease: lease };
        Rows { fields, stream: Box::pin(stream), command, control }
    }
}

impl Inner {
    /// Whether a statement takes less time than handing it to an executor: it begins or ends a transaction of few changes,
    /// which nothing looks at any more.
    fn is_brief(&self, statement: &Statement) -> bool {
        let Some(Command::Transaction(_)) = statement.command() else { return false };
        let Some(mut conversation) = self.conversation.try_lock() else { return false };
        if conversation.has_unchecked() || !self.context.held.nothing_waits() {
            return false;
        }
        let open = conversation.open();
        open.is_none_or(|open| open.transaction.is_within(BRIEF_BYTES))
    }
}

/// Rows of which the first are computed, as far as that waits for nothing, and whether these are all. Then no task has to pass
/// them on.
fn ahead(rows: Rows) -> (Rows, bool) {
    let Rows { fields, mut stream, command, control } = rows;
    let schema = stream.schema();
    let mut batches = Vec::new();
    let are_all = loop {
        match stream.next().now_or_never() {
            Some(Some(batch)) if batch.is_ok() && batches.len() + 1 < BATCHES_AHEAD => {
                batches.push(batch);
            }
            // An error fails the transaction when somebody reads as far.
            Some(Some(batch)) => {
                batches.push(batch);
                break false;
            }
            Some(None) => break true,
            None => break false,
        }
    };
    let first = futures::stream::iter(batches);
    let stream: SendableRecordBatchStream = match are_all {
        true => Box::pin(RecordBatchStreamAdapter::new(schema, first)),
        false => Box::pin(RecordBatchStreamAdapter::new(schema, first.chain(stream))),
    };
    (Rows { fields, stream, command, control }, are_all)
}

/// Rows that an executor computes.
struct Computed {
    schema: SchemaRef,
    batches: mpsc::Receiver<datafusion::common::Result<RecordBatch>>,
    /// Completes when the rows should have ended.
    ending: BoxFuture<'static, Error>,
    /// `None` once its outcome is known.
    task: Option<Task<()>>,
    session: Session,
    _lease: Lease,
}

impl Computed {
    fn fail(&mut self, error: impl Into<DataFusionError>) -> <Self as Stream>::Item {
        self.task = None;
        self.batches.close();
        self.session.inner().conversation.fail();
        Err(error.into())
    }
}

impl Stream for Computed {
    type Item = datafusion::common::Result<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let Some(task) = &mut this.task else { return Poll::Ready(None) };
        match this.batches.poll_recv(context) {
            Poll::Ready(Some(Ok(batch))) => Poll::Ready(Some(Ok(batch))),
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(this.fail(error))),
            Poll::Ready(None) => {
                let ended = ready!(task.poll_unpin(context));
                this.task = None;
                Poll::Ready(ended.err().map(|_| this.fail(external(ended_early()))))
            }
            Poll::Pending => {
                let error = ready!(this.ending.poll_unpin(context));
                Poll::Ready(Some(this.fail(external(error))))
            }
        }
    }
}

impl RecordBatchStream for Computed {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

fn ended_early() -> Error {
    Error::new(SqlState::InternalError, "the statement ended early; the log says why")
}
