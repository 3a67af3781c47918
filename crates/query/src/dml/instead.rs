//! Changes of views, instead of which triggers fire.

use super::assignment::assigned_rows;
use super::rows::{Rows, physical};
use super::triggered::Firings;
use super::writer::{Changed, Writer};
use crate::analysis::changes::PlannedAction;
use crate::context::Frame;
use crate::context::call_site::CallSite;
use crate::triggers::Firing;
use datafusion::arrow::array::ArrayRef;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use planner::Planner;
use std::sync::Arc;
use store::catalog::{Table, TriggerEvent, TriggerTime};
use table_rows::Assembly;
use table_rows::Constraints;
use values::error::{Error, Result};

/// A planned change of a view.
pub(super) struct Instead {
    /// The view as a table of its columns.
    view: Arc<Table>,
    /// The rows to insert; of an UPDATE the old rows with the new values of columns, of a DELETE the old rows, followed by
    /// columns of other relations.
    pub(super) query: Arc<dyn ExecutionPlan>,
    kind: Kind,
}

enum Kind {
    Insert(Assembly),
    /// The columns that are assigned.
    Update(Vec<usize>, Constraints),
    Delete,
}

impl Instead {
    /// Plans a change, and says what it does and which columns it assigns.
    ///
    /// # Errors
    /// 0A000 for MERGE and ON CONFLICT.
    pub(super) async fn new(
        frame: &Frame<'_>,
        (planner, site): (&Planner<'_>, &CallSite),
        view: Arc<Table>,
        rows: LogicalPlan,
        action: PlannedAction,
    ) -> Result<(Self, Vec<usize>)> {
        let mut assigned = Vec::new();
        let kind = match action {
            PlannedAction::Insert { targets, conflict: None, .. } => {
                let columns: Vec<usize> = targets.iter().map(|target| target.column).collect();
                let store = &frame.session.shared.store;
                Kind::Insert(Assembly::new(planner, store, &view, &columns)?)
            }
            PlannedAction::Update { targets, .. } => {
                assigned = targets.iter().map(|target| target.column).collect();
                Kind::Update(assigned.clone(), Constraints::new(planner, &view)?)
            }
            PlannedAction::Delete { .. } => Kind::Delete,
            PlannedAction::Insert { .. } | PlannedAction::Merge(_) => {
                return Err(Error::unsupported("this change of a view is not supported"));
            }
        };
        let query = physical(planner, site, &rows).await?;
        Ok((Self { view, query, kind }, assigned))
    }

    /// What it does to a row.
    pub(super) fn operation(&self) -> TriggerEvent {
        match self.kind {
            Kind::Insert(_) => TriggerEvent::Insert,
            Kind::Update(..) => TriggerEvent::Update,
            Kind::Delete => TriggerEvent::Delete,
        }
    }

    /// Fires the triggers for each row. A row for which one returns NULL does not count.
    ///
    /// # Errors
    /// Those of the query and of functions.
    pub(super) async fn run(
        self,
        frame: &Frame<'_>,
        writer: &mut Writer<'_>,
        (returns, firings): (bool, &mut Firings),
    ) -> Result<Changed> {
        let mut changed = Changed::default();
        let operation = self.operation();
        let Some(firing) = firings.of(operation).as_mut().filter(|of| of.is_instead()) else {
            return Ok(changed);
        };
        let Self { view, query, kind } = self;
        let width = view.columns.len();
        // Functions see what earlier rows have changed, but the rows are those of the beginning.
        let (mut stream, mut batches) = (Rows::of(frame, writer, (query, None))?, Vec::new());
        while let Some(batch) = stream.next(writer).await? {
            batches.push(batch);
        }
        for batch in batches {
            let columns = batch.columns();
            let (old, new, others) = match &kind {
                Kind::Insert(assembly) => (None, Some(assembly.columns(&batch)?), &[][..]),
                Kind::Update(targets, constraints) => {
                    let new = assigned_rows(&view, columns, targets, constraints)?;
                    let others = &columns[width + targets.len()..];
                    (Some(&columns[..width]), Some(new), others)
                }
                Kind::Delete => (Some(&columns[..width]), None, &columns[width..]),
            };
            let rows = (old, new.as_deref());
            for row in 0..batch.num_rows() {
                let done = fire(firing, frame, writer, rows, row).await?;
                let Some(done) = done else { continue };
                changed.count += 1;
                if returns {
                    let others = others.iter().map(|column| column.slice(row, 1));
                    changed.rows.push(done.into_iter().chain(others).collect());
                }
            }
        }
        Ok(changed)
    }
}

async fn fire(
    firing: &mut Firing,
    frame: &Frame<'_>,
    writer: &mut Writer<'_>,
    rows: (Option<&[ArrayRef]>, Option<&[ArrayRef]>),
    row: usize,
) -> Result<Option<Vec<ArrayRef>>> {
    firing.row(frame, writer.transaction, TriggerTime::Instead, rows, row).await
}
