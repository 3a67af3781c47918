//! The rows of a running statement. They end early when the statement is cancelled or times out.

use crate::context::running::RunningMark;
use crate::context::transactions::Failure;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use executor::Control;
use futures::Stream;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use store::Reading;
use values::error::Error;
use values::translate::external;

/// Completes with the reason when a statement has to end.
type Ending = Pin<Box<dyn Future<Output = Error> + Send>>;

/// A statement's rows.
pub(crate) struct OutcomeStream {
    schema: SchemaRef,
    /// `None` when it has ended.
    rows: Option<SendableRecordBatchStream>,
    ending: Ending,
    control: Control,
    /// Keeps the snapshot that the rows are read at.
    _reading: Reading,
    _mark: RunningMark,
    /// The failure flag of the statement's transaction.
    failure: Failure,
}

impl OutcomeStream {
    pub(crate) fn new(
        rows: SendableRecordBatchStream,
        control: &Control,
        reading: Reading,
        mark: RunningMark,
        failure: Failure,
    ) -> Self {
        let (schema, control) = (rows.schema(), control.clone());
        let ended = control.clone();
        let ending = Box::pin(async move { ended.ended().await });
        Self { schema, rows: Some(rows), ending, control, _reading: reading, _mark: mark, failure }
    }

    fn fail(&mut self, error: Error) -> Poll<Option<Result<RecordBatch>>> {
        self.rows = None;
        if !self.control.is_left() {
            self.failure.set();
        }
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
