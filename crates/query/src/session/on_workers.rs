//! Running a statement on the workers' runtime, so that the caller's runtime stays responsive.

use super::Session;
use crate::context::outcome::{Outcome, Rows};
use datafusion::common::ScalarValue;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use futures::StreamExt;
use futures::future::BoxFuture;
use parser::Statement;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use values::error::{Error, Result, SqlState};

/// Batches that are computed ahead of their consumer.
const BATCHES_AHEAD: usize = 2;

/// A task that is aborted when it is dropped.
struct Awaited<T>(JoinHandle<T>);

impl<T> Drop for Awaited<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Session {
    /// Runs one statement, on the workers if there are any. Parameters are `$1`, `$2`, ...
    ///
    /// # Errors
    /// Any SQLSTATE; positions count from the statement's beginning.
    pub fn run<'a>(
        &'a self,
        statement: &'a Statement,
        parameters: &'a [ScalarValue],
    ) -> BoxFuture<'a, Result<Outcome>> {
        match self.inner().shared.workers.clone() {
            None => Box::pin(self.run_here(statement, parameters)),
            Some(workers) => Box::pin(self.run_on(workers, statement, parameters)),
        }
    }

    async fn run_on(
        &self,
        workers: Handle,
        statement: &Statement,
        parameters: &[ScalarValue],
    ) -> Result<Outcome> {
        let (session, statement, parameters) =
            (self.clone(), statement.clone(), parameters.to_vec());
        let mut task =
            Awaited(workers.spawn(async move { session.run_here(&statement, &parameters).await }));
        let ended_early =
            |_| Error::new(SqlState::InternalError, "the statement ended early; the log says why");
        let outcome = (&mut task.0).await.map_err(ended_early)?;
        Ok(match outcome? {
            Outcome::Rows(rows) => Outcome::Rows(computed_by(&workers, rows)),
            done => done,
        })
    }
}

/// The same rows, computed on the workers.
fn computed_by(workers: &Handle, rows: Rows) -> Rows {
    let Rows { fields, mut stream, command, control } = rows;
    let mut builder = RecordBatchReceiverStreamBuilder::new(stream.schema(), BATCHES_AHEAD);
    let out = builder.tx();
    builder.spawn_on(
        async move {
            while let Some(batch) = stream.next().await {
                if out.send(batch).await.is_err() {
                    break;
                }
            }
            Ok(())
        },
        workers,
    );
    Rows { fields, stream: builder.build(), command, control }
}
