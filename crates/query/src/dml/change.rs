//! One change of a table.

use super::coordinator;
use super::delete::Delete;
use super::insert::{Insert, Source};
use super::merge::Merge;
use super::pushdown::DmlPushdown;
use super::update::Update;
use super::writer::Writer;
use crate::analysis::changes::{Planned, PlannedAction, Returning, rows_of};
use crate::context::Frame;
use crate::context::outcome::{Outcome, Rows, Tag};
use datafusion::arrow::array::RecordBatch;
use datafusion::logical_expr::TableSource;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::memory::MemoryStream;
use planner::Planner;
use std::sync::Arc;
use store::DistributedTransaction;
use values::error::Result;

/// A change, ready to be executed.
pub(super) struct Ready {
    kind: Kind,
    returning: Option<Returning>,
}

enum Kind {
    Insert(Insert),
    Update(Update),
    Delete(Delete),
    Merge(Merge),
}

/// The result of a change.
pub(super) struct Done {
    command: &'static str,
    count: u64,
    returned: Option<(Returning, Vec<RecordBatch>)>,
}

impl Ready {
    /// Plans the execution of a change. `constants` are the rows of an INSERT, if they are constants.
    ///
    /// # Errors
    /// What is wrong with the change.
    pub(super) async fn new(
        frame: &Frame<'_>,
        planner: &Planner<'_>,
        planned: Planned,
        constants: Option<RecordBatch>,
    ) -> Result<Self> {
        let Planned { view, rows, action, returning } = planned;
        let kind = match action {
            PlannedAction::Insert { targets, overriding, is_values, conflict } => {
                let columns = super::insert::given(view.table(), &targets, overriding)?;
                let source = match constants {
                    Some(rows) => Source::Constants(rows),
                    // This evaluates the rows of VALUES.
                    None => Source::Plan { query: planner.physical(&rows).await?, is_values },
                };
                Kind::Insert(Insert::new(frame, planner, view, source, &columns, conflict)?)
            }
            PlannedAction::Update { targets, joins } => {
                let targets = super::update::assigned(view.table(), &targets)?;
                let query = planner.physical(&rows).await?;
                Kind::Update(Update::new(planner, view, query, targets, joins)?)
            }
            PlannedAction::Delete { joins } => {
                let query = planner.physical(&rows).await?;
                let catalog = planner.tables.catalog();
                let id = view.table().id;
                let is_watched = DistributedTransaction::watches_deletion(catalog, id);
                Kind::Delete(Delete { view, query, joins, is_watched })
            }
            PlannedAction::Merge(whens) => {
                let query = planner.physical(&rows).await?;
                Kind::Merge(Merge::new(frame, planner, view, query, whens)?)
            }
        };
        Ok(Self { kind, returning })
    }

    /// The change as a DML pushdown, if the owners of the rows can execute it.
    pub(super) fn at_owners(&self, frame: &Frame<'_>) -> Result<Option<DmlPushdown>> {
        match &self.kind {
            _ if self.returning.is_some() => Ok(None),
            Kind::Update(update) => update.at_owners(frame),
            Kind::Delete(delete) => delete.at_owners(frame),
            Kind::Insert(_) | Kind::Merge(_) => Ok(None),
        }
    }

    /// The query of the rows; `None` if they are constants.
    pub(super) fn query(&self) -> Option<&Arc<dyn ExecutionPlan>> {
        match &self.kind {
            Kind::Insert(insert) => insert.query(),
            Kind::Update(update) => Some(update.query()),
            Kind::Delete(delete) => Some(&delete.query),
            Kind::Merge(merge) => Some(merge.query()),
        }
    }

    /// Executes the change.
    ///
    /// # Errors
    /// Those of the query, of constraints and of the transaction.
    pub(super) async fn run(
        self,
        frame: &Frame<'_>,
        planner: &Planner<'_>,
        writer: &mut Writer<'_>,
    ) -> Result<Done> {
        let command = self.command();
        if writer.is_direct()
            && !writer.transaction.chooses_here()
            && let Some(pushdown) = self.at_owners(frame)?
        {
            let count = coordinator::run(frame, writer.transaction, &pushdown).await?;
            return Ok(Done { command, count, returned: None });
        }
        let Self { kind, returning } = self;
        let returns = returning.is_some();
        let changed = match kind {
            Kind::Insert(insert) => insert.run(frame, planner, writer, returns).await?,
            Kind::Update(update) => update.run(frame, writer, returns).await?,
            Kind::Delete(delete) => delete.run(frame, writer, returns).await?,
            Kind::Merge(merge) => merge.run(frame, planner, writer).await?,
        };
        let returned = match returning {
            None => None,
            Some(returning) => {
                let mut batches = Vec::with_capacity(changed.rows.len());
                for rows in &changed.rows {
                    let count = rows.first().map_or(0, |column| column.len());
                    batches.push(returning.values.of(planner, rows, count).await?);
                }
                Some((returning, batches))
            }
        };
        Ok(Done { command, count: changed.count, returned })
    }

    /// The command tag.
    pub(super) fn command(&self) -> &'static str {
        match &self.kind {
            Kind::Insert(_) => "INSERT",
            Kind::Update(_) => "UPDATE",
            Kind::Delete(_) => "DELETE",
            Kind::Merge(_) => "MERGE",
        }
    }
}

impl Done {
    /// The outcome of the statement: the returned rows, or without RETURNING a tag with the number of rows.
    pub(super) fn outcome(self) -> Result<Outcome> {
        let Some((returning, batches)) = self.returned else {
            return Ok(Outcome::Done(Tag::counted(self.command, self.count)));
        };
        let schema = Arc::clone(returning.values.schema());
        let stream = MemoryStream::try_new(batches, schema, None)?;
        Ok(Outcome::Rows(Rows::ready(returning.fields, stream, self.command)))
    }

    /// The returned rows as a relation. `None` without RETURNING.
    pub(super) fn relation(self) -> Result<Option<Arc<dyn TableSource>>> {
        let Some((returning, batches)) = self.returned else { return Ok(None) };
        rows_of(Arc::clone(returning.values.schema()), batches).map(Some)
    }
}
