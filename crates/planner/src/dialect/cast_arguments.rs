//! `SELECT sum(1), sum(1::bigint)`: aggregates that differ only by casts.
//!
//! The engine's names of aggregates leave casts out, and two of one name may not be. Where a select has such, their
//! casts go through a function, which names do mention.

use super::build::{arguments_mut, call, called, take, text};
use datafusion::sql::sqlparser::ast::{Expr, Select, Statement, VisitorMut};
use functions::casts::conversion::MENTIONED;
use parser::walk::{visit_expressions_mut, visit_mut};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// Aggregates of numbers. Others of whose arguments a cast tells the type (JSON, uuid) would lose it.
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

/// How the engine would name a call, as far as casts are left out.
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
