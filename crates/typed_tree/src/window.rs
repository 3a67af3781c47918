//! Window functions and their frames.

use super::expr::{Expr, SortKey, UserAggregate};
use system_catalog::{Oid, SqlType};

/// A window function.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowCall {
    /// The function, which may be an aggregate.
    pub function: Oid,
    /// The arguments.
    pub arguments: Vec<Expr>,
    /// FILTER.
    pub filter: Option<Expr>,
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<SortKey>,
    /// The frame.
    pub frame: WindowFrame,
    /// The type of the result.
    pub sql_type: SqlType,
    /// What an aggregate of a user does.
    pub user: Option<Box<UserAggregate>>,
}

/// The frame of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowFrame {
    /// ROWS, RANGE or GROUPS.
    pub units: FrameUnits,
    /// The first row.
    pub start: FrameBound,
    /// The last row.
    pub end: FrameBound,
    /// EXCLUDE.
    pub exclusion: FrameExclusion,
}

/// The units of a frame's bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameUnits {
    /// Rows.
    Rows,
    /// Differences of the key of ORDER BY.
    Range,
    /// Groups of equal rows.
    Groups,
}

/// A bound of a frame.
#[derive(Debug, Clone, PartialEq)]
pub enum FrameBound {
    /// UNBOUNDED PRECEDING.
    UnboundedPreceding,
    /// PRECEDING.
    Preceding(Box<Expr>),
    /// CURRENT ROW.
    CurrentRow,
    /// FOLLOWING.
    Following(Box<Expr>),
    /// UNBOUNDED FOLLOWING.
    UnboundedFollowing,
}

/// EXCLUDE of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameExclusion {
    /// Nothing.
    NoOthers,
    /// The row itself.
    CurrentRow,
    /// The row and its equals.
    Group,
    /// The row's equals.
    Ties,
}
