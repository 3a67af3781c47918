//! Equality of expressions with queries in them. The analyzer gives each query that it reads numbers of its own, also if a
//! statement has the same text twice.

use crate::walk::{children_mut, contains, query_expressions_mut};
use crate::{Body, CteId, Expr, From, Kind, Query, RelationId, SelectId, Source};
use std::collections::HashMap;
use std::mem::discriminant;

/// Whether two expressions are the same, whatever numbers the queries in them have.
pub fn are_same(left: &Expr, right: &Expr) -> bool {
    left == right
        || discriminant(&left.kind) == discriminant(&right.kind)
            && has_query(left)
            && has_query(right)
            && renumbered(left) == renumbered(right)
}

fn has_query(expr: &Expr) -> bool {
    contains(expr, &mut |part| matches!(part.kind, Kind::Subquery(_)))
}

fn renumbered(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    let mut numbers = Numbers::default();
    numbers.define(&mut expr);
    numbers.refer(&mut expr);
    expr
}

/// The new numbers of what an expression defines. They count down from the greatest, and the analyzer's count up from zero.
#[derive(Default)]
struct Numbers {
    relations: HashMap<RelationId, RelationId>,
    selects: HashMap<SelectId, SelectId>,
    ctes: HashMap<CteId, CteId>,
    last: u32,
}

impl Numbers {
    fn next(&mut self) -> u32 {
        self.last += 1;
        u32::MAX - self.last
    }

    /// Gives numbers to what the queries in an expression define.
    fn define(&mut self, expr: &mut Expr) {
        grammar::growing(|| {
            children_mut(expr, &mut |part| self.define(part));
            if let Kind::Subquery(subquery) = &mut expr.kind {
                self.define_in(&mut subquery.query);
                query_expressions_mut(&mut subquery.query, &mut |part| self.define(part));
            }
        });
    }

    fn define_in(&mut self, query: &mut Query) {
        for cte in &mut query.with {
            let id = CteId(self.next());
            self.ctes.insert(std::mem::replace(&mut cte.id, id), id);
            self.define_in(&mut cte.query);
        }
        match &mut query.body {
            Body::Select(select) => {
                let id = SelectId(self.next());
                self.selects.insert(std::mem::replace(&mut select.id, id), id);
                for from in &mut select.from {
                    self.define_from(from);
                }
            }
            Body::Values(_) => {}
            Body::SetOperation(operation) => grammar::growing(|| {
                self.define_in(&mut operation.left);
                self.define_in(&mut operation.right);
            }),
        }
    }

    fn define_from(&mut self, from: &mut From) {
        match from {
            From::Relation(relation) => {
                let id = RelationId(self.next());
                self.relations.insert(std::mem::replace(&mut relation.id, id), id);
                match &mut relation.source {
                    Source::Query(query) => grammar::growing(|| self.define_in(query)),
                    Source::Cte(id) => *id = self.ctes.get(&*id).copied().unwrap_or(*id),
                    Source::Table(_) | Source::Functions { .. } => {}
                }
            }
            From::Join { left, right, .. } => {
                self.define_from(left);
                self.define_from(right);
            }
        }
    }

    /// Replaces the numbers by which expressions refer to what is defined.
    fn refer(&self, expr: &mut Expr) {
        grammar::growing(|| {
            match &mut expr.kind {
                Kind::Column(id, _) | Kind::WholeRow(id) | Kind::TableOid(id) => {
                    *id = self.relations.get(&*id).copied().unwrap_or(*id);
                }
                Kind::GroupKey(id, _)
                | Kind::Aggregate(id, _)
                | Kind::Grouping(id, _)
                | Kind::Window(id, _)
                | Kind::Set(id, _) => *id = self.selects.get(&*id).copied().unwrap_or(*id),
                _ => {}
            }
            children_mut(expr, &mut |part| self.refer(part));
            if let Kind::Subquery(subquery) = &mut expr.kind {
                query_expressions_mut(&mut subquery.query, &mut |part| self.refer(part));
            }
        });
    }
}
