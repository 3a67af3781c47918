//! Volatile values that other values are made of, such as those of `nextval` for a column of another type.
//!
//! PostgreSQL computes a volatile value behind ORDER BY, for the rows in their order. A query around the one with ORDER BY may
//! read its rows in another order, so that what is made of the value becomes a part of the select list.

use crate::read::is_volatile;
use crate::walk::{children_mut, contains};
use crate::{Body, Expr, Kind, Output, Query, RelationId, Select, SortKey};

/// A query with another select list, whose values are over the columns of the query as those of a relation. `None` if the
/// query has no order, nothing volatile, or values that have to be computed before.
pub fn with_values(query: &Query, relation: RelationId, values: &[Output]) -> Option<Query> {
    let Body::Select(select) = &query.body else { return None };
    let is_plain = !select.is_grouped && select.distinct.is_none() && !query.order_by.is_empty();
    let is_varying = |output: &Output| contains(&output.expr, &mut is_volatile);
    if !is_plain || !select.output.iter().any(is_varying) {
        return None;
    }
    let order_by = keys(select, &query.order_by)?;
    let mut parts: Vec<_> = select.output.iter().map(|output| Some(output.expr.clone())).collect();
    let mut output = values.to_vec();
    for value in &mut output {
        replace(&mut value.expr, relation, &mut parts);
        if contains(&value.expr, &mut |part| is_of(part, relation)) {
            return None;
        }
    }
    let columns = output.iter().map(Output::column).collect();
    let body = Body::Select(Box::new(Select { output, ..Select::clone(select) }));
    let (with, limit) = (query.with.clone(), query.limit.clone());
    Some(Query { with, body, order_by, limit, columns })
}

/// The keys as expressions of their own. `None` if one is volatile.
fn keys(select: &Select, keys: &[SortKey]) -> Option<Vec<SortKey>> {
    let key = |key: &SortKey| {
        let expr = match key.expr.kind {
            Kind::Output(place) => select.output.get(place)?.expr.clone(),
            _ => key.expr.clone(),
        };
        (!contains(&expr, &mut is_volatile)).then(|| SortKey { expr, ..key.clone() })
    };
    keys.iter().map(key).collect()
}

/// Puts parts in the place of columns, each once.
fn replace(expr: &mut Expr, relation: RelationId, parts: &mut [Option<Expr>]) {
    if let Kind::Column(of, place) = expr.kind
        && of == relation
    {
        if let Some(part) = parts.get_mut(place).and_then(Option::take) {
            *expr = part;
        }
        return;
    }
    grammar::growing(|| children_mut(expr, &mut |part| replace(part, relation, parts)));
}

fn is_of(part: &Expr, relation: RelationId) -> bool {
    matches!(part.kind, Kind::Column(of, _) | Kind::WholeRow(of) if of == relation)
}
