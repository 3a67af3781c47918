//! The places of arguments in the body of a function.

use crate::walk::{children, children_mut, query_expressions_mut};
use crate::{Expr, Kind, Query};
use std::collections::HashSet;
use system_catalog::functions::of;

/// Calls `visit` for each place of an argument in an expression, with the argument's number.
pub fn each(expr: &mut Expr, places: &[Expr], visit: &mut dyn FnMut(&mut Expr, usize)) {
    if let Kind::Parameter(_) = expr.kind {
        if let Some(number) = places.iter().position(|place| place.kind == expr.kind) {
            visit(expr, number);
        }
        return;
    }
    grammar::growing(|| children_mut(expr, &mut |part| each(part, places, visit)));
    if let Kind::Subquery(subquery) = &mut expr.kind {
        each_in_query(&mut subquery.query, places, visit);
    }
}

/// Calls `visit` for each parameter in an expression.
pub fn all(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    if let Kind::Parameter(_) = expr.kind {
        visit(expr);
        return;
    }
    grammar::growing(|| children_mut(expr, &mut |part| all(part, visit)));
    if let Kind::Subquery(subquery) = &mut expr.kind {
        query_expressions_mut(&mut subquery.query, &mut |part| all(part, visit));
    }
}

/// As [`each`], in a query.
pub fn each_in_query(query: &mut Query, places: &[Expr], visit: &mut dyn FnMut(&mut Expr, usize)) {
    query_expressions_mut(query, &mut |expr| each(expr, places, visit));
}

/// Whether an expression is NULL if one of the arguments is, because it uses all of them, and as arguments of strict
/// functions only.
pub fn is_strict(expr: &Expr, places: &[Expr]) -> bool {
    let mut needed = HashSet::new();
    note_needed(expr, &mut needed);
    places.iter().all(|place| match place.kind {
        Kind::Parameter(number) => needed.contains(&number),
        _ => false,
    })
}

/// Notes the places that make an expression NULL.
fn note_needed(expr: &Expr, needed: &mut HashSet<u32>) {
    match &expr.kind {
        Kind::Parameter(number) => drop(needed.insert(*number)),
        Kind::Call(call) if of(call.function).is_some_and(|function| function.strict) => {
            children(expr, &mut |part| grammar::growing(|| note_needed(part, needed)));
        }
        Kind::Foreign(call) if call.is_strict => {
            children(expr, &mut |part| grammar::growing(|| note_needed(part, needed)));
        }
        Kind::Cast(cast) => grammar::growing(|| note_needed(&cast.value, needed)),
        _ => {}
    }
}
