//! LIKE and regular expressions.

use super::{Make, Table, take};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::SqlType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::Like;
use datafusion::logical_expr::{Expr, Operator, binary_expr};
use functions::text::like_escapes::with_backslashes;

pub(super) const TABLE: Table = &[
    (
        "~~(text,text) ~~(bpchar,text) ~~(name,text)",
        Make::Own(|_, args, _| like(args, false, false)),
    ),
    (
        "!~~(text,text) !~~(bpchar,text) !~~(name,text)",
        Make::Own(|_, args, _| like(args, true, false)),
    ),
    (
        "~~*(text,text) ~~*(bpchar,text) ~~*(name,text)",
        Make::Own(|_, args, _| like(args, false, true)),
    ),
    (
        "!~~*(text,text) !~~*(bpchar,text) !~~*(name,text)",
        Make::Own(|_, args, _| like(args, true, true)),
    ),
    (
        "~(text,text) ~(bpchar,text) ~(name,text)",
        Make::Own(|_, args, _| regex(args, Operator::RegexMatch)),
    ),
    (
        "~*(text,text) ~*(bpchar,text) ~*(name,text)",
        Make::Own(|_, args, _| regex(args, Operator::RegexIMatch)),
    ),
    (
        "!~(text,text) !~(bpchar,text) !~(name,text)",
        Make::Own(|_, args, _| regex(args, Operator::RegexNotMatch)),
    ),
    (
        "!~*(text,text) !~*(bpchar,text) !~*(name,text)",
        Make::Own(|_, args, _| regex(args, Operator::RegexNotIMatch)),
    ),
    ("like_escape(text,text)", Make::Own(escaped)),
    (
        "regexp_replace(text,text,text) regexp_replace(text,text,text,text)",
        Make::Named("regexp_replace"),
    ),
];

fn like(arguments: Vec<Typed>, negated: bool, case_insensitive: bool) -> Result<Typed> {
    let [value, pattern] = take(arguments)?;
    let (expr, pattern) = (Box::new(value.expr), Box::new(pattern.expr));
    Ok(Typed::boolean(Expr::Like(Like::new(negated, expr, pattern, None, case_insensitive))))
}

fn regex(arguments: Vec<Typed>, operator: Operator) -> Result<Typed> {
    let [value, pattern] = take(arguments)?;
    Ok(Typed::boolean(binary_expr(value.expr, operator, pattern.expr)))
}

/// LIKE ... ESCAPE: a constant pattern with backslashes.
fn escaped(_: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [pattern, escape] = take(arguments)?;
    let (Some(pattern), Some(escape)) = (pattern.text(), escape.text()) else {
        return missing("ESCAPE of a computed pattern");
    };
    let mut characters = escape.chars();
    let with_backslash = match (characters.next(), characters.next()) {
        (None, _) => pattern.replace('\\', "\\\\"),
        (Some(escape), None) => with_backslashes(pattern, escape),
        _ => return missing("an escape string of several characters"),
    };
    Ok(Typed::constant(ScalarValue::Utf8View(Some(with_backslash)), sql_type))
}
