//! What operators compute of values: comparisons, sums and products, texts that are searched.

use crate::hardware::not_negative;
use serde::Deserialize;

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
