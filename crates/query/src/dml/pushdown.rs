//! DML pushdowns: an UPDATE or DELETE that the owners of its rows execute.
//!
//! The query of the statement is one plan fragment over the table ([`RowQuery`]). Each owner runs
//! it on its own rows and writes the result: new rows, after assignment casts and constraint
//! checks, or deleted keys. A statement in which the change of a row depends on other rows cannot
//! be pushed down.

use super::assignment::new_rows;
use crate::context::Frame;
use bytes::Bytes;
use datafusion::arrow::array::RecordBatch;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use distributed::{FRAGMENT_BYTES_MAX, Node, OwnRows, RowQuery, expressions, out_of_range};
use executor::stoppable;
use futures::StreamExt;
use futures::stream::BoxStream;
use scan::places::Elsewhere;
use scan::shipping::Shipping;
use sdds::KeyRange;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use store::catalog::Table;
use store::{PushdownStep, Reading, TableView, Write};
use table_rows::Constraints;
use values::error::Result;

/// The change of the rows that the query returns.
pub(crate) enum Change {
    /// Replaces the rows. The query returns the columns of the table, followed by the new values of
    /// `targets`, which are not key columns.
    Update { targets: Vec<usize>, constraints: Arc<Constraints> },
    /// Deletes the rows.
    Delete,
}

/// A statement that each owner can execute on its own rows.
pub(crate) struct DmlPushdown {
    /// The query over all rows, local and remote.
    pub(crate) query: Arc<dyn ExecutionPlan>,
    rows: RowQuery,
    change: Change,
}

/// The serialized form.
#[derive(Serialize, Deserialize)]
struct Sent<'a> {
    fragment: &'a [u8],
    #[serde(borrow)]
    change: SentChange<'a>,
}

#[derive(Serialize, Deserialize)]
enum SentChange<'a> {
    Update {
        targets: Vec<usize>,
        /// The expressions of [`Constraints::expressions`], as a plan that projects them; `None` if
        /// there are none.
        #[serde(borrow)]
        checks: Option<&'a [u8]>,
    },
    Delete,
}

impl DmlPushdown {
    /// A statement as a DML pushdown, if its query is a fragment over one table, other servers own
    /// rows of it, and all expressions are portable.
    pub(crate) fn of_query(
        query: &Arc<dyn ExecutionPlan>,
        change: Change,
        frame: &Frame<'_>,
    ) -> Result<Option<Self>> {
        let Some(rows) = RowQuery::of(query) else { return Ok(None) };
        let shipping = Shipping::of(frame.engine().config())?;
        let is_portable = match &change {
            Change::Update { constraints, .. } => constraints
                .expressions()
                .iter()
                .all(|expression| shipping.portable.expression(expression)),
            Change::Delete => true,
        };
        if !shipping.operators || !is_portable {
            return Ok(None);
        }
        Ok(Some(Self { query: Arc::clone(query), rows, change }))
    }

    /// The key ranges of the table, by owner.
    pub(crate) fn elsewhere(&self) -> &Elsewhere {
        &self.rows.elsewhere
    }

    /// Serializes the pushdown for the owner of `ranges`.
    pub(crate) async fn to_bytes(&self, ranges: &[KeyRange], frame: &Frame<'_>) -> Result<Bytes> {
        let fragment = self.rows.to_bytes(ranges, &frame.engine().task_ctx()).await?;
        let table = self.rows.elsewhere.view().table();
        let checks = match &self.change {
            Change::Update { constraints, .. } => checks_to_bytes(table, constraints)?,
            Change::Delete => None,
        };
        let change = match &self.change {
            Change::Update { targets, .. } => {
                SentChange::Update { targets: targets.clone(), checks: checks.as_deref() }
            }
            Change::Delete => SentChange::Delete,
        };
        let bytes = postcard::to_stdvec(&Sent { fragment: &fragment, change });
        Ok(bytes
            .map_err(|error| {
                out_of_range(&format!("a DML pushdown cannot be serialized: {error}"))
            })?
            .into())
    }
}

fn checks_to_bytes(table: &Table, constraints: &Constraints) -> Result<Option<Vec<u8>>> {
    let expressions = constraints.expressions();
    let is_any = !expressions.is_empty();
    is_any.then(|| expressions::to_bytes(table, &[], expressions)).transpose()
}

/// Computes the writes of an owner.
struct WriteBuilder {
    view: TableView,
    kind: WriteKind,
}

enum WriteKind {
    NewRows { targets: Vec<usize>, constraints: Constraints },
    Keys,
}

impl WriteBuilder {
    fn new(view: TableView, change: SentChange<'_>, context: &Arc<TaskContext>) -> Result<Self> {
        let table = view.table();
        let kind = match change {
            SentChange::Delete => WriteKind::Keys,
            SentChange::Update { targets, checks } => {
                let key = table.key_indices();
                let is_value = |at: &usize| *at < table.columns.len() && !key.contains(at);
                let read = |bytes| expressions::from_bytes(bytes, context);
                let checks = checks.map(read).transpose()?;
                match Constraints::of(table, checks.unwrap_or_default()) {
                    Some(constraints) if targets.iter().all(is_value) => {
                        WriteKind::NewRows { targets, constraints }
                    }
                    _ => return Err(out_of_range("a DML pushdown does not fit its table")),
                }
            }
        };
        Ok(Self { view, kind })
    }

    /// Number of columns that the query must return.
    fn width(&self) -> usize {
        let targets = match &self.kind {
            WriteKind::NewRows { targets, .. } => targets.len(),
            WriteKind::Keys => 0,
        };
        self.view.table().columns.len() + targets
    }

    /// The write for a batch of the query.
    fn write(&self, rows: &RecordBatch) -> Result<Write> {
        let table = self.view.table();
        Ok(match &self.kind {
            WriteKind::NewRows { targets, constraints } => {
                Write::Upsert(new_rows(table, rows.columns(), targets, constraints)?)
            }
            WriteKind::Keys => {
                let rows = RecordBatch::try_new(table.arrow_schema(), rows.columns().to_vec())?;
                Write::Delete(self.view.encode_keys(&rows)?)
            }
        })
    }
}

/// Executes a DML pushdown on the local rows that `reading` sees, and returns its writes.
///
/// # Errors
/// 08P01 if the bytes are not a valid pushdown for the table; those of the query and of the
/// constraints.
pub(crate) async fn open(
    node: &Node,
    reading: &Reading,
    bytes: &[u8],
) -> Result<BoxStream<'static, Result<PushdownStep>>> {
    let context = node.task_context();
    if bytes.len() > 2 * FRAGMENT_BYTES_MAX {
        return Err(out_of_range("a DML pushdown is too large"));
    }
    let sent: Sent<'_> = postcard::from_bytes(bytes)
        .map_err(|error| out_of_range(&format!("invalid DML pushdown: {error}")))?;
    let OwnRows { plan, view, not_here } =
        OwnRows::from_bytes(reading, sent.fragment, &context).await?;
    let builder = WriteBuilder::new(view, sent.change, &context)?;
    if plan.schema().fields().len() != builder.width() {
        return Err(out_of_range("a DML pushdown does not fit its table"));
    }
    let writes = execute_stream(stoppable(plan, &|_| false)?, context)?
        .map(move |rows| Ok(PushdownStep::Write(builder.write(&rows?)?)));
    let begin = futures::stream::iter([Ok(PushdownStep::NotHere(not_here))]);
    Ok(begin.chain(writes).boxed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushdowns_have_their_bytes() {
        let bytes = |change| postcard::to_stdvec(&Sent { fragment: &[7], change });
        let update = SentChange::Update { targets: vec![1, 2], checks: Some(&[8]) };
        assert_eq!(bytes(update), Ok(vec![1, 7, 0, 2, 1, 2, 1, 1, 8]));
        assert_eq!(bytes(SentChange::Delete), Ok(vec![1, 7, 1]));
    }
}
