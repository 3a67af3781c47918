//! EXISTS: whether a query has rows, whatever they hold.

use crate::{Body, Expr, Kind, Limit, Literal, Output, Query, Select};
use system_catalog::Oid;

/// The SELECT of a query that has rows whenever FROM and WHERE leave some. Nobody reads what they hold, and PostgreSQL does not
/// compute it either. `None` if what the query holds decides how many rows there are.
pub(crate) fn rows_of(query: &Query) -> Option<&Select> {
    let Body::Select(select) = &query.body else { return None };
    let has_group = select.is_grouped && select.group_by.is_empty();
    let is_counted = has_group
        || select.grouping_sets.is_some()
        || !select.aggregates.is_empty()
        || select.having.is_some()
        || !select.windows.is_empty()
        || !select.sets.is_empty();
    (!is_counted && takes_a_row(&query.limit)).then_some(select)
}

/// A query that has rows if and only if another has. `None` if the query has to stay as it is.
pub fn of_rows(query: &Query) -> Option<Query> {
    let select = rows_of(query)?;
    let one = Expr::new(Kind::Literal(Literal::Integer(1)), Oid::INT4, -1);
    let output = vec![Output { name: "?column?".to_owned(), expr: one }];
    let filter = select.filter.clone();
    let rows = Select { filter, ..Select::plain(select.id, select.from.clone(), output) };
    Some(Query { with: query.with.clone(), ..Query::from(rows) })
}

/// Whether LIMIT and OFFSET leave a row of any.
fn takes_a_row(limit: &Limit) -> bool {
    limit.offset.is_none() && limit.count.as_ref().is_none_or(is_some)
}

fn is_some(count: &Expr) -> bool {
    match &count.kind {
        Kind::Literal(Literal::Null) => true,
        Kind::Literal(Literal::Integer(count)) => *count > 0,
        Kind::Cast(cast) => is_some(&cast.value),
        _ => false,
    }
}
