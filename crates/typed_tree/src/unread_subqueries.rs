//! Subqueries in columns that nothing reads ([`Read`](crate::read::Read)). They are not computed, as in PostgreSQL: one that
//! returns several rows is no error then.

use crate::read::Read;
use crate::walk::{
    aggregate_expressions, aggregate_expressions_mut, children_mut, contains, query_expressions,
    query_expressions_mut,
};
use crate::{AggregateCall, Body, Expr, From, Kind, Query, SelectId, Source};
use std::collections::HashSet;

/// Whether a query has subqueries as values.
pub fn may_be_in(query: &Query) -> bool {
    let mut found = false;
    query_expressions(query, &mut |expr| found = found || has_subquery(expr));
    found
}

/// The query without these subqueries; `None` if there are none.
pub fn without(query: &Query, read: &Read<'_>) -> Option<Query> {
    let unread = Unread::of(read);
    if unread.outputs.is_empty() && unread.aggregates.is_empty() {
        return None;
    }
    let mut without = query.clone();
    unread.clear(&mut without);
    Some(without)
}

/// The items of select lists that have subqueries and are not read, and such aggregates.
#[derive(Default)]
struct Unread {
    outputs: HashSet<(SelectId, usize)>,
    aggregates: HashSet<(SelectId, usize)>,
}

impl Unread {
    fn of(read: &Read<'_>) -> Self {
        let mut unread = Self::default();
        for select in read.selects() {
            let outputs = select.output.iter().enumerate().filter(|(place, output)| {
                !read.has_output(select.id, *place) && has_subquery(&output.expr)
            });
            unread.outputs.extend(outputs.map(|(place, _)| (select.id, place)));
            let aggregates = select.aggregates.iter().enumerate().filter(|(place, aggregate)| {
                !read.has_aggregate(select.id, *place) && is_over_subquery(aggregate)
            });
            unread.aggregates.extend(aggregates.map(|(place, _)| (select.id, place)));
        }
        unread
    }

    /// Makes them NULL.
    fn clear(&self, query: &mut Query) {
        self.clear_selects(query);
        query_expressions_mut(query, &mut |expr| self.clear_below(expr));
    }

    fn clear_below(&self, expr: &mut Expr) {
        grammar::growing(|| {
            if let Kind::Subquery(subquery) = &mut expr.kind {
                self.clear(&mut subquery.query);
            }
            children_mut(expr, &mut |part| self.clear_below(part));
        });
    }

    /// As [`clear`](Self::clear), in the query and those in its WITH and FROM, but not in expressions.
    fn clear_selects(&self, query: &mut Query) {
        for cte in &mut query.with {
            grammar::growing(|| self.clear_selects(&mut cte.query));
        }
        match &mut query.body {
            Body::Select(select) => {
                for (place, output) in select.output.iter_mut().enumerate() {
                    if self.outputs.contains(&(select.id, place)) {
                        output.expr = Expr::null(output.expr.sql_type);
                    }
                }
                for (place, aggregate) in select.aggregates.iter_mut().enumerate() {
                    if self.aggregates.contains(&(select.id, place)) {
                        aggregate_expressions_mut(aggregate, &mut |expr| {
                            if has_subquery(expr) {
                                *expr = Expr::null(expr.sql_type);
                            }
                        });
                    }
                }
                select.from.iter_mut().for_each(|from| self.clear_from(from));
            }
            Body::SetOperation(operation) => grammar::growing(|| {
                self.clear_selects(&mut operation.left);
                self.clear_selects(&mut operation.right);
            }),
            Body::Values(_) => {}
        }
    }

    fn clear_from(&self, from: &mut From) {
        match from {
            From::Relation(relation) => {
                if let Source::Query(query) = &mut relation.source {
                    grammar::growing(|| self.clear_selects(query));
                }
            }
            From::Join { left, right, .. } => grammar::growing(|| {
                self.clear_from(left);
                self.clear_from(right);
            }),
        }
    }
}

fn has_subquery(expr: &Expr) -> bool {
    contains(expr, &mut |part| matches!(part.kind, Kind::Subquery(_)))
}

fn is_over_subquery(aggregate: &AggregateCall) -> bool {
    let mut found = false;
    aggregate_expressions(aggregate, &mut |expr| found = found || has_subquery(expr));
    found
}
