//! The triggers that one kind of change fires in one statement.

use super::rows::{of_arrays, to_arrays};
use crate::context::Frame;
use crate::context::triggered::{
    Changed, ChangedRows, Operation, RowValues, TriggerAnswer, TriggerCall, TriggerMemory,
};
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Catalog, ColumnId, Table, Trigger};
use values::error::Result;

/// A trigger with what has been planned for it.
struct Known {
    trigger: Arc<Trigger>,
    memory: TriggerMemory,
}

/// The triggers that a kind of change fires.
pub(crate) struct Firing {
    table: Arc<Table>,
    operation: Operation,
    assigned: Arc<[ColumnId]>,
    triggers: Vec<Known>,
}

impl Firing {
    /// Those of a table. `assigned` are the positions of the columns that an UPDATE assigns. `None` if nothing fires.
    pub(crate) fn of(
        catalog: &Catalog,
        table: &Arc<Table>,
        operation: Operation,
        assigned: &[usize],
    ) -> Option<Self> {
        if catalog.triggers_of(table.id).is_empty() {
            return None;
        }
        let assigned = assigned.iter().filter_map(|at| table.columns.get(*at));
        Self::with_ids(catalog, table, operation, assigned.map(|column| column.id).collect())
    }

    pub(super) fn with_ids(
        catalog: &Catalog,
        table: &Arc<Table>,
        operation: Operation,
        assigned: Arc<[ColumnId]>,
    ) -> Option<Self> {
        let is_meant = |trigger: &&Arc<Trigger>| {
            let is_of_kind = match operation {
                Operation::Insert => trigger.events.insert,
                Operation::Delete => trigger.events.delete,
                Operation::Update => {
                    trigger.events.update
                        && (trigger.columns.is_empty()
                            || trigger.columns.iter().any(|id| assigned.contains(id)))
                }
            };
            is_of_kind && trigger.is_enabled()
        };
        let meant = catalog.triggers_of(table.id).iter().filter(is_meant);
        let known = |trigger: &Arc<Trigger>| Known {
            trigger: Arc::clone(trigger),
            memory: TriggerMemory::default(),
        };
        let triggers: Vec<Known> = meant.map(known).collect();
        let table = Arc::clone(table);
        (!triggers.is_empty()).then_some(Self { table, operation, assigned, triggers })
    }

    fn has(&self, is_row: bool, is_before: bool) -> bool {
        let mut triggers = self.triggers.iter().map(|known| &known.trigger);
        triggers.any(|trigger| trigger.is_row == is_row && trigger.is_before == is_before)
    }

    /// Whether a trigger fires for each row.
    pub(crate) fn is_of_rows(&self) -> bool {
        self.has(true, true) || self.has(true, false)
    }

    /// Whether a trigger fires before each row.
    pub(crate) fn is_before_rows(&self) -> bool {
        self.has(true, true)
    }

    /// Fires the triggers before the statement.
    ///
    /// # Errors
    /// Those of functions.
    pub(crate) async fn before_statement(
        &mut self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
    ) -> Result<()> {
        self.fire(frame, transaction, (false, true), (None, None)).await.map(|_| ())
    }

    /// Notes that the triggers after the statement fire at its end.
    pub(crate) fn after_statement(&self, frame: &Frame<'_>) {
        if self.has(false, false) {
            self.note(frame, None);
        }
    }

    /// Fires the triggers before a row. Returns the columns of the new row, or of the deleted one; `None` if the row stays
    /// as it is. `at` is the place of the row in the columns.
    ///
    /// # Errors
    /// Those of functions.
    pub(crate) async fn before_row(
        &mut self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
        (old, new): (Option<&[ArrayRef]>, Option<&[ArrayRef]>),
        at: usize,
    ) -> Result<Option<Vec<ArrayRef>>> {
        let table = Arc::clone(&self.table);
        let values = |columns: &[ArrayRef]| of_arrays(&table, columns, at);
        let rows = (old.map(values).transpose()?, new.map(values).transpose()?);
        let Some(row) = self.fire(frame, transaction, (true, true), rows).await? else {
            return Ok(None);
        };
        let from = new.or(old).unwrap_or_default();
        match self.operation {
            // What the function returns for a row that is deleted does not change it.
            Operation::Delete => Ok(Some(from.iter().map(|column| column.slice(at, 1)).collect())),
            Operation::Insert | Operation::Update => to_arrays(&table, &row, (from, at)).map(Some),
        }
    }

    /// Notes rows for which triggers fire at the end of the statement.
    pub(crate) fn after_rows(
        &self,
        frame: &Frame<'_>,
        old: Option<RecordBatch>,
        new: Option<RecordBatch>,
    ) {
        if self.has(true, false) {
            self.note(frame, Some(ChangedRows { old, new }));
        }
    }

    fn note(&self, frame: &Frame<'_>, rows: Option<ChangedRows>) {
        frame.changed.lock().push(Changed {
            table: Arc::clone(&self.table),
            operation: self.operation,
            assigned: Arc::clone(&self.assigned),
            rows,
        });
    }

    /// Fires triggers of a kind: whether they are for rows, and before. Returns the row that the last of them returns, or
    /// that was given; `None` if one returns NULL for a row.
    pub(super) async fn fire(
        &mut self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
        (is_row, is_before): (bool, bool),
        (old, mut new): (Option<RowValues>, Option<RowValues>),
    ) -> Result<Option<RowValues>> {
        for known in &mut self.triggers {
            let Known { trigger, memory } = known;
            if trigger.is_row != is_row || trigger.is_before != is_before {
                continue;
            }
            let call = TriggerCall {
                trigger,
                table: &self.table,
                operation: self.operation,
                old: old.clone(),
                new: new.clone(),
                depth: frame.depth,
                memory,
            };
            let run = frame.session.run_trigger;
            match run(frame.session, transaction, call).await? {
                TriggerAnswer::Row(None) if is_row && is_before => return Ok(None),
                TriggerAnswer::Row(row) if is_before && new.is_some() => new = row,
                TriggerAnswer::NotCalled | TriggerAnswer::Row(_) => {}
            }
        }
        Ok(Some(new.or(old).unwrap_or_default()))
    }
}
