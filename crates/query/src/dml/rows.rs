//! The rows of a change's query.

use super::writer::Writer;
use crate::context::call_site::CallSite;
use crate::context::{Frame, start};
use datafusion::arrow::array::RecordBatch;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::TryStreamExt;
use planner::Planner;
use std::sync::Arc;
use values::error::Result;

/// The query of a change, which computes rows one after the other where functions see what has been written.
pub(super) async fn physical(
    planner: &Planner<'_>,
    site: &CallSite,
    rows: &LogicalPlan,
) -> Result<Arc<dyn ExecutionPlan>> {
    match site.needs_driver() {
        true => Ok(planner.physical_in_turn(rows).await?.0),
        false => planner.physical(rows).await,
    }
}

/// The rows of a change's query, one at a time where functions see what has been written.
pub(super) struct Rows {
    /// `None` at the end.
    stream: Option<SendableRecordBatchStream>,
    /// Rows that come next.
    rest: Option<RecordBatch>,
}

impl Rows {
    /// The rows of a plan, which is executed in the frame's surroundings if it has none of its own.
    ///
    /// # Errors
    /// The plan cannot be started.
    pub(super) fn of(
        frame: &Frame<'_>,
        writer: &Writer<'_>,
        (query, task): (Arc<dyn ExecutionPlan>, Option<Arc<TaskContext>>),
    ) -> Result<Self> {
        let is_spread = frame.session.shared.store.peers().is_some();
        let query = match writer.is_in_turn() && is_spread {
            true => planner::drained(query)?,
            false => query,
        };
        Ok(Self::from(match task {
            Some(task) => execute_stream(query, task)?,
            None => start(frame, query)?,
        }))
    }

    /// The next rows.
    ///
    /// # Errors
    /// Those of the query.
    pub(super) async fn next(&mut self, writer: &mut Writer<'_>) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(rest) = self.rest.take().filter(|rest| rest.num_rows() > 0) {
                if !writer.is_in_turn() {
                    return Ok(Some(rest));
                }
                self.rest = Some(rest.slice(1, rest.num_rows() - 1));
                return Ok(Some(rest.slice(0, 1)));
            }
            let Some(mut stream) = self.stream.take() else { return Ok(None) };
            let next = async move { Ok(stream.try_next().await?.map(|rows| (rows, stream))) };
            let Some((rows, stream)) = writer.computed(next).await? else { return Ok(None) };
            (self.rest, self.stream) = (Some(rows), Some(stream));
        }
    }
}

impl From<SendableRecordBatchStream> for Rows {
    fn from(stream: SendableRecordBatchStream) -> Self {
        Self { stream: Some(stream), rest: None }
    }
}
