//! Aggregates that differ only by casts: `SELECT sum(1), sum(1::bigint)`.
//!
//! DataFusion omits casts from the names of aggregates and rejects two of the same name. In such a
//! select the casts are wrapped in a function, which appears in the name.

use super::build::{arguments_mut, call, called, take, text};
use datafusion::sql::sqlparser::ast::{Expr, Select, Statement, VisitorMut};
use functions::casts::conversion::MENTIONED;
use parser::walk::{visit_expressions_mut, visit_mut};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// Aggregates of numbers. The wrapping function would hide the type of JSON and uuid arguments from
/// other aggregates.
const AGGREGATES: [&str; 13] = [
    "sum",
    "avg",
    "count",
    "min",
    "max",
    "stddev",
    "stddev_samp",
    "stddev_pop",
    "var_samp",
    "var_pop",
    "variance",
    "median",
    "corr",
];

pub(super) fn rewrite(statement: &mut Statement) {
    struct Selects;
    impl VisitorMut for Selects {
        type Break = ();
        fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
            of_select(select);
            ControlFlow::Continue(())
        }
    }
    let _ = visit_mut(statement, &mut Selects);
}

fn of_select(select: &mut Select) {
    let mut written: HashMap<String, HashSet<String>> = HashMap::new();
    for_calls(select, |call| {
        written.entry(without_casts(call)).or_default().insert(call.to_string());
    });
    if written.values().all(|ways| ways.len() == 1) {
        return;
    }
    for_calls(select, |call| {
        if written.get(&without_casts(call)).is_some_and(|ways| ways.len() > 1) {
            arguments_mut(call).into_iter().for_each(mention_casts);
        }
    });
}

fn for_calls(select: &mut Select, mut with: impl FnMut(&mut Expr)) {
    for item in &mut select.projection {
        let _ = visit_expressions_mut(item, |expr| {
            if called(expr).is_some_and(|name| AGGREGATES.contains(&name.as_str())) {
                with(expr);
            }
            ControlFlow::<()>::Continue(())
        });
    }
}

fn mention_casts(argument: &mut Expr) {
    let _ = visit_expressions_mut(argument, |expr| {
        if let Expr::Cast { data_type, .. } = expr {
            let mentioned = text(data_type.to_string());
            *expr = call(MENTIONED, vec![take(expr), mentioned]);
        }
        ControlFlow::<()>::Continue(())
    });
}

/// The name that DataFusion would give a call, with casts omitted.
fn without_casts(call: &Expr) -> String {
    let mut call = call.clone();
    let _ = visit_expressions_mut(&mut call, |expr| {
        while let Expr::Cast { expr: inner, .. } = expr {
            *expr = take(inner);
        }
        ControlFlow::<()>::Continue(())
    });
    call.to_string()
}
