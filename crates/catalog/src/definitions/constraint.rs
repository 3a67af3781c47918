//! CHECK and FOREIGN KEY constraints, and when constraints are checked.

use super::ids::{ColumnId, TableId};
use serde::{Deserialize, Serialize};

/// A CHECK constraint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The constraint's name.
    pub name: String,
    /// The condition, as SQL text.
    pub expression: String,
    /// Whether all rows have been checked; not with NOT VALID.
    pub is_valid: bool,
}

/// What happens to rows that refer to a row that is deleted, or whose referenced columns change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReferentialAction {
    /// The statement, or the transaction, fails if there still are such rows at its end.
    #[default]
    NoAction,
    /// The statement fails if there are such rows.
    Restrict,
    /// They are deleted, or their columns change as well.
    Cascade,
    /// Their columns become NULL.
    SetNull,
    /// Their columns get their defaults.
    SetDefault,
}

/// When a constraint is checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Timing {
    /// At the end of each statement.
    #[default]
    NotDeferrable,
    /// At the end of each statement, unless SET CONSTRAINTS says otherwise.
    InitiallyImmediate,
    /// At the end of the transaction, unless SET CONSTRAINTS says otherwise.
    InitiallyDeferred,
}

/// A foreign key: each row of its table refers to a row of another one, or of the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// The constraint's name.
    pub name: String,
    /// The columns that refer. Not empty.
    pub columns: Vec<ColumnId>,
    /// The table that they refer to.
    pub references: TableId,
    /// The columns that they refer to, one for each.
    pub referenced: Vec<ColumnId>,
    /// The unique index of the referenced columns; `None` if they are the primary key.
    pub index: Option<TableId>,
    /// What happens when a referenced row is deleted.
    pub on_delete: ReferentialAction,
    /// What happens when the referenced columns of a row change.
    pub on_update: ReferentialAction,
    /// The columns that ON DELETE SET NULL and SET DEFAULT set; empty for all.
    pub on_delete_set: Vec<ColumnId>,
    /// MATCH FULL: all columns are NULL or none is. Otherwise a row with a NULL refers to nothing.
    pub is_full: bool,
    /// When it is checked.
    pub timing: Timing,
    /// Whether all rows have been checked; not with NOT VALID.
    pub is_valid: bool,
}
