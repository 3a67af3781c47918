//! DELETE.

use super::pushdown::{Change, DmlPushdown};
use super::rows::Rows;
use super::triggered::{self, of_rows};
use super::update::first_changes;
use super::writer::{Changed, Writer};
use crate::context::Frame;
use crate::triggers::Firing;
use datafusion::arrow::array::RecordBatch;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use std::collections::HashSet;
use std::sync::Arc;
use store::TableView;
use values::error::Result;

/// A planned DELETE.
pub(super) struct Delete {
    pub(super) view: TableView,
    /// Returns the rows to delete, each followed by columns of other tables.
    pub(super) query: Arc<dyn ExecutionPlan>,
    /// What the query is executed in, if it was planned before.
    pub(super) task: Option<Arc<TaskContext>>,
    /// Whether the query joins other tables, so that it may return a row several times.
    pub(super) joins: bool,
    /// Whether foreign keys refer to the table.
    pub(super) is_watched: bool,
}

impl Delete {
    /// The DELETE as a DML pushdown, if the owners of the rows can execute it.
    pub(super) fn at_owners(&self, frame: &Frame<'_>) -> Result<Option<DmlPushdown>> {
        // The answer of an owner would have all entries of indexes that go.
        match self.joins || self.is_watched || !self.view.indexes().is_empty() {
            true => Ok(None),
            false => DmlPushdown::of_query(&self.query, Change::Delete, frame),
        }
    }

    pub(super) async fn run(
        self,
        frame: &Frame<'_>,
        writer: &mut Writer<'_>,
        (returns, firing): (bool, &mut Option<Firing>),
    ) -> Result<Changed> {
        if let Some(firing) = of_rows(firing) {
            return self.run_firing(frame, writer, returns, firing).await;
        }
        let Self { view, query, task, joins, .. } = self;
        let width = view.table().columns.len();
        let mut stream = Rows::of(frame, writer, (query, task))?;
        let mut seen = joins.then(HashSet::new);
        let mut changed = Changed::default();
        let mut all = Vec::new();
        while let Some(batch) = stream.next(writer).await? {
            let (batch, keys) = first_changes(&view, writer, batch, seen.as_mut())?;
            changed.count += keys.len() as u64;
            if returns {
                changed.rows.push(batch.columns().to_vec());
            }
            if writer.is_in_turn() {
                if !keys.is_empty() {
                    let old = triggered::batch(&view, &batch.columns()[..width])?;
                    triggered::refuse_changed_in_turn(writer, &view, &old, "deleted").await?;
                    writer.delete(&view, keys).await?;
                }
                changed.show(writer).await?;
                continue;
            }
            // What a statement has chosen is known before it waits for the first row.
            match writer.transaction.is_locking() {
                true => all.extend(keys),
                false => writer.delete(&view, keys).await?,
            }
        }
        writer.transaction.has_chosen(view.table().id)?;
        if !all.is_empty() {
            writer.delete(&view, all).await?;
        }
        Ok(changed)
    }

    /// Runs a DELETE of a table with triggers that fire for each row.
    async fn run_firing(
        self,
        frame: &Frame<'_>,
        writer: &mut Writer<'_>,
        returns: bool,
        firing: &mut Firing,
    ) -> Result<Changed> {
        let Self { view, query, task, joins, .. } = self;
        let mut stream = Rows::of(frame, writer, (query, task))?;
        let mut seen = joins.then(HashSet::new);
        let (mut chosen, mut changed) = (Vec::new(), Changed::default());
        while let Some(batch) = stream.next(writer).await? {
            let (batch, _) = first_changes(&view, writer, batch, seen.as_mut())?;
            if writer.is_in_turn() {
                fire(frame, writer, (&view, &batch), (&mut changed, returns), firing).await?;
                changed.show(writer).await?;
            } else {
                chosen.push(batch);
            }
        }
        writer.transaction.has_chosen(view.table().id)?;
        for batch in chosen {
            fire(frame, writer, (&view, &batch), (&mut changed, returns), firing).await?;
        }
        Ok(changed)
    }
}

/// Deletes rows of a table with triggers that fire for each row.
async fn fire(
    frame: &Frame<'_>,
    writer: &mut Writer<'_>,
    (view, rows): (&TableView, &RecordBatch),
    (changed, returns): (&mut Changed, bool),
    firing: &mut Firing,
) -> Result<()> {
    let (old, others) = rows.columns().split_at(view.table().columns.len());
    let written = triggered::delete(firing, frame, writer, view, old).await?;
    written.put_into(changed, returns, others)
}
