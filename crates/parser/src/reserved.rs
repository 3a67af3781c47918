//! Reserved words of PostgreSQL.
//!
//! The SQL parser accepts some of them as names: `SELECT FROM WHERE` would read a table `where`.

use crate::walk::{visit_expressions, visit_relations};
use datafusion::sql::sqlparser::ast::{Expr, Ident, Statement};
use std::ops::ControlFlow;

/// PostgreSQL's reserved words, sorted. None of them is a name unless it is quoted.
pub const RESERVED: [&str; 77] = [
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "constraint",
    "create",
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "from",
    "grant",
    "group",
    "having",
    "in",
    "initially",
    "intersect",
    "into",
    "lateral",
    "leading",
    "limit",
    "localtime",
    "localtimestamp",
    "not",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "placing",
    "primary",
    "references",
    "returning",
    "select",
    "session_user",
    "some",
    "symmetric",
    "table",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "when",
    "where",
    "window",
    "with",
];

/// Reserved words that are functions or values.
const VALUES: [&str; 13] = [
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "false",
    "localtime",
    "localtimestamp",
    "session_user",
    "true",
    "user",
];

/// The first unquoted reserved word that is used as the name of a table or a column.
pub(super) fn used_as_name(ast: &Statement) -> Option<Ident> {
    let is_reserved = |ident: &&Ident| {
        let is_of =
            |words: &[&str]| words.iter().any(|word| ident.value.eq_ignore_ascii_case(word));
        ident.quote_style.is_none() && is_of(&RESERVED) && !is_of(&VALUES)
    };
    let found = |ident: Option<&Ident>| match ident.filter(is_reserved) {
        Some(ident) => ControlFlow::Break(ident.clone()),
        None => ControlFlow::Continue(()),
    };
    let in_relations = visit_relations(ast, |name| {
        found(name.0.iter().find_map(|part| part.as_ident().filter(is_reserved)))
    });
    // `SET x = on`: the only reserved word that is the value of a setting.
    let is_setting =
        |ident: &Ident| matches!(ast, Statement::Set(_)) && ident.value.eq_ignore_ascii_case("on");
    let in_expressions = || {
        visit_expressions(ast, |expr| match expr {
            Expr::Identifier(ident) if !is_setting(ident) => found(Some(ident)),
            _ => ControlFlow::Continue(()),
        })
    };
    in_relations.break_value().or_else(|| in_expressions().break_value())
}
