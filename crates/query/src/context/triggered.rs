//! What statements that change rows tell triggers, and what triggers tell their functions.

use datafusion::arrow::array::RecordBatch;
use procedural::{Memory, Value};
use std::sync::Arc;
use store::catalog::{ColumnId, Table, Trigger};

/// What happens to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
}

impl Operation {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// A change for which triggers fire at the end of its statement.
#[derive(Debug)]
pub(crate) struct Changed {
    /// The table.
    pub(crate) table: Arc<Table>,
    /// What has happened.
    pub(crate) operation: Operation,
    /// The columns that an UPDATE has assigned.
    pub(crate) assigned: Arc<[ColumnId]>,
    /// The rows; `None` for the statement as a whole.
    pub(crate) rows: Option<ChangedRows>,
}

/// Rows before and after a change.
#[derive(Debug)]
pub(crate) struct ChangedRows {
    /// The old rows, of UPDATE and DELETE.
    pub(crate) old: Option<RecordBatch>,
    /// The new rows, of INSERT and UPDATE.
    pub(crate) new: Option<RecordBatch>,
}

/// The values of a row that triggers see, in the order of the table's columns.
pub(crate) type RowValues = Vec<Value>;

/// What has been planned for a trigger.
#[derive(Default)]
pub(crate) struct TriggerMemory {
    /// The function.
    pub(crate) function: Option<Arc<plpgsql::tree::Block>>,
    /// The texts in it, and the condition.
    pub(crate) texts: Memory,
}

/// A call of a trigger's function.
pub(crate) struct TriggerCall<'a> {
    /// The trigger.
    pub(crate) trigger: &'a Trigger,
    /// The table.
    pub(crate) table: &'a Table,
    /// What happens.
    pub(crate) operation: Operation,
    /// The old row.
    pub(crate) old: Option<RowValues>,
    /// The new row.
    pub(crate) new: Option<RowValues>,
    /// The functions around it.
    pub(crate) depth: usize,
    /// What earlier calls have planned.
    pub(crate) memory: &'a mut TriggerMemory,
}

/// What the function of a trigger returns.
pub(crate) enum TriggerAnswer {
    /// The condition of WHEN does not hold, and the function was not called.
    NotCalled,
    /// A row; `None` for NULL.
    Row(Option<RowValues>),
}
