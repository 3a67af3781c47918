//! Costs of window functions.

use crate::hardware::not_negative;
use crate::plan::{Operator, Task, Term};
use serde::Deserialize;

/// Cycles of window functions, in addition to comparing each row with the previous one
/// (`group_ordered`) and aggregating it (`aggregate`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Windows {
    /// A row, for each function.
    #[serde(deserialize_with = "not_negative")]
    pub value: f64,
    /// A row of a ranking function, in addition to `value`.
    #[serde(deserialize_with = "not_negative")]
    pub rank: f64,
    /// A row with a running aggregate, in addition to `value`.
    #[serde(deserialize_with = "not_negative")]
    pub running: f64,
    /// The same for a moving frame, from which rows are removed again.
    #[serde(deserialize_with = "not_negative")]
    pub moving: f64,
    /// A partition.
    #[serde(deserialize_with = "not_negative")]
    pub partition: f64,
    /// A partition, for each running or moving aggregate, in addition to `partition`.
    #[serde(deserialize_with = "not_negative")]
    pub partition_running: f64,
}

impl Windows {
    /// Cycles of a window operator's partitions and values for a number of rows.
    pub(crate) fn cycles(&self, window: &Operator, rows: f64) -> f64 {
        let is_running = |term: &&Term| matches!(term.task, Task::Running | Task::Moving);
        let running = window.terms.iter().filter(is_running).count() as f64;
        let partition = self.partition + self.partition_running * running;
        self.value * rows * window.functions + partition * window.partitions
    }
}
