//! The kinds of operators.

use serde::Deserialize;

/// The kind of an operator. Files name it in kebab case, like `hash-join`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Reads all rows of a table.
    SequentialScan,
    /// Reads rows of a table through an index.
    IndexScan,
    /// Joins each row of the outer input with its matches in a small inner input.
    NestedLoopJoin,
    /// Joins two sorted inputs.
    MergeJoin,
    /// Joins by a hash table of one input.
    HashJoin,
    /// Sorts its input.
    Sort,
    /// Assigns each row to its group and passes all rows on.
    GroupBy,
    /// Computes one row for each group, or one for all rows.
    Aggregate,
    /// Computes window functions over an ordered input.
    Window,
    /// Concatenates its inputs.
    Union,
    /// Returns the rows of its first input and of its second, which runs repeatedly on the rows of the previous iteration.
    Recursion,
    /// Produces rows without a table: a VALUES list or a series.
    Values,
    /// Runs its second input, a correlated statement, for each row of its first input.
    Subquery,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::SequentialScan,
        Self::IndexScan,
        Self::NestedLoopJoin,
        Self::MergeJoin,
        Self::HashJoin,
        Self::Sort,
        Self::GroupBy,
        Self::Aggregate,
        Self::Window,
        Self::Union,
        Self::Recursion,
        Self::Values,
        Self::Subquery,
    ];

    /// The name in reports and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::SequentialScan => "sequential scan",
            Self::IndexScan => "indexed scan",
            Self::NestedLoopJoin => "nested-loop join",
            Self::MergeJoin => "merge join",
            Self::HashJoin => "hash join",
            Self::Sort => "sort",
            Self::GroupBy => "group-by",
            Self::Aggregate => "aggregate",
            Self::Window => "window",
            Self::Union => "union",
            Self::Recursion => "recursion",
            Self::Values => "values",
            Self::Subquery => "subquery",
        }
    }

    /// Whether it reads a table.
    pub fn is_scan(self) -> bool {
        matches!(self, Self::SequentialScan | Self::IndexScan)
    }

    /// Whether it joins two inputs.
    pub fn is_join(self) -> bool {
        matches!(self, Self::NestedLoopJoin | Self::MergeJoin | Self::HashJoin)
    }

    /// Whether it has no inputs.
    pub fn is_leaf(self) -> bool {
        self.is_scan() || self == Self::Values
    }

    /// The number of inputs; for a union, the minimum.
    pub fn inputs(self) -> usize {
        match self {
            kind if kind.is_leaf() => 0,
            Self::Recursion | Self::Subquery => 2,
            kind if kind.is_join() => 2,
            _ => 1,
        }
    }
}
