//! The rows of a running statement: they end early when the statement is cancelled or out of time.

use super::Inner;
use crate::error::{Error, SqlState};
use crate::translate::external;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use futures::Stream;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use store::Snapshot;

/// Ready when a statement must end, with the reason.
pub(crate) type Ending = Pin<Box<dyn Future<Output = Error> + Send>>;

/// Marks a statement as running until it is dropped.
pub(crate) struct RunningMark {
    pub(crate) session: Arc<Inner>,
    pub(crate) statement: u64,
}

impl Drop for RunningMark {
    fn drop(&mut self) {
        self.session.shared.running.lock().remove(&self.statement);
    }
}

/// A statement's rows.
pub(crate) struct OutcomeStream {
    pub(crate) schema: SchemaRef,
    /// `None` when it has ended.
    pub(crate) rows: Option<SendableRecordBatchStream>,
    pub(crate) ending: Ending,
    pub(crate) _snapshot: Option<Snapshot>,
    pub(crate) mark: RunningMark,
}

impl OutcomeStream {
    fn fail(&mut self, error: Error) -> Poll<Option<Result<RecordBatch>>> {
        self.rows = None;
        self.mark.session.stream_failed.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err(external(error))))
    }
}

impl Stream for OutcomeStream {
    type Item = Result<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let Some(rows) = &mut this.rows else { return Poll::Ready(None) };
        if let Poll::Ready(error) = this.ending.as_mut().poll(cx) {
            return this.fail(error);
        }
        match rows.as_mut().poll_next(cx) {
            Poll::Ready(Some(Err(error))) => this.fail(error.into()),
            Poll::Ready(None) => {
                this.rows = None;
                Poll::Ready(None)
            }
            other => other,
        }
    }
}

impl RecordBatchStream for OutcomeStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// When a statement must end: when its token is cancelled, or its time is over.
pub(crate) fn ending(
    token: tokio_util::sync::CancellationToken,
    timeout: Option<std::time::Duration>,
) -> Ending {
    Box::pin(async move {
        let cancelled = "canceling statement due to user request";
        let Some(timeout) = timeout else {
            token.cancelled_owned().await;
            return Error::new(SqlState::QueryCanceled, cancelled);
        };
        tokio::select! {
            biased;
            () = token.cancelled_owned() => Error::new(SqlState::QueryCanceled, cancelled),
            () = tokio::time::sleep(timeout) => Error::new(
                SqlState::QueryCanceled,
                format!("canceling statement due to statement timeout ({} ms)", timeout.as_millis()),
            ),
        }
    })
}
