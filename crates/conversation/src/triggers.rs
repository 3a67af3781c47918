//! Constraint triggers that wait for the end of their transaction.

use procedural::Value;
use std::sync::Arc;
use store::catalog::{Table, Trigger, TriggerEvent};

/// The values of a row that triggers see, in the order of the table's columns.
pub type RowValues = Vec<Value>;

/// A constraint trigger that waits for the end of its transaction. Its condition holds.
#[derive(Debug)]
pub struct WaitingTrigger {
    /// The trigger.
    pub trigger: Arc<Trigger>,
    /// The table.
    pub table: Arc<Table>,
    /// What has happened.
    pub operation: TriggerEvent,
    /// The old row.
    pub old: Option<RowValues>,
    /// The new row.
    pub new: Option<RowValues>,
}
