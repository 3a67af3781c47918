//! DML pushdowns: an UPDATE or DELETE as bytes, for the owners of its rows to carry out, and what an owner computes from them.
//!
//! The query of such a statement is one fragment over the table ([`RowQuery`]). Each owner runs it on its own rows, and
//! writes the result there: new rows, assigned and checked as the coordinator would, or keys to be deleted. A statement whose
//! rows depend on more than themselves cannot be pushed down.

use super::assignment::new_rows;
use super::constraints::Constraints;
use crate::session::Frame;
use bytes::Bytes;
use datafusion::arrow::array::RecordBatch;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use distributed::{FRAGMENT_BYTES_MAX, Node, OwnRows, RowQuery, expressions, out_of_range};
use futures::StreamExt;
use futures::stream::BoxStream;
use scan::places::Elsewhere;
use scan::shipping::Shipping;
use sdds::KeyRange;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use store::catalog::Table;
use store::{PushdownStep, Reading, TableView, Write};
use values::error::Result;

/// What becomes of the rows that a statement's query gives.
pub(crate) enum Deed {
    /// They are replaced. Behind the table's own columns are the new values of some, which are not the key's.
    Update { targets: Vec<usize>, constraints: Arc<Constraints> },
    /// They go.
    Delete,
}

/// A statement that each owner can carry out on its own rows.
pub(crate) struct DmlPushdown {
    /// Its query, wherever the rows are.
    pub(crate) query: Arc<dyn ExecutionPlan>,
    rows: RowQuery,
    deed: Deed,
}

/// What crosses between servers.
#[derive(Serialize, Deserialize)]
struct Sent<'a> {
    fragment: &'a [u8],
    #[serde(borrow)]
    deed: SentDeed<'a>,
}

#[derive(Serialize, Deserialize)]
enum SentDeed<'a> {
    Update {
        targets: Vec<usize>,
        /// The conditions of CHECK, as a plan that projects them; `None` where there are none.
        #[serde(borrow)]
        checks: Option<&'a [u8]>,
    },
    Delete,
}

impl DmlPushdown {
    /// A statement as a DML pushdown, if it can be one: its query is a fragment over one table of which others have rows.
    pub(crate) fn of_query(
        query: &Arc<dyn ExecutionPlan>,
        deed: Deed,
        frame: &Frame<'_>,
    ) -> Result<Option<Self>> {
        let Some(rows) = RowQuery::of(query) else { return Ok(None) };
        let shipping = Shipping::of(frame.engine().config())?;
        let is_portable = match &deed {
            Deed::Update { constraints, .. } => constraints
                .expressions()
                .iter()
                .all(|expression| shipping.portable.expression(expression)),
            Deed::Delete => true,
        };
        if !shipping.operators || !is_portable {
            return Ok(None);
        }
        Ok(Some(Self { query: Arc::clone(query), rows, deed }))
    }

    /// The rows that other servers own.
    pub(crate) fn elsewhere(&self) -> &Elsewhere {
        &self.rows.elsewhere
    }

    /// The pushdown for whoever owns the rows in some ranges.
    pub(crate) async fn to_bytes(&self, ranges: &[KeyRange], frame: &Frame<'_>) -> Result<Bytes> {
        let fragment = self.rows.to_bytes(ranges, &frame.engine().task_ctx()).await?;
        let table = self.rows.elsewhere.view().table();
        let checks = match &self.deed {
            Deed::Update { constraints, .. } => checks_to_bytes(table, constraints)?,
            Deed::Delete => None,
        };
        let deed = match &self.deed {
            Deed::Update { targets, .. } => {
                SentDeed::Update { targets: targets.clone(), checks: checks.as_deref() }
            }
            Deed::Delete => SentDeed::Delete,
        };
        let bytes = postcard::to_stdvec(&Sent { fragment: &fragment, deed });
        Ok(bytes
            .map_err(|error| out_of_range(&format!("a DML pushdown has no form: {error}")))?
            .into())
    }
}

fn checks_to_bytes(table: &Table, constraints: &Constraints) -> Result<Option<Vec<u8>>> {
    let expressions = constraints.expressions();
    let is_any = !expressions.is_empty();
    is_any.then(|| expressions::to_bytes(table, &[], expressions)).transpose()
}

/// What an owner makes of rows.
struct Maker {
    view: TableView,
    making: Making,
}

enum Making {
    NewRows { targets: Vec<usize>, constraints: Constraints },
    Keys,
}

impl Maker {
    fn new(view: TableView, deed: SentDeed<'_>, context: &TaskContext) -> Result<Self> {
        let table = view.table();
        let making = match deed {
            SentDeed::Delete => Making::Keys,
            SentDeed::Update { targets, checks } => {
                let key = table.key_indices();
                let is_value = |at: &usize| *at < table.columns.len() && !key.contains(at);
                let read = |bytes| expressions::from_bytes(bytes, context);
                let checks = checks.map(read).transpose()?;
                match Constraints::of(table, checks.unwrap_or_default()) {
                    Some(constraints) if targets.iter().all(is_value) => {
                        Making::NewRows { targets, constraints }
                    }
                    _ => return Err(out_of_range("a DML pushdown does not fit its table")),
                }
            }
        };
        Ok(Self { view, making })
    }

    /// How many columns rows have.
    fn width(&self) -> usize {
        let targets = match &self.making {
            Making::NewRows { targets, .. } => targets.len(),
            Making::Keys => 0,
        };
        self.view.table().columns.len() + targets
    }

    /// What is to be written for some rows.
    fn write(&self, rows: &RecordBatch) -> Result<Write> {
        let table = self.view.table();
        Ok(match &self.making {
            Making::NewRows { targets, constraints } => {
                Write::Upsert(new_rows(table, rows, targets, constraints)?)
            }
            Making::Keys => {
                let rows = RecordBatch::try_new(table.arrow_schema(), rows.columns().to_vec())?;
                Write::Delete(self.view.encode_keys(&rows)?)
            }
        })
    }
}

/// What this server has to do for a DML pushdown, on the rows that a reading shows.
///
/// # Errors
/// Also where the bytes are no pushdown.
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
        .map_err(|error| out_of_range(&format!("these bytes are no DML pushdown: {error}")))?;
    let OwnRows { plan, view, not_here } =
        OwnRows::from_bytes(reading, sent.fragment, &context).await?;
    let maker = Maker::new(view, sent.deed, &context)?;
    if plan.schema().fields().len() != maker.width() {
        return Err(out_of_range("a DML pushdown does not fit its table"));
    }
    let writes = execute_stream(plan, context)?
        .map(move |rows| Ok(PushdownStep::Write(maker.write(&rows?)?)));
    let begin = futures::stream::iter([Ok(PushdownStep::NotHere(not_here))]);
    Ok(begin.chain(writes).boxed())
}
