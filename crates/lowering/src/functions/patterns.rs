//! LIKE and regular expressions.

use super::{Make, Table, take};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::Oid;
use datafusion::logical_expr::expr::Like;
use datafusion::logical_expr::{Expr, Operator, binary_expr};

pub(super) const TABLE: Table = &[
    (
        "~~(text,text) ~~(bpchar,text) ~~(name,text) like(text,text) like(name,text)",
        Make::Own(|of, args, _| like(of, args, false, false)),
    ),
    (
        "!~~(text,text) !~~(bpchar,text) !~~(name,text) notlike(text,text) notlike(name,text)",
        Make::Own(|of, args, _| like(of, args, true, false)),
    ),
    (
        "~~*(text,text) ~~*(bpchar,text) ~~*(name,text)",
        Make::Own(|of, args, _| like(of, args, false, true)),
    ),
    (
        "!~~*(text,text) !~~*(bpchar,text) !~~*(name,text)",
        Make::Own(|of, args, _| like(of, args, true, true)),
    ),
    (
        "~(text,text) ~(bpchar,text) ~(name,text)",
        Make::Own(|of, args, _| regex(of, args, Operator::RegexMatch)),
    ),
    (
        "~*(text,text) ~*(bpchar,text) ~*(name,text)",
        Make::Own(|of, args, _| regex(of, args, Operator::RegexIMatch)),
    ),
    (
        "!~(text,text) !~(bpchar,text) !~(name,text)",
        Make::Own(|of, args, _| regex(of, args, Operator::RegexNotMatch)),
    ),
    (
        "!~*(text,text) !~*(bpchar,text) !~*(name,text)",
        Make::Own(|of, args, _| regex(of, args, Operator::RegexNotIMatch)),
    ),
    ("~~(bytea,bytea) like(bytea,bytea)", Make::Named("bytes_like")),
    (
        "!~~(bytea,bytea) notlike(bytea,bytea)",
        Make::Own(|of, args, to| Ok(not(of.registered("bytes_like", args, to)?))),
    ),
    ("like_escape(text,text)", Make::Named("pattern_escaped_by")),
    ("like_escape(bytea,bytea)", Make::Own(|_, _, _| missing("LIKE ESCAPE of bytea"))),
    ("substring(text,text) substring(text,text,text)", Make::Named("substr")),
];

/// LIKE. A constant pattern is the engine's; others may end with an escape, which is an error where a text gets there.
fn like(
    lowering: &Lowering<'_>,
    arguments: Vec<Typed>,
    negated: bool,
    case_insensitive: bool,
) -> Result<Typed> {
    let [value, pattern] = take(arguments)?;
    let value = lowering.padded(value)?.named(Oid::TEXT.into());
    if pattern.text().is_some_and(|pattern| !ends_with_escape(pattern)) || pattern.is_null() {
        let (expr, pattern) = (Box::new(value.expr), Box::new(pattern.expr));
        let like = Like::new(negated, expr, pattern, None, case_insensitive);
        return Ok(Typed::boolean(Expr::Like(like)));
    }
    let mut operands = vec![value, pattern];
    if case_insensitive {
        let lower = operands.into_iter();
        let lower = lower.map(|text| lowering.registered("lower", vec![text], Oid::TEXT.into()));
        operands = lower.collect::<Result<_>>()?;
    }
    let found = lowering.registered("text_like", operands, Oid::BOOL.into())?;
    Ok(if negated { not(found) } else { found })
}

fn not(condition: Typed) -> Typed {
    Typed::boolean(Expr::Not(Box::new(condition.expr)))
}

/// Whether the last character of a pattern is a backslash that escapes nothing.
fn ends_with_escape(pattern: &str) -> bool {
    let backslashes = pattern.len() - pattern.trim_end_matches('\\').len();
    backslashes % 2 == 1
}

fn regex(lowering: &Lowering<'_>, arguments: Vec<Typed>, operator: Operator) -> Result<Typed> {
    let [value, pattern] = take(arguments)?;
    let value = lowering.padded(value)?;
    Ok(Typed::boolean(binary_expr(value.expr, operator, pattern.expr)))
}
