//! Statements that are executed again: with a plan of before, or, in functions, by the short path.

mod forms;
mod plans;

pub(crate) use forms::is_short_allowed;

use crate::context::outcome::Outcome;
use crate::context::{Frame, Inner};
use crate::short::Given;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::{StreamExt, TryStreamExt};
use parser::Statement;
use planner::NamedParameter;
use procedural::Done;
use std::sync::Arc;
use store::{DistributedTransaction, Reading};
use values::error::Result;
use values::field::Field;

/// A query that has been started: the columns of its result, and its rows.
pub(crate) type Begun = (Arc<[Field]>, SendableRecordBatchStream);

/// The rows of a plan, once the first have been computed.
pub(crate) async fn begun(
    plan: Arc<dyn ExecutionPlan>,
    task: Arc<TaskContext>,
) -> datafusion::common::Result<SendableRecordBatchStream> {
    let schema = plan.schema();
    let mut stream = execute_stream(plan, task)?;
    let first = stream.try_next().await?;
    let all = futures::stream::iter(first.map(Ok)).chain(stream);
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, all)))
}

/// The rows of a query of a function that was recognised before as one by key, not more than `limit`. It needs no
/// surroundings. `None` of other queries, and where rows are on other servers.
///
/// # Errors
/// Those of the query.
pub(crate) fn rows_again(
    session: &Inner,
    reading: &Reading,
    statement: &Statement,
    given: (&[NamedParameter], &[ScalarValue]),
    limit: Option<usize>,
) -> Result<Option<Done>> {
    if reading.peers().is_some() || session.borrowed.is_lent() {
        return Ok(None);
    }
    let Some((form, parameters)) = forms::again(session, reading, statement, given)? else {
        return Ok(None);
    };
    let Some((fields, rows)) = form.short.rows_here(reading, &parameters)? else { return Ok(None) };
    let (fields, schema) = (Some(fields.to_vec()), Some(rows.schema()));
    Ok(Some(Done { fields, schema, batches: limited(vec![rows], limit), count: 0 }))
}

/// The rows of a query of a function, not more than `limit`. `None` if it has to be planned.
///
/// # Errors
/// Those of the query.
pub(crate) async fn rows_of(
    session: &Inner,
    frame: &Frame<'_>,
    statement: &Statement,
    reading: &Reading,
    limit: Option<usize>,
) -> Result<Option<Done>> {
    if !frame.transitions.is_empty() {
        return Ok(None);
    }
    if let Some((form, parameters)) = forms::of_function(session, frame, reading, statement).await?
        && let Some(rows) = form.short.rows_at(reading, &parameters).await?
    {
        let Done { fields, schema, batches, count } = rows.done().await?;
        let batches = limited(batches, limit);
        return Ok(Some(Done { fields, schema, batches, count }));
    }
    if reading.peers().is_some() || session.borrowed.is_lent() {
        return Ok(None);
    }
    let Some((fields, rows)) = session.begin_kept(frame, statement, reading).await? else {
        return Ok(None);
    };
    let schema = rows.schema();
    let batches = first_of(rows, limit).await?;
    Ok(Some(Done { fields: Some(fields.to_vec()), schema: Some(schema), batches, count: 0 }))
}

/// Whether a statement of a function needs no plan.
pub(crate) async fn is_short(
    session: &Inner,
    frame: &Frame<'_>,
    statement: &Statement,
    reading: &Reading,
) -> bool {
    matches!(forms::of_function(session, frame, reading, statement).await, Ok(Some(_)))
}

/// The outcome of a change of a function by the short path. `None` if it has to be planned.
///
/// # Errors
/// Those of the change. The transaction may then contain part of it.
pub(crate) async fn changed(
    session: &Inner,
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
) -> Result<Option<Outcome>> {
    let Some(statement) = frame.statement else { return Ok(None) };
    match forms::of_function(session, frame, transaction, statement).await? {
        Some((form, parameters)) => {
            let moment = session.moment();
            form.short
                .execute_in(transaction, Given { parameters: &parameters, moment, repeats: false })
                .await
        }
        None => Ok(None),
    }
}

/// The first rows of a query.
async fn first_of(
    mut rows: SendableRecordBatchStream,
    limit: Option<usize>,
) -> Result<Vec<RecordBatch>> {
    let (mut batches, mut count) = (Vec::new(), 0);
    while limit.is_none_or(|limit| count < limit)
        && let Some(batch) = rows.try_next().await?
    {
        count += batch.num_rows();
        batches.push(batch);
    }
    Ok(limited(batches, limit))
}

/// Not more than `limit` of the rows.
fn limited(batches: Vec<RecordBatch>, limit: Option<usize>) -> Vec<RecordBatch> {
    let Some(limit) = limit else { return batches };
    let mut left = limit;
    let cut = |batch: RecordBatch| {
        let rows = batch.num_rows().min(left);
        left -= rows;
        if rows == batch.num_rows() { batch } else { batch.slice(0, rows) }
    };
    batches.into_iter().map(cut).collect()
}
