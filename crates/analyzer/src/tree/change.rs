//! INSERT, UPDATE and DELETE.

use super::expr::Expr;
use super::query::{Output, Query, RelationId};

/// A statement that changes the rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The table, by the handle that the catalog gave it.
    pub table: u32,
    /// The number by which expressions refer to its rows.
    pub relation: RelationId,
    /// What is done.
    pub action: Action,
    /// RETURNING.
    pub returning: Option<Vec<Output>>,
}

/// What is done to the rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// INSERT.
    Insert(Box<Insert>),
    /// UPDATE of the rows that a query finds. The query's columns are all columns of the table, the new values, and the
    /// columns of other relations that RETURNING shows.
    Update {
        /// The columns that get the new values.
        targets: Vec<Target>,
        /// The query.
        rows: Query,
        /// Whether it joins other relations, so that it may find a row several times.
        joins: bool,
    },
    /// DELETE of the rows that a query finds. The query's columns are all columns of the table, and the columns of other
    /// relations that RETURNING shows.
    Delete {
        /// The query.
        rows: Query,
        /// Whether it joins other relations, so that it may find a row several times.
        joins: bool,
    },
}

/// INSERT.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// The columns that get the query's columns.
    pub targets: Vec<Target>,
    /// The rows.
    pub rows: Query,
    /// ON CONFLICT.
    pub conflict: Option<Conflict>,
}

/// A column that a statement assigns to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Its position in the table.
    pub column: usize,
    /// Whether it gets DEFAULT, in each row.
    pub is_default: bool,
}

/// ON CONFLICT.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// The constraint.
    pub target: ConflictTarget,
    /// DO UPDATE; `None` is DO NOTHING.
    pub update: Option<ConflictUpdate>,
}

/// The constraint whose violation ON CONFLICT handles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConflictTarget {
    /// Any.
    Any,
    /// The one on these columns, in any order.
    Columns(Vec<usize>),
    /// The one of this name.
    Constraint(String),
}

/// DO UPDATE.
#[derive(Debug, Clone, PartialEq)]
pub struct ConflictUpdate {
    /// The number by which expressions refer to the row that was to be inserted.
    pub excluded: RelationId,
    /// The columns that get the values.
    pub targets: Vec<Target>,
    /// The new values.
    pub values: Vec<Expr>,
    /// WHERE.
    pub filter: Option<Expr>,
}
