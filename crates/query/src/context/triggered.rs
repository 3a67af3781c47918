//! What statements that change rows tell triggers, and what triggers tell their functions.

use datafusion::arrow::array::RecordBatch;
use datafusion::datasource::TableProvider;
use procedural::{Fired, Memory};
use std::sync::Arc;
use store::catalog::{ColumnId, Table, Trigger, TriggerEvent};

pub(crate) use conversation::triggers::{RowValues, WaitingTrigger};

/// The rows that a statement has changed, by the names that REFERENCING of a trigger gives them.
pub(crate) type Transitions = Arc<[(String, Arc<dyn TableProvider>)]>;

/// A change for which triggers fire at the end of its statement.
#[derive(Debug)]
pub(crate) struct Changed {
    /// The table.
    pub(crate) table: Arc<Table>,
    /// What has happened.
    pub(crate) operation: TriggerEvent,
    /// The columns that an UPDATE has assigned.
    pub(crate) assigned: Arc<[ColumnId]>,
    /// The number of the change in its statement, which may change a table several times.
    pub(crate) part: usize,
    /// The rows; `None` for the statement as a whole.
    pub(crate) rows: Option<ChangedRows>,
}

/// Rows before and after a change.
#[derive(Debug, Clone)]
pub(crate) struct ChangedRows {
    /// The old rows, of UPDATE and DELETE.
    pub(crate) old: Option<RecordBatch>,
    /// The new rows, of INSERT and UPDATE.
    pub(crate) new: Option<RecordBatch>,
}

/// What has been planned for a trigger.
#[derive(Default)]
pub(crate) struct TriggerMemory {
    /// The function.
    pub(crate) function: Option<Arc<plpgsql::tree::Block>>,
    /// The texts in it, and the condition.
    pub(crate) texts: Memory,
    /// What the function is told for the last kind of change.
    pub(crate) fired: Option<(TriggerEvent, Arc<Fired>)>,
}

/// What is asked of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Its condition, and its function if that holds.
    Both,
    /// Its condition.
    Condition,
    /// Its function.
    Function,
}

/// A call of a trigger's function.
pub(crate) struct TriggerCall<'a> {
    /// The trigger.
    pub(crate) trigger: &'a Trigger,
    /// The table.
    pub(crate) table: &'a Table,
    /// What happens.
    pub(crate) operation: TriggerEvent,
    /// The old row.
    pub(crate) old: Option<RowValues>,
    /// The new row.
    pub(crate) new: Option<RowValues>,
    /// All rows of the statement, if the trigger has names for them.
    pub(crate) transitions: Transitions,
    /// What is asked.
    pub(crate) asked: Asked,
    /// The functions around it.
    pub(crate) depth: usize,
    /// What earlier calls have planned.
    pub(crate) memory: &'a mut TriggerMemory,
}

/// What the function of a trigger returns.
pub(crate) enum TriggerAnswer {
    /// The condition of WHEN does not hold, and the function was not called.
    NotCalled,
    /// The condition holds.
    Holds,
    /// A row; `None` for NULL.
    Row(Option<RowValues>),
}
