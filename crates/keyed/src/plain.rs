//! Queries that are nothing but a SELECT, without grouping and the like.

use datafusion::sql::sqlparser::ast::{GroupByExpr, Query, Select, SetExpr};

/// The SELECT of a query that has select list, FROM, WHERE, ORDER BY, LIMIT and OFFSET at most;
/// `None` for other queries.
pub fn select_of(query: &Query) -> Option<&Select> {
    let plain = query.with.is_none() && query.fetch.is_none() && query.locks.is_empty();
    let SetExpr::Select(select) = &*query.body else { return None };
    let grouped = match &select.group_by {
        GroupByExpr::Expressions(by, modifiers) => !by.is_empty() || !modifiers.is_empty(),
        GroupByExpr::All(_) => true,
    };
    let plain = plain
        && !grouped
        && select.distinct.is_none()
        && select.top.is_none()
        && select.having.is_none()
        && select.qualify.is_none()
        && select.into.is_none()
        && select.named_window.is_empty()
        && select.lateral_views.is_empty();
    plain.then_some(&**select)
}
