//! What operators compute of values: comparisons, sums and products, texts that are searched.

use crate::hardware::not_negative;
use serde::Deserialize;

/// Bytes of the longest text that lies in its column itself, as in Arrow's views.
const INLINE_BYTES_MAX: f64 = 12.0;

/// What is done with values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// A number or a date is compared with another.
    Compare,
    /// A number is looked for in a list: one comparison with each of the list's.
    Among,
    /// A number is computed of others.
    Calculate,
    /// A text is compared with others.
    Match,
    /// It is compared once more.
    MatchAgain,
    /// A text is searched for a pattern.
    Search,
    /// A text is a key by which rows are grouped or joined.
    Key,
    /// A number is one more such key: the first is part of the work of whoever groups or joins.
    NumberKey,
    /// A row is looked for in a hash table before it is handed to the join that has it.
    Find,
    /// Values are looked over for those that are chosen.
    Pass,
    /// Values are chosen from among others and copied, so that something is done with these alone.
    Choose,
    /// A text that was chosen is fetched from where it lies, apart from the one before.
    Fetch,
    /// A row is brought to its place in an order by several keys or a text.
    Order,
    /// A row is told apart from its peers, for a function of a window.
    Rank,
    /// An aggregate's value is wanted after a row, for all rows of a window up to this.
    Running,
    /// The same for some rows around this: others leave the aggregate again.
    Moving,
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
    /// Bytes of a value; where it is compared, 0 if its column was looked at before.
    #[serde(deserialize_with = "not_negative")]
    pub bytes: f64,
    /// The part of all values that these are, where they are chosen.
    #[serde(default = "all", deserialize_with = "not_negative")]
    pub part: f64,
}

impl Term {
    /// What is done with so many values, all that there are.
    pub fn new(task: Task, values: f64, bytes: f64) -> Self {
        Self { task, values, bytes, part: all() }
    }

    /// Whether its texts lie elsewhere than in the column that says where they are.
    pub(crate) fn lies_apart(&self) -> bool {
        self.bytes > INLINE_BYTES_MAX
    }
}

fn all() -> f64 {
    1.0
}
