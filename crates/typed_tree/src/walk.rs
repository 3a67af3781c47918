//! Walks over expressions.

use crate::{Body, Expr, From, Kind, Query, RelationId, Select, Source, SubqueryKind};
use std::collections::HashSet;

/// Calls `visit` for each direct part of an expression. Queries in it are no parts.
pub fn children<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
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
            call.arguments.iter().for_each(visit);
        }
        Kind::Foreign(call) => call.arguments.iter().for_each(visit),
        Kind::Chain(chain) => {
            visit(&chain.first);
            chain.steps.iter().for_each(visit);
        }
        Kind::Cast(cast) => visit(&cast.value),
        Kind::And(all)
        | Kind::Or(all)
        | Kind::Coalesce(all)
        | Kind::Greatest(all)
        | Kind::Least(all)
        | Kind::Array(all)
        | Kind::Row(all)
        | Kind::NamedRow(_, all) => all.iter().for_each(visit),
        Kind::Not(one) | Kind::IsNull(one) | Kind::IsNotNull(one) | Kind::IsTruth(one, _) => {
            visit(one);
        }
        Kind::Case { branches, otherwise } => {
            for (condition, value) in branches {
                visit(condition);
                visit(value);
            }
            visit(otherwise);
        }
        Kind::Quantified(quantified) => {
            visit(&quantified.value);
            visit(&quantified.array);
        }
        Kind::Subscript { array, subscripts, .. } => {
            visit(array);
            for (lower, upper) in subscripts {
                lower.iter().chain(upper).for_each(&mut *visit);
            }
        }
        Kind::Field(field) => visit(&field.row),
        Kind::Subquery(subquery) => match &subquery.kind {
            SubqueryKind::Any(test) | SubqueryKind::All(test) => visit(test),
            _ => {}
        },
    }
}

/// Like [`children`], but mutable.
pub fn children_mut(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    match &mut expr.kind {
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
            call.arguments.iter_mut().for_each(visit);
        }
        Kind::Foreign(call) => call.arguments.iter_mut().for_each(visit),
        Kind::Chain(chain) => {
            visit(&mut chain.first);
            chain.steps.iter_mut().for_each(visit);
        }
        Kind::Cast(cast) => visit(&mut cast.value),
        Kind::And(all)
        | Kind::Or(all)
        | Kind::Coalesce(all)
        | Kind::Greatest(all)
        | Kind::Least(all)
        | Kind::Array(all)
        | Kind::Row(all)
        | Kind::NamedRow(_, all) => all.iter_mut().for_each(visit),
        Kind::Not(one) | Kind::IsNull(one) | Kind::IsNotNull(one) | Kind::IsTruth(one, _) => {
            visit(one);
        }
        Kind::Case { branches, otherwise } => {
            for (condition, value) in branches {
                visit(condition);
                visit(value);
            }
            visit(otherwise);
        }
        Kind::Quantified(quantified) => {
            visit(&mut quantified.value);
            visit(&mut quantified.array);
        }
        Kind::Subscript { array, subscripts, .. } => {
            visit(array);
            for (lower, upper) in subscripts {
                lower.iter_mut().chain(upper).for_each(&mut *visit);
            }
        }
        Kind::Field(field) => visit(&mut field.row),
        Kind::Subquery(subquery) => match &mut subquery.kind {
            SubqueryKind::Any(test) | SubqueryKind::All(test) => visit(test),
            _ => {}
        },
    }
}

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

/// Calls `visit` for each expression of a query, also of the queries in its WITH and FROM. Queries in expressions are
/// parts of the expressions.
pub fn query_expressions<'a>(query: &'a Query, visit: &mut dyn FnMut(&'a Expr)) {
    for cte in &query.with {
        query_expressions(&cte.query, visit);
    }
    match &query.body {
        Body::Select(select) => select_expressions(select, visit),
        Body::Values(rows) => rows.iter().flatten().for_each(&mut *visit),
        Body::SetOperation(operation) => {
            grammar::growing(|| query_expressions(&operation.left, visit));
            grammar::growing(|| query_expressions(&operation.right, visit));
        }
    }
    query.order_by.iter().for_each(|key| visit(&key.expr));
    query.limit.count.iter().chain(&query.limit.offset).for_each(visit);
}

fn select_expressions<'a>(select: &'a Select, visit: &mut dyn FnMut(&'a Expr)) {
    for from in &select.from {
        from_expressions(from, visit);
    }
    select.filter.iter().chain(&select.group_by).chain(&select.having).for_each(&mut *visit);
    for aggregate in &select.aggregates {
        aggregate.arguments.iter().chain(&aggregate.filter).for_each(&mut *visit);
        aggregate.order_by.iter().for_each(|key| visit(&key.expr));
    }
    for window in &select.windows {
        window.arguments.iter().chain(&window.filter).for_each(&mut *visit);
        window.partition_by.iter().for_each(&mut *visit);
        window.order_by.iter().for_each(|key| visit(&key.expr));
    }
    for set in &select.sets {
        set.call.arguments.iter().for_each(&mut *visit);
    }
    select.output.iter().for_each(|output| visit(&output.expr));
    if let Some(crate::Distinct::On(keys)) = &select.distinct {
        keys.iter().for_each(visit);
    }
}

fn from_expressions<'a>(from: &'a From, visit: &mut dyn FnMut(&'a Expr)) {
    match from {
        From::Relation(relation) => match &relation.source {
            Source::Query(query) => grammar::growing(|| query_expressions(query, visit)),
            Source::Functions { calls, .. } => {
                calls.iter().flat_map(|call| &call.call.arguments).for_each(visit);
            }
            Source::Table(_) | Source::Cte(_) => {}
        },
        From::Join { left, right, condition, .. } => {
            from_expressions(left, visit);
            from_expressions(right, visit);
            condition.iter().for_each(visit);
        }
    }
}

/// Like [`query_expressions`], but mutable.
pub fn query_expressions_mut(query: &mut Query, visit: &mut dyn FnMut(&mut Expr)) {
    for cte in &mut query.with {
        query_expressions_mut(&mut cte.query, visit);
    }
    match &mut query.body {
        Body::Select(select) => select_expressions_mut(select, visit),
        Body::Values(rows) => rows.iter_mut().flatten().for_each(&mut *visit),
        Body::SetOperation(operation) => {
            grammar::growing(|| query_expressions_mut(&mut operation.left, visit));
            grammar::growing(|| query_expressions_mut(&mut operation.right, visit));
        }
    }
    query.order_by.iter_mut().for_each(|key| visit(&mut key.expr));
    query.limit.count.iter_mut().chain(&mut query.limit.offset).for_each(visit);
}

fn select_expressions_mut(select: &mut Select, visit: &mut dyn FnMut(&mut Expr)) {
    for from in &mut select.from {
        from_expressions_mut(from, visit);
    }
    let clauses = select.filter.iter_mut().chain(&mut select.group_by).chain(&mut select.having);
    clauses.for_each(&mut *visit);
    for aggregate in &mut select.aggregates {
        aggregate.arguments.iter_mut().chain(&mut aggregate.filter).for_each(&mut *visit);
        aggregate.order_by.iter_mut().for_each(|key| visit(&mut key.expr));
    }
    for window in &mut select.windows {
        window.arguments.iter_mut().chain(&mut window.filter).for_each(&mut *visit);
        window.partition_by.iter_mut().for_each(&mut *visit);
        window.order_by.iter_mut().for_each(|key| visit(&mut key.expr));
    }
    for set in &mut select.sets {
        set.call.arguments.iter_mut().for_each(&mut *visit);
    }
    select.output.iter_mut().for_each(|output| visit(&mut output.expr));
    if let Some(crate::Distinct::On(keys)) = &mut select.distinct {
        keys.iter_mut().for_each(visit);
    }
}

fn from_expressions_mut(from: &mut From, visit: &mut dyn FnMut(&mut Expr)) {
    match from {
        From::Relation(relation) => match &mut relation.source {
            Source::Query(query) => grammar::growing(|| query_expressions_mut(query, visit)),
            Source::Functions { calls, .. } => {
                calls.iter_mut().flat_map(|call| &mut call.call.arguments).for_each(visit);
            }
            Source::Table(_) | Source::Cte(_) => {}
        },
        From::Join { left, right, condition, .. } => {
            from_expressions_mut(left, visit);
            from_expressions_mut(right, visit);
            condition.iter_mut().for_each(visit);
        }
    }
}
