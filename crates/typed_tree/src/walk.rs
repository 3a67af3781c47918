//! Walks over expressions.

use crate::{
    AggregateCall, Body, Distinct, Expr, FrameBound, From, Kind, Query, RelationId, Select, Source,
    SubqueryKind, WindowCall,
};
use std::collections::HashSet;

/// The walks over a tree, written once for shared parts and for mutable ones.
macro_rules! walks {
    ($children:ident, $query:ident, $select:ident, $aggregate:ident, $window:ident, $from:ident $(, $mutable:tt)? $(; $life:lifetime)?) => {
        /// Calls `visit` for each direct part of an expression. Queries in it are no parts.
        pub fn $children$(<$life>)?(
            expr: &$($life)? $($mutable)? Expr,
            visit: &mut dyn FnMut(&$($life)? $($mutable)? Expr),
        ) {
            match &$($mutable)? expr.kind {
                Kind::Literal(_)
                | Kind::Parameter(_)
                | Kind::Column(..)
                | Kind::WholeRow(_)
                | Kind::TableOid(_)
                | Kind::Output(_)
                | Kind::GroupKey(..)
                | Kind::Aggregate(..)
                | Kind::Grouping(..)
                | Kind::Window(..)
                | Kind::Set(..)
                | Kind::Running
                | Kind::ValueFunction(_) => {}
                Kind::Call(call) | Kind::IsDistinct(call) | Kind::NullIf(call) => {
                    for argument in &$($mutable)? call.arguments {
                        visit(argument);
                    }
                }
                Kind::Foreign(call) => {
                    for argument in &$($mutable)? call.arguments {
                        visit(argument);
                    }
                }
                Kind::Chain(chain) => {
                    visit(&$($mutable)? chain.first);
                    for step in &$($mutable)? chain.steps {
                        visit(step);
                    }
                }
                Kind::Cast(cast) => visit(&$($mutable)? cast.value),
                Kind::And(all)
                | Kind::Or(all)
                | Kind::Coalesce(all)
                | Kind::Greatest(all)
                | Kind::Least(all)
                | Kind::Array(all)
                | Kind::Row(all)
                | Kind::NamedRow(_, all) => {
                    for one in all {
                        visit(one);
                    }
                }
                Kind::Not(one)
                | Kind::IsNull(one)
                | Kind::IsNotNull(one)
                | Kind::IsTruth(one, _) => visit(one),
                Kind::Case { branches, otherwise } => {
                    for (condition, value) in branches {
                        visit(condition);
                        visit(value);
                    }
                    visit(otherwise);
                }
                Kind::Quantified(quantified) => {
                    visit(&$($mutable)? quantified.value);
                    visit(&$($mutable)? quantified.array);
                }
                Kind::Subscript { array, subscripts, .. } => {
                    visit(array);
                    for (lower, upper) in subscripts {
                        for bound in lower.into_iter().chain(upper) {
                            visit(bound);
                        }
                    }
                }
                Kind::Field(field) => visit(&$($mutable)? field.row),
                Kind::Subquery(subquery) => match &$($mutable)? subquery.kind {
                    SubqueryKind::Any(test) | SubqueryKind::All(test) => visit(test),
                    _ => {}
                },
            }
        }

        /// Calls `visit` for each expression of a query, also of the queries in its WITH and FROM. Queries in expressions are
        /// parts of the expressions.
        pub fn $query$(<$life>)?(
            query: &$($life)? $($mutable)? Query,
            visit: &mut dyn FnMut(&$($life)? $($mutable)? Expr),
        ) {
            for cte in &$($mutable)? query.with {
                $query(&$($mutable)? cte.query, visit);
            }
            match &$($mutable)? query.body {
                Body::Select(select) => $select(select, visit),
                Body::Values(rows) => rows.into_iter().flatten().for_each(&mut *visit),
                Body::SetOperation(operation) => {
                    grammar::growing(|| $query(&$($mutable)? operation.left, visit));
                    grammar::growing(|| $query(&$($mutable)? operation.right, visit));
                }
            }
            for key in &$($mutable)? query.order_by {
                visit(&$($mutable)? key.expr);
            }
            let limit = &$($mutable)? query.limit;
            let (count, offset) = (&$($mutable)? limit.count, &$($mutable)? limit.offset);
            count.into_iter().chain(offset).for_each(visit);
        }

        fn $select$(<$life>)?(
            select: &$($life)? $($mutable)? Select,
            visit: &mut dyn FnMut(&$($life)? $($mutable)? Expr),
        ) {
            for from in &$($mutable)? select.from {
                $from(from, visit);
            }
            let clauses = (&$($mutable)? select.filter)
                .into_iter()
                .chain(&$($mutable)? select.group_by)
                .chain(&$($mutable)? select.having);
            clauses.for_each(&mut *visit);
            for aggregate in &$($mutable)? select.aggregates {
                $aggregate(aggregate, visit);
            }
            for window in &$($mutable)? select.windows {
                $window(window, visit);
            }
            for set in &$($mutable)? select.sets {
                for argument in &$($mutable)? set.call.arguments {
                    visit(argument);
                }
            }
            for output in &$($mutable)? select.output {
                visit(&$($mutable)? output.expr);
            }
            if let Some(Distinct::On(keys)) = &$($mutable)? select.distinct {
                keys.into_iter().for_each(visit);
            }
        }

        /// Calls `visit` for each expression of an aggregate.
        pub fn $aggregate$(<$life>)?(
            aggregate: &$($life)? $($mutable)? AggregateCall,
            visit: &mut dyn FnMut(&$($life)? $($mutable)? Expr),
        ) {
            let (arguments, filter) =
                (&$($mutable)? aggregate.arguments, &$($mutable)? aggregate.filter);
            arguments.into_iter().chain(filter).for_each(&mut *visit);
            for key in &$($mutable)? aggregate.order_by {
                visit(&$($mutable)? key.expr);
            }
        }

        /// Calls `visit` for each expression of a window function.
        pub fn $window$(<$life>)?(
            window: &$($life)? $($mutable)? WindowCall,
            visit: &mut dyn FnMut(&$($life)? $($mutable)? Expr),
        ) {
            let (arguments, filter) =
                (&$($mutable)? window.arguments, &$($mutable)? window.filter);
            arguments.into_iter().chain(filter).for_each(&mut *visit);
            for expr in &$($mutable)? window.partition_by {
                visit(expr);
            }
            for key in &$($mutable)? window.order_by {
                visit(&$($mutable)? key.expr);
            }
            let frame = &$($mutable)? window.frame;
            for bound in [&$($mutable)? frame.start, &$($mutable)? frame.end] {
                if let FrameBound::Preceding(offset) | FrameBound::Following(offset) = bound {
                    visit(&$($mutable)? **offset);
                }
            }
        }

        /// Calls `visit` for each expression of an item of FROM, also of its queries.
        pub fn $from$(<$life>)?(
            from: &$($life)? $($mutable)? From,
            visit: &mut dyn FnMut(&$($life)? $($mutable)? Expr),
        ) {
            match from {
                From::Relation(relation) => match &$($mutable)? relation.source {
                    Source::Query(query) => grammar::growing(|| $query(query, visit)),
                    Source::Functions { calls, .. } => {
                        for call in calls {
                            for argument in &$($mutable)? call.call.arguments {
                                visit(argument);
                            }
                        }
                    }
                    Source::Table(_) | Source::Cte(_) => {}
                },
                From::Join { left, right, condition, .. } => {
                    $from(left, visit);
                    $from(right, visit);
                    condition.into_iter().for_each(visit);
                }
            }
        }
    };
}

walks!(
    children,
    query_expressions,
    select_expressions,
    aggregate_expressions,
    window_expressions,
    from_expressions; 'a
);
walks!(
    children_mut,
    query_expressions_mut,
    select_expressions_mut,
    aggregate_expressions_mut,
    window_expressions_mut,
    from_expressions_mut,
    mut
);

/// Whether an expression or a part of it, also within its queries, fulfils a condition.
pub fn contains(expr: &Expr, condition: &mut dyn FnMut(&Expr) -> bool) -> bool {
    grammar::growing(|| {
        if condition(expr) {
            return true;
        }
        let mut found = false;
        children(expr, &mut |part| found = found || contains(part, condition));
        if let (false, Kind::Subquery(subquery)) = (found, &expr.kind) {
            query_expressions(&subquery.query, &mut |part| {
                found = found || contains(part, condition);
            });
        }
        found
    })
}

/// The relations whose rows are values in a query, as far as it matters whether a row is there.
pub fn whole_rows(query: &Query) -> HashSet<RelationId> {
    let mut found = HashSet::new();
    query_expressions(query, &mut |expr| {
        contains(expr, &mut |part| {
            if let Kind::WholeRow(relation) | Kind::TableOid(relation) = part.kind {
                found.insert(relation);
            }
            false
        });
    });
    found
}
