//! Subqueries in columns of queries in FROM that nothing reads. They are not computed, as in PostgreSQL: one that
//! returns several rows is no error then.
//!
//! Volatile ones stay, and so do those that an order or DISTINCT needs.

use crate::walk::{contains, query_expressions};
use crate::{Body, Expr, From, Kind, Query, RelationId, Source, SubqueryKind};
use std::collections::HashSet;
use system_catalog::functions::{self, Volatility};

/// What the expressions of a statement read.
#[derive(Default)]
struct Read {
    columns: HashSet<(RelationId, usize)>,
    /// The relations whose rows are values.
    rows: HashSet<RelationId>,
}

/// The query without these subqueries; `None` if there are none.
pub fn without(query: &Query) -> Option<Query> {
    let mut has_subquery = false;
    query_expressions(query, &mut |expr| has_subquery = has_subquery || is_subquery(expr));
    if !has_subquery {
        return None;
    }
    let mut read = Read::default();
    query_expressions(query, &mut |expr| {
        contains(expr, &mut |part| {
            match part.kind {
                Kind::Column(relation, at) => {
                    read.columns.insert((relation, at));
                }
                Kind::WholeRow(relation) => {
                    read.rows.insert(relation);
                }
                _ => {}
            }
            false
        });
    });
    let mut without = query.clone();
    read.clear(&mut without).then_some(without)
}

impl Read {
    /// Makes what nothing reads NULL; returns whether there was anything.
    fn clear(&self, query: &mut Query) -> bool {
        let mut is_changed = false;
        for cte in &mut query.with {
            is_changed |= grammar::growing(|| self.clear(&mut cte.query));
        }
        match &mut query.body {
            Body::Select(select) => {
                for from in &mut select.from {
                    is_changed |= self.clear_from(from);
                }
            }
            Body::SetOperation(operation) => {
                is_changed |= grammar::growing(|| self.clear(&mut operation.left));
                is_changed |= grammar::growing(|| self.clear(&mut operation.right));
            }
            Body::Values(_) => {}
        }
        is_changed
    }

    fn clear_from(&self, from: &mut From) -> bool {
        match from {
            From::Relation(relation) => {
                let id = relation.id;
                match &mut relation.source {
                    Source::Query(query) => {
                        let is_changed = self.clear_columns(id, query);
                        grammar::growing(|| self.clear(query)) || is_changed
                    }
                    Source::Table(_) | Source::Cte(_) | Source::Functions { .. } => false,
                }
            }
            From::Join { left, right, .. } => {
                let is_changed = grammar::growing(|| self.clear_from(left));
                grammar::growing(|| self.clear_from(right)) || is_changed
            }
        }
    }

    fn clear_columns(&self, relation: RelationId, query: &mut Query) -> bool {
        let Query { body: Body::Select(select), order_by, .. } = query else { return false };
        if self.rows.contains(&relation) || select.distinct.is_some() {
            return false;
        }
        let mut is_changed = false;
        for (at, output) in select.output.iter_mut().enumerate() {
            let is_it = &mut |part: &Expr| matches!(part.kind, Kind::Output(place) if place == at);
            let is_key = order_by.iter().any(|key| contains(&key.expr, is_it));
            let is_read = is_key || self.columns.contains(&(relation, at));
            if !is_read && is_subquery(&output.expr) && !contains(&output.expr, &mut has_effect) {
                output.expr = Expr::null(output.expr.sql_type);
                is_changed = true;
            }
        }
        is_changed
    }
}

/// Whether a value has a subquery of one row in it.
fn is_subquery(expr: &Expr) -> bool {
    let is_scalar = &mut |part: &Expr| match &part.kind {
        Kind::Subquery(of) => matches!(of.kind, SubqueryKind::Scalar),
        _ => false,
    };
    contains(expr, is_scalar)
}

/// Whether a part has to be computed, even if nothing reads it.
fn has_effect(part: &Expr) -> bool {
    let is_volatile = |volatility: Volatility| volatility == Volatility::Volatile;
    match &part.kind {
        Kind::Call(call) => match &call.executed {
            Some(executed) => executed.is_volatile,
            None => functions::of(call.function).is_some_and(|of| is_volatile(of.volatility)),
        },
        Kind::Foreign(call) => is_volatile(call.volatility),
        Kind::Set(..) => true,
        _ => false,
    }
}
