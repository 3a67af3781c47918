//! The triggers that one kind of change fires in one statement.

use super::transitions::StatementRows;
use crate::context::Frame;
use crate::context::triggered::{
    Asked, Changed, ChangedRows, RowValues, Transitions, TriggerAnswer, TriggerCall, TriggerMemory,
    WaitingTrigger,
};
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use procedural::may_run_ahead;
use procedural::trigger_rows::{of_arrays, to_arrays, without_generated};
use std::sync::{Arc, OnceLock};
use store::DistributedTransaction;
use store::catalog::{Catalog, ColumnId, Table, Trigger, TriggerEvent, TriggerTime};
use values::error::Result;

/// A trigger with what has been planned for it.
struct Known {
    trigger: Arc<Trigger>,
    memory: TriggerMemory,
    transitions: Transitions,
}

/// The triggers that a kind of change fires.
pub(crate) struct Firing {
    table: Arc<Table>,
    operation: TriggerEvent,
    assigned: Arc<[ColumnId]>,
    triggers: Vec<Known>,
    /// The number of the change in its statement, once it has noted something.
    part: OnceLock<usize>,
}

impl Firing {
    /// Those of a table. `assigned` are the positions of the columns that an UPDATE assigns. `None` if nothing fires.
    pub(crate) fn of(
        catalog: &Catalog,
        table: &Arc<Table>,
        operation: TriggerEvent,
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
        operation: TriggerEvent,
        assigned: Arc<[ColumnId]>,
    ) -> Option<Self> {
        let is_meant = |trigger: &&Arc<Trigger>| trigger.is_fired_by(operation, &assigned);
        let meant = catalog.triggers_of(table.id).iter().filter(is_meant);
        let known = |trigger: &Arc<Trigger>| Known {
            trigger: Arc::clone(trigger),
            memory: TriggerMemory::default(),
            transitions: Arc::from([]),
        };
        let triggers: Vec<Known> = meant.map(known).collect();
        let table = Arc::clone(table);
        let part = OnceLock::new();
        (!triggers.is_empty()).then_some(Self { table, operation, assigned, triggers, part })
    }

    fn all(&self) -> impl Iterator<Item = &Trigger> {
        self.triggers.iter().map(|known| &*known.trigger)
    }

    pub(super) fn has(&self, is_row: bool, time: TriggerTime) -> bool {
        self.all().any(|trigger| trigger.is_row == is_row && trigger.time() == time)
    }

    /// Whether a trigger needs each row.
    pub(crate) fn is_of_rows(&self) -> bool {
        self.has(true, TriggerTime::Before) || self.needs_rows_after()
    }

    /// Whether a trigger fires before each row.
    pub(crate) fn is_before_rows(&self) -> bool {
        self.has(true, TriggerTime::Before)
    }

    /// Whether triggers before rows may fire before any of these is written.
    pub(crate) fn may_run_ahead(&self, catalog: &Catalog) -> bool {
        let mut before = self.all().filter(|of| of.is_row && of.time() == TriggerTime::Before);
        before.all(|trigger| {
            let function = catalog.function_by_id(trigger.function);
            let condition = trigger.condition.as_deref();
            function.is_some_and(|function| may_run_ahead(catalog, function, condition))
        })
    }

    /// Whether a trigger fires instead of the change of each row.
    pub(crate) fn is_instead(&self) -> bool {
        self.has(true, TriggerTime::Instead)
    }

    fn needs_rows_after(&self) -> bool {
        self.has(true, TriggerTime::After) || self.all().any(Trigger::has_transitions)
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
        let time = (false, TriggerTime::Before);
        self.fire(frame, transaction, time, (None, None)).await.map(|_| ())
    }

    /// Notes that the triggers after the statement fire at its end.
    pub(crate) fn after_statement(&self, frame: &Frame<'_>) {
        if self.has(false, TriggerTime::After) {
            self.note(frame, None);
        }
    }

    /// Fires the triggers before a row, or instead of its change. Returns the columns of the new row, or of the deleted one; `None` if the row stays
    /// as it is. `at` is the place of the row in the columns.
    ///
    /// # Errors
    /// Those of functions.
    pub(crate) async fn row(
        &mut self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
        time: TriggerTime,
        (old, new): (Option<&[ArrayRef]>, Option<&[ArrayRef]>),
        at: usize,
    ) -> Result<Option<Vec<ArrayRef>>> {
        let table = Arc::clone(&self.table);
        let values = |columns: &[ArrayRef]| of_arrays(&table, columns, at);
        let mut rows = (old.map(values).transpose()?, new.map(values).transpose()?);
        if let (TriggerTime::Before, Some(new)) = (time, &mut rows.1) {
            without_generated(&table, new)?;
        }
        let Some(row) = self.fire(frame, transaction, (true, time), rows).await? else {
            return Ok(None);
        };
        let from = new.or(old).unwrap_or_default();
        match self.operation {
            // What the function returns for a row that is deleted does not change it.
            TriggerEvent::Delete | TriggerEvent::Truncate => {
                Ok(Some(from.iter().map(|column| column.slice(at, 1)).collect()))
            }
            TriggerEvent::Insert | TriggerEvent::Update => {
                to_arrays(&table, &row, (from, at)).map(Some)
            }
        }
    }

    /// Notes rows for which triggers fire at the end of the statement.
    pub(crate) fn after_rows(
        &self,
        frame: &Frame<'_>,
        old: Option<RecordBatch>,
        new: Option<RecordBatch>,
    ) {
        if self.needs_rows_after() {
            self.note(frame, Some(ChangedRows { old, new }));
        }
    }

    /// Gives the triggers that have names for all rows of the statement these rows.
    ///
    /// # Errors
    /// The rows are not those of the table.
    pub(super) fn see(&mut self, rows: &StatementRows<'_>) -> Result<()> {
        for known in self.triggers.iter_mut().filter(|known| known.trigger.has_transitions()) {
            known.transitions = rows.named_by(&known.trigger)?;
        }
        Ok(())
    }

    fn note(&self, frame: &Frame<'_>, rows: Option<ChangedRows>) {
        let mut changed = frame.changed.lock();
        let part =
            *self.part.get_or_init(|| changed.iter().map(|of| of.part + 1).max().unwrap_or(0));
        changed.push(Changed {
            part,
            table: Arc::clone(&self.table),
            operation: self.operation,
            assigned: Arc::clone(&self.assigned),
            rows,
        });
    }

    /// Fires triggers of a kind: whether they are for rows, and when. Returns the row that the last of them returns, or
    /// that was given; `None` if one returns NULL for a row.
    pub(super) async fn fire(
        &mut self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
        (is_row, time): (bool, TriggerTime),
        (old, mut new): (Option<RowValues>, Option<RowValues>),
    ) -> Result<Option<RowValues>> {
        let is_after = time == TriggerTime::After;
        for known in &mut self.triggers {
            let Known { trigger, memory, transitions } = known;
            if trigger.is_row != is_row || trigger.time() != time {
                continue;
            }
            let timing = trigger.constraint.filter(|_| is_after);
            let is_later = timing.is_some_and(|timing| {
                transaction.row_changes().waits(self.table.id, &trigger.name, timing)
            });
            let call = TriggerCall {
                trigger,
                table: &self.table,
                operation: self.operation,
                old: old.clone(),
                new: new.clone(),
                transitions: Arc::clone(transitions),
                asked: if is_later { Asked::Condition } else { Asked::Both },
                depth: frame.depth,
                memory,
            };
            let run = frame.session.run_trigger;
            match run(frame.session, transaction, call).await? {
                TriggerAnswer::Row(None) if is_row && !is_after => return Ok(None),
                TriggerAnswer::Row(row) if !is_after && new.is_some() => new = row,
                TriggerAnswer::Holds => frame.session.context.held.wait(WaitingTrigger {
                    trigger: Arc::clone(trigger),
                    table: Arc::clone(&self.table),
                    operation: self.operation,
                    old: old.clone(),
                    new: new.clone(),
                }),
                TriggerAnswer::NotCalled | TriggerAnswer::Row(_) => {}
            }
        }
        Ok(Some(new.or(old).unwrap_or_default()))
    }
}
