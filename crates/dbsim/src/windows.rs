//! What functions of windows cost.

use crate::hardware::not_negative;
use crate::plan::{Operator, Task, Term};
use serde::Deserialize;

/// Cycles of window functions, beside comparing each row with the one before (`group_ordered`) and adding it up (`aggregate`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Windows {
    /// A row, for each function.
    #[serde(deserialize_with = "not_negative")]
    pub value: f64,
    /// A row that is told apart from its peers, beside `value`.
    #[serde(deserialize_with = "not_negative")]
    pub rank: f64,
    /// A row after which an aggregate's value is wanted, beside `value`.
    #[serde(deserialize_with = "not_negative")]
    pub running: f64,
    /// The same where rows leave the aggregate again.
    #[serde(deserialize_with = "not_negative")]
    pub moving: f64,
    /// A partition.
    #[serde(deserialize_with = "not_negative")]
    pub partition: f64,
    /// A partition, for each function whose value is wanted after each row, beside `partition`.
    #[serde(deserialize_with = "not_negative")]
    pub partition_running: f64,
}

impl Windows {
    /// Cycles of what a window does with its partitions and the values of so many rows.
    pub(crate) fn cycles(&self, window: &Operator, rows: f64) -> f64 {
        let is_running = |term: &&Term| matches!(term.task, Task::Running | Task::Moving);
        let running = window.terms.iter().filter(is_running).count() as f64;
        let partition = self.partition + self.partition_running * running;
        self.value * rows * window.functions + partition * window.partitions
    }
}
