//! Expressions of operators: comparisons, arithmetic, pattern searches.

use crate::hardware::not_negative;
use serde::Deserialize;

/// Maximum length of a text that is stored in the column itself, as in Arrow's view arrays.
const INLINE_BYTES_MAX: f64 = 12.0;

/// A task of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Compares a number or a date.
    Compare,
    /// Searches a number in a list: one comparison with each element.
    Among,
    /// Computes a number.
    Calculate,
    /// Compares a text.
    Match,
    /// Compares a text once more.
    MatchAgain,
    /// Searches a text for a pattern.
    Search,
    /// Processes a text as a key of groups or of a join.
    Key,
    /// Processes a further numeric key. The first one is part of the operator's own work.
    NumberKey,
    /// Probes the hash table of a join above before the row is returned.
    Find,
    /// Passes over values to find the selected ones.
    Pass,
    /// Copies selected values, so that later expressions are evaluated on these alone.
    Choose,
    /// Fetches a selected text that is not adjacent to the previous one.
    Fetch,
    /// Sorts a row by several keys or a text.
    Order,
    /// Compares a row with its peers, for a ranking function.
    Rank,
    /// Computes a running aggregate: the frame ends at the current row.
    Running,
    /// Computes an aggregate over a moving frame, from which rows are removed again.
    Moving,
}

/// An expression of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The task.
    pub task: Task,
    /// Number of values, of all rows together.
    #[serde(deserialize_with = "not_negative")]
    pub values: f64,
    /// Bytes of a value; for a comparison, 0 if the column was accessed before.
    #[serde(deserialize_with = "not_negative")]
    pub bytes: f64,
    /// The part of all values that is selected, from 0 to 1.
    #[serde(default = "all", deserialize_with = "not_negative")]
    pub part: f64,
}

impl Term {
    /// A task on a number of values without a selection.
    pub fn new(task: Task, values: f64, bytes: f64) -> Self {
        Self { task, values, bytes, part: all() }
    }

    /// Whether the texts are stored outside the column.
    pub(crate) fn lies_apart(&self) -> bool {
        self.bytes > INLINE_BYTES_MAX
    }
}

fn all() -> f64 {
    1.0
}
