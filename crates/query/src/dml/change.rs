//! One change of a table.

use super::coordinator;
use super::delete::Delete;
use super::insert::{Insert, Source};
use super::instead::Instead;
use super::merge::Merge;
use super::pushdown::DmlPushdown;
use super::rows::physical;
use super::triggered::Firings;
use super::update::Update;
use super::view_checks::ViewChecks;
use super::writer::Writer;
use crate::analysis::ChangeTarget;
use crate::analysis::changes::{Planned, PlannedAction, Returning, rows_of};
use crate::context::Frame;
use crate::context::call_site::CallSite;
use crate::context::outcome::{Outcome, Rows, Tag};
use crate::triggers::Firing;
use datafusion::arrow::array::RecordBatch;
use datafusion::logical_expr::TableSource;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::memory::MemoryStream;
use planner::Planner;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::TriggerEvent;
use values::error::Result;

/// A change, ready to be executed.
pub(super) struct Ready {
    kind: Kind,
    returning: Option<Returning>,
    checks: Option<ViewChecks>,
    firings: Firings,
}

enum Kind {
    Insert(Box<Insert>),
    Update(Update),
    Delete(Delete),
    Merge(Box<Merge>),
    /// Of a view.
    Instead(Box<Instead>),
}

/// The result of a change.
pub(super) struct Done {
    command: &'static str,
    count: u64,
    returned: Option<(Returning, Vec<RecordBatch>)>,
}

impl Ready {
    /// Plans the execution of a change, whose functions are called at a place. `constants` are the rows of an INSERT, if they
    /// are constants.
    ///
    /// # Errors
    /// What is wrong with the change.
    pub(super) async fn new(
        frame: &Frame<'_>,
        planner: &Planner<'_>,
        planned: Planned,
        constants: Option<RecordBatch>,
        site: &CallSite,
    ) -> Result<Self> {
        let Planned { target, rows, action, returning, checks } = planned;
        let (catalog, table) = (planner.tables.catalog(), Arc::clone(target.table()));
        let firing = |event, assigned: &[usize]| Firing::of(catalog, &table, event, assigned);
        let mut firings = Firings::default();
        let checks = checks.map(|checks| ViewChecks::new(Arc::clone(&table), checks));
        let view = match target {
            ChangeTarget::Table(view) => *view,
            ChangeTarget::View(table) => {
                let (instead, assigned) =
                    Instead::new(frame, (planner, site), table, rows, action).await?;
                let operation = instead.operation();
                *firings.of(operation) = firing(operation, &assigned);
                let kind = Kind::Instead(Box::new(instead));
                return Ok(Self { kind, returning, firings, checks });
            }
        };
        let kind = match action {
            PlannedAction::Insert { targets, overriding, is_values, conflict } => {
                let columns = super::insert::given(view.table(), &targets, overriding)?;
                let source = match constants {
                    Some(rows) => Source::Constants(rows),
                    // This evaluates the rows of VALUES, unless they call volatile functions.
                    None => {
                        Source::Plan { query: physical(planner, site, &rows).await?, is_values }
                    }
                };
                firings.insert = firing(TriggerEvent::Insert, &[]);
                if let Some(update) = conflict.as_ref().and_then(|on| on.update.as_ref()) {
                    let targets: Vec<usize> = update.targets.iter().map(|of| of.column).collect();
                    firings.update = firing(TriggerEvent::Update, &targets);
                }
                let conflict = conflict.map(|conflict| *conflict);
                Kind::Insert(Box::new(Insert::new(
                    frame, planner, view, source, &columns, conflict,
                )?))
            }
            PlannedAction::Update { targets, joins } => {
                let targets = super::update::assigned(view.table(), &targets)?;
                let query = physical(planner, site, &rows).await?;
                firings.update = firing(TriggerEvent::Update, &targets);
                Kind::Update(Update::new(planner, view, query, targets, joins)?)
            }
            PlannedAction::Delete { joins } => {
                let query = physical(planner, site, &rows).await?;
                firings.delete = firing(TriggerEvent::Delete, &[]);
                let id = view.table().id;
                let is_watched =
                    DistributedTransaction::watches_deletion(planner.tables.catalog(), id);
                Kind::Delete(Delete { view, query, task: None, joins, is_watched })
            }
            PlannedAction::Merge(whens) => {
                let query = physical(planner, site, &rows).await?;
                let merge = Merge::new(frame, planner, view, query, whens)?;
                let done = merge.operations();
                firings.insert = done.insert.then(|| firing(TriggerEvent::Insert, &[])).flatten();
                firings.delete = done.delete.then(|| firing(TriggerEvent::Delete, &[])).flatten();
                firings.update =
                    done.update.and_then(|targets| firing(TriggerEvent::Update, &targets));
                Kind::Merge(Box::new(merge))
            }
        };
        Ok(Self { kind, returning, checks, firings })
    }

    /// The change as a DML pushdown, if the owners of the rows can execute it.
    pub(super) fn at_owners(&self, frame: &Frame<'_>) -> Result<Option<DmlPushdown>> {
        match &self.kind {
            _ if self.needs_rows() || self.firings.are_of_rows() => Ok(None),
            Kind::Update(update) => update.at_owners(frame),
            Kind::Delete(delete) => delete.at_owners(frame),
            Kind::Insert(_) | Kind::Merge(_) | Kind::Instead(_) => Ok(None),
        }
    }

    /// Whether the written rows are needed behind the change.
    fn needs_rows(&self) -> bool {
        self.returning.is_some() || self.checks.is_some()
    }

    /// The query of the rows; `None` if they are constants.
    pub(super) fn query(&self) -> Option<&Arc<dyn ExecutionPlan>> {
        match &self.kind {
            Kind::Insert(insert) => insert.query(),
            Kind::Update(update) => Some(update.query()),
            Kind::Delete(delete) => Some(&delete.query),
            Kind::Merge(merge) => Some(merge.query()),
            Kind::Instead(instead) => Some(&instead.query),
        }
    }

    /// Executes the change.
    ///
    /// # Errors
    /// Those of the query, of constraints and of the transaction.
    pub(super) async fn run<'a>(
        mut self,
        frame: &Frame<'_>,
        planner: &'a Planner<'a>,
        writer: &mut Writer<'a>,
    ) -> Result<Done> {
        let command = self.command();
        self.firings.before(frame, writer).await?;
        if writer.is_direct()
            && !writer.is_in_turn()
            && !writer.transaction.chooses_here()
            && let Some(pushdown) = self.at_owners(frame)?
        {
            let count = coordinator::run(frame, writer.transaction, &pushdown).await?;
            self.firings.after(frame);
            return Ok(Done { command, count, returned: None });
        }
        let returns = self.needs_rows();
        let Self { kind, returning, checks, mut firings } = self;
        let shown = returning.as_ref().map(|returning| Arc::clone(&returning.values));
        writer.returning = shown.map(|values| (planner, values));
        let mut changed = match kind {
            Kind::Insert(insert) => {
                insert.run(frame, planner, writer, (returns, &mut firings)).await?
            }
            Kind::Update(update) => {
                update.run(frame, writer, (returns, &mut firings.update)).await?
            }
            Kind::Delete(delete) => {
                delete.run(frame, writer, (returns, &mut firings.delete)).await?
            }
            Kind::Merge(merge) => merge.run(frame, planner, writer, &mut firings).await?,
            Kind::Instead(instead) => instead.run(frame, writer, (returns, &mut firings)).await?,
        };
        firings.after(frame);
        if let Some(checks) = checks {
            checks.check(planner, writer, &changed.rows).await?;
        }
        changed.show(writer).await?;
        let returned = returning.map(|returning| (returning, changed.returned));
        Ok(Done { command, count: changed.count, returned })
    }

    /// The command tag.
    pub(super) fn command(&self) -> &'static str {
        match &self.kind {
            Kind::Insert(_) => "INSERT",
            Kind::Update(_) => "UPDATE",
            Kind::Delete(_) => "DELETE",
            Kind::Merge(_) => "MERGE",
            Kind::Instead(instead) => instead.operation().name(),
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
