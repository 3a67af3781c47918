//! Functions and operators that do not take what they are given: `function f(integer) does not exist`,
//! `operator does not exist: integer + text`.

use super::type_names;
use crate::values::error::{Culprit, Error, SqlState};

const FUNCTION_HINT: &str = "No function matches the given name and argument types. \
                             You might need to add explicit type casts.";
const OPERATOR_HINT: &str = "No operator matches the given name and argument types. \
                             You might need to add explicit type casts.";

/// What the engine says of two types and the operator between them, before them.
const BETWEEN_TYPES: [&str; 6] = [
    "Cannot coerce arithmetic expression ",
    "Cannot infer common argument type for comparison operation ",
    "Cannot infer common argument type for logical boolean operation ",
    "Cannot infer common argument type for regex operation ",
    "Cannot infer common string type for string concat operation ",
    "Cannot get result type for temporal operation ",
];

/// What the engine says before the type that an argument has, whose argument it is, and what it should be.
const ARGUMENTS: [(&str, &str, &str); 5] = [
    ("' returning ", "WHERE", "boolean"),
    ("Join condition must be boolean type, but got ", "JOIN/ON", "boolean"),
    ("Unary operator 'NOT' requires a boolean expression, got ", "NOT", "boolean"),
    ("Expected LIMIT to be an integer or null, but got ", "LIMIT", "bigint"),
    ("Expected OFFSET to be an integer or null, but got ", "OFFSET", "bigint"),
];

/// No function of a name takes these types.
pub(crate) fn function(name: &str, types: &[String]) -> Error {
    let message = format!("function {name}({}) does not exist", types.join(", "));
    Error::new(SqlState::UndefinedFunction, message)
        .with_hint(FUNCTION_HINT)
        .blaming(Culprit::Call { name: name.to_owned(), types: types.to_vec() })
}

/// No operator stands between these types.
pub(crate) fn operator(left: &str, operator: &str, right: &str) -> Error {
    let types = [left.to_owned(), right.to_owned()];
    Error::new(
        SqlState::UndefinedFunction,
        format!("operator does not exist: {left} {operator} {right}"),
    )
    .with_hint(OPERATOR_HINT)
    .blaming(Culprit::Operator { operator: operator.to_owned(), types })
}

/// WHERE and its like are given something of another type than they take.
pub(crate) fn argument(of: &str, needed: &str, given: &str) -> Error {
    let message = format!("argument of {of} must be type {needed}, not type {given}");
    Error::new(SqlState::DatatypeMismatch, message).blaming(Culprit::Argument {
        of: of.to_owned(),
        needed: needed.to_owned(),
        given: given.to_owned(),
    })
}

/// Types that should be one and are not: `CASE types integer and boolean cannot be matched`.
pub(super) fn mixed(what: &str, one: &str, other: &str) -> Error {
    let message = format!("{what} types {one} and {other} cannot be matched");
    Error::new(SqlState::DatatypeMismatch, message)
}

/// What a message says of a function or an operator, in PostgreSQL's words.
pub(super) fn of_text(message: &str) -> Option<Error> {
    if let Some((_, call)) = message.split_once("the given name and argument types '") {
        let (name, types) = call.split_once('(')?;
        let end = types.find(")'").unwrap_or(types.len());
        return Some(of_call(name, &type_names::list(&types[..end])));
    }
    for (lead, of, needed) in ARGUMENTS {
        if let Some((_, rest)) = message.split_once(lead) {
            return Some(argument(of, needed, &type_names::of(type_names::split(rest).0)));
        }
    }
    for lead in BETWEEN_TYPES {
        if let Some((_, rest)) = message.split_once(lead) {
            return of_operation(rest);
        }
    }
    if let Some((_, rest)) = message.split_once("There isn't a common type to coerce ") {
        let (left, rest) = type_names::split(rest);
        let (right, _) = type_names::split(rest.strip_prefix(" and ")?);
        return Some(operator(&type_names::of(left), "~~", &type_names::of(right)));
    }
    if let Some((_, rest)) = message.split_once("Can not find compatible types to compare ") {
        let (left, rest) = type_names::split(rest);
        let others = type_names::list(rest.strip_prefix(" with [")?.trim_end_matches(']'));
        return Some(operator(&type_names::of(left), "=", others.first()?));
    }
    let (_, rest) = message.split_once("Failed to coerce types ")?;
    let (left, rest) = type_names::split(rest);
    let (right, _) = type_names::split(rest.strip_prefix(" and ")?);
    Some(operator(&type_names::of(left), ">=", &type_names::of(right)))
}

/// A call that the engine makes of something that PostgreSQL writes otherwise, or an ordinary one.
fn of_call(name: &str, types: &[String]) -> Error {
    let mismatch = |message: String| Error::new(SqlState::DatatypeMismatch, message);
    match (name, types) {
        ("make_array", [one, other, ..]) => mixed("ARRAY", one, other),
        ("coalesce" | "greatest" | "least", [one, .., other]) => {
            mixed(&name.to_uppercase(), one, other)
        }
        ("array_element", [subscripted, ..]) => mismatch(format!(
            "cannot subscript type {subscripted} because it does not support subscripting"
        )),
        ("array_has", _) => {
            Error::new(SqlState::WrongObjectType, "op ANY/ALL (array) requires array on right side")
        }
        _ => function(name, types),
    }
}

/// `Int64 + Utf8 to valid types`
fn of_operation(text: &str) -> Option<Error> {
    let (left, rest) = type_names::split(text);
    let (symbol, rest) = match rest.strip_prefix(" IS DISTINCT FROM ") {
        Some(rest) => ("=", rest),
        None => rest.strip_prefix(' ')?.split_once(' ')?,
    };
    let (right, _) = type_names::split(rest);
    let (left, right) = (type_names::of(left), type_names::of(right));
    if !matches!(symbol, "AND" | "OR") {
        return Some(operator(&left, symbol, &right));
    }
    let wrong = if left == "boolean" { right } else { left };
    Some(argument(symbol, "boolean", &wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engines_words_become_postgresqls() {
        for (text, message) in [
            (
                "Function 'lower' requires String, but received Int64 (DataType: Int64).. No function matches the given \
                 name and argument types 'lower(Int64)'. You might need to add explicit type casts.",
                "function lower(bigint) does not exist",
            ),
            (
                "Cannot coerce arithmetic expression Int32 + Utf8View to valid types",
                "operator does not exist: integer + text",
            ),
            (
                "Cannot infer common argument type for logical boolean operation Int64 AND Boolean",
                "argument of AND must be type boolean, not type bigint",
            ),
            (
                "Can not find compatible types to compare Int32 with [Boolean]",
                "operator does not exist: integer = boolean",
            ),
        ] {
            let error = of_text(text);
            assert_eq!(error.as_ref().map(Error::message), Some(message));
        }
    }
}
