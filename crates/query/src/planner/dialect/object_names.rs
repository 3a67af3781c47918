//! `'t'::regclass`, `c.oid::regclass::text` and the other types for the names of objects.
//!
//! Ids are plain numbers here, so such a cast becomes one of two functions: to the id, which is what clients
//! compare with, or to the name, where it is shown or treated as text. psql, pgjdbc, SQLAlchemy and nearly
//! every tool write them.

use super::build::{arguments, arguments_mut, call, called, literal_text, take, type_name};
use crate::catalog_views::functions::CAST_FUNCTIONS;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Query, Select, SelectItem, SetExpr, Statement,
};

/// Functions that want a name as text.
const OF_NAMES: [&str; 3] = ["nextval", "currval", "setval"];
/// Functions that want text.
const OF_TEXT: [&str; 12] = [
    "quote_ident",
    "quote_literal",
    "lower",
    "upper",
    "length",
    "concat",
    "format",
    "replace",
    "regexp_replace",
    "split_part",
    "string_agg",
    "substring",
];

pub(super) fn rewrite(expr: &mut Expr) {
    match expr {
        Expr::Cast { expr: inner, data_type, .. } => {
            let wanted = type_name(data_type);
            let known = CAST_FUNCTIONS.iter().find(|cast| cast.type_name == wanted);
            if let Some(cast) = known {
                let inner = take(inner);
                *expr = call(cast.to_oid, vec![inner]);
            } else if is_text(&wanted) && as_text(inner) {
                *expr = take(inner);
            }
        }
        Expr::BinaryOp { left, op: BinaryOperator::StringConcat, right } => {
            as_text(left);
            as_text(right);
        }
        Expr::Function(_) => {
            let name = called(expr).unwrap_or_default();
            if OF_NAMES.contains(&name.as_str()) {
                arguments_mut(expr).into_iter().for_each(as_name);
            } else if OF_TEXT.contains(&name.as_str()) {
                arguments_mut(expr).into_iter().for_each(|argument| _ = as_text(argument));
            }
        }
        _ => {}
    }
}

fn is_text(name: &str) -> bool {
    matches!(name, "text" | "name" | "varchar" | "character varying" | "cstring")
}

/// Turns a cast to an id into one to the name; `false` where the expression is no such cast.
fn as_text(expr: &mut Expr) -> bool {
    let name = called(expr);
    let cast = CAST_FUNCTIONS.iter().find(|cast| name.as_deref() == Some(cast.to_oid));
    let Some(cast) = cast else { return false };
    let arguments = arguments(expr).into_iter().cloned().collect();
    *expr = call(cast.to_text, arguments);
    true
}

/// Takes a cast off a name that is written out.
fn as_name(expr: &mut Expr) {
    let name = called(expr);
    if CAST_FUNCTIONS.iter().any(|cast| name.as_deref() == Some(cast.to_oid)) {
        let literal = arguments(expr).first().filter(|a| literal_text(a).is_some()).copied();
        match literal.cloned() {
            Some(literal) => *expr = literal,
            None => drop(as_text(expr)),
        }
    }
}

/// Casts in the outermost select list are shown: as names.
pub(super) fn show(statement: &mut Statement) {
    if let Statement::Query(query) = statement {
        show_query(query);
    }
}

fn show_query(query: &mut Query) {
    show_body(&mut query.body);
}

fn show_body(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => show_select(select),
        SetExpr::Query(query) => show_query(query),
        SetExpr::SetOperation { left, right, .. } => {
            show_body(left);
            show_body(right);
        }
        _ => {}
    }
}

fn show_select(select: &mut Select) {
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
            as_text(expr);
        }
    }
}
