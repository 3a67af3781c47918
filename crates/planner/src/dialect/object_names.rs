//! Casts to the types of object names: `'t'::regclass`, `c.oid::regclass::text`.
//!
//! Ids are plain integers here. A cast becomes one of two functions: to the id, which clients
//! compare, or to the name, if it is shown or used as text. psql, pgjdbc, SQLAlchemy and most tools
//! use them.

use super::build::{arguments, arguments_mut, call, called, literal_text, take, type_name};
use catalog_views::functions::CAST_FUNCTIONS;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Query, Select, SelectItem, SetExpr, Statement,
};

/// Functions whose argument is a name as text.
const OF_NAMES: [&str; 3] = ["nextval", "currval", "setval"];
/// Functions of text.
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

/// Turns a cast to an id into a cast to the name. Returns `false` if the expression is not one.
fn as_text(expr: &mut Expr) -> bool {
    let name = called(expr);
    let cast = CAST_FUNCTIONS.iter().find(|cast| name.as_deref() == Some(cast.to_oid));
    let Some(cast) = cast else { return false };
    let arguments = arguments(expr).into_iter().cloned().collect();
    *expr = call(cast.to_text, arguments);
    true
}

/// Removes the cast from a name literal. Turns any other cast to an id into a cast to the name.
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

/// Turns casts to ids in the outermost select list into casts to names.
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
