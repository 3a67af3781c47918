//! Queries that are nothing but a SELECT, without grouping and the like.

use grammar::tree::{LimitOption, SelectStmt, SetOperation};

/// Whether a query has select list, FROM, WHERE, ORDER BY, LIMIT and OFFSET at most.
pub fn is_plain(query: &SelectStmt) -> bool {
    matches!(query.op(), SetOperation::SetopNone | SetOperation::Undefined)
        && query.values_lists.is_empty()
        && query.limit_option() != LimitOption::WithTies
        && query.with_clause.is_none()
        && query.locking_clause.is_empty()
        && query.distinct_clause.is_empty()
        && query.into_clause.is_none()
        && query.group_clause.is_empty()
        && query.having_clause.is_none()
        && query.window_clause.is_empty()
}
