//! Functions and operators qualified with `pg_catalog`, functions qualified with `pando`, and collations.
//!
//! psql and pg_dump qualify all names to be independent of the search path:
//! `pg_catalog.format_type(...)`, `a OPERATOR(pg_catalog.~) b COLLATE pg_catalog.default`.

use super::build::take;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Function, Ident, ObjectName};

const SCHEMAS: [&str; 2] = ["pg_catalog", "information_schema"];
/// The schema of our own functions. The engine knows `pando.f` as `pando_f`.
const OWN_SCHEMA: &str = "pando";

pub(super) fn rewrite(expr: &mut Expr) {
    match expr {
        Expr::Function(Function { name, .. }) => strip(name),
        Expr::AnyOp { compare_op: op, .. } | Expr::AllOp { compare_op: op, .. } => plain(op),
        Expr::Collate { expr: inner, .. } => *expr = take(inner),
        Expr::BinaryOp { left, op, right } => {
            plain(op);
            let (negated, ignores_case) = match op {
                BinaryOperator::PGLikeMatch => (false, false),
                BinaryOperator::PGNotLikeMatch => (true, false),
                BinaryOperator::PGILikeMatch => (false, true),
                BinaryOperator::PGNotILikeMatch => (true, true),
                _ => return,
            };
            let left = Box::new(take(left));
            let right = Box::new(take(right));
            *expr = like(negated, ignores_case, left, right);
        }
        _ => {}
    }
}

/// LIKE or ILIKE, for `~~`, `~~*` and their negations.
fn like(negated: bool, ignores_case: bool, expr: Box<Expr>, pattern: Box<Expr>) -> Expr {
    if ignores_case {
        Expr::ILike { negated, any: false, expr, pattern, escape_char: None }
    } else {
        Expr::Like { negated, any: false, expr, pattern, escape_char: None }
    }
}

fn strip(name: &mut ObjectName) {
    let schema = match &name.0[..] {
        [schema, _] => schema.as_ident().map(parser::names::fold),
        _ => None,
    };
    let Some(schema) = schema else { return };
    if SCHEMAS.contains(&schema.as_str()) {
        name.0.remove(0);
    } else if schema == OWN_SCHEMA
        && let Some(function) = name.0[1].as_ident()
    {
        let function = format!("{OWN_SCHEMA}_{}", parser::names::fold(function));
        *name = ObjectName::from(vec![Ident::new(function)]);
    }
}

/// Turns `OPERATOR(pg_catalog.=)` into `=`.
fn plain(op: &mut BinaryOperator) {
    let BinaryOperator::PGCustomBinaryOperator(parts) = op else { return };
    *op = match parts.last().map(String::as_str) {
        Some("=") => BinaryOperator::Eq,
        Some("<>") => BinaryOperator::NotEq,
        Some("<") => BinaryOperator::Lt,
        Some("<=") => BinaryOperator::LtEq,
        Some(">") => BinaryOperator::Gt,
        Some(">=") => BinaryOperator::GtEq,
        Some("+") => BinaryOperator::Plus,
        Some("-") => BinaryOperator::Minus,
        Some("*") => BinaryOperator::Multiply,
        Some("/") => BinaryOperator::Divide,
        Some("||") => BinaryOperator::StringConcat,
        Some("~") => BinaryOperator::PGRegexMatch,
        Some("~*") => BinaryOperator::PGRegexIMatch,
        Some("!~") => BinaryOperator::PGRegexNotMatch,
        Some("!~*") => BinaryOperator::PGRegexNotIMatch,
        Some("~~") => BinaryOperator::PGLikeMatch,
        Some("!~~") => BinaryOperator::PGNotLikeMatch,
        Some("~~*") => BinaryOperator::PGILikeMatch,
        Some("!~~*") => BinaryOperator::PGNotILikeMatch,
        _ => return,
    };
}
