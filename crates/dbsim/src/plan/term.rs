//! What operators compute of values: comparisons, sums and products, texts that are searched.

use crate::hardware::not_negative;
use serde::Deserialize;

/// Values of a column that memory brings together: 64 bytes of numbers that take 16.
const VALUES_OF_A_LINE: f64 = 4.0;

/// What is done with values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// A number or a date is compared with another.
    Compare,
    /// A number is computed of others.
    Calculate,
    /// A text is compared with others.
    Match,
    /// A text is searched for a pattern.
    Search,
    /// A text is a key by which rows are grouped or joined.
    Key,
    /// A row is looked for in a hash table before it is handed to the join that has it.
    Find,
    /// Values are chosen from among others and copied, so that something is done with these alone.
    Choose,
    /// Values are looked over for those that are chosen; bytes are of what memory brings along.
    Pass,
    /// A text that was chosen is fetched from where it lies, far from the one before.
    Fetch,
}

/// An expression of an operator, as often as it is computed.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// What is done.
    pub task: Task,
    /// How many values it is done with, of all rows together.
    #[serde(deserialize_with = "not_negative")]
    pub values: f64,
    /// Bytes of a value.
    #[serde(deserialize_with = "not_negative")]
    pub bytes: f64,
}

impl Term {
    /// How many of so many values memory brings along with others that are chosen here and there.
    pub fn passed(values: f64, chosen: f64) -> f64 {
        let part = chosen / values.max(1.0);
        (part * VALUES_OF_A_LINE).min(1.0) * (1.0 - part) * values
    }
}
