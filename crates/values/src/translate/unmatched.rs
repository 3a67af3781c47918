//! Functions and operators that do not accept the types of their arguments:
//! `function f(integer) does not exist`, `operator does not exist: integer + text`.

use super::type_names;
use crate::error::{Error, SqlState};

const FUNCTION_HINT: &str = "No function matches the given name and argument types. \
                             You might need to add explicit type casts.";
const OPERATOR_HINT: &str = "No operator matches the given name and argument types. \
                             You might need to add explicit type casts.";

/// Engine messages that end with two types and the operator between them.
const BETWEEN_TYPES: [&str; 6] = [
    "Cannot coerce arithmetic expression ",
    "Cannot infer common argument type for comparison operation ",
    "Cannot infer common argument type for logical boolean operation ",
    "Cannot infer common argument type for regex operation ",
    "Cannot infer common string type for string concat operation ",
    "Cannot get result type for temporal operation ",
];

/// Engine messages that end with the type of an argument; the clause, and the type it requires.
const ARGUMENTS: [(&str, &str, &str); 5] = [
    ("' returning ", "WHERE", "boolean"),
    ("Join condition must be boolean type, but got ", "JOIN/ON", "boolean"),
    ("Unary operator 'NOT' requires a boolean expression, got ", "NOT", "boolean"),
    ("Expected LIMIT to be an integer or null, but got ", "LIMIT", "bigint"),
    ("Expected OFFSET to be an integer or null, but got ", "OFFSET", "bigint"),
];

/// The error for a function that does not exist for these argument types.
pub fn function(name: &str, types: &[String]) -> Error {
    let message = format!("function {name}({}) does not exist", types.join(", "));
    Error::new(SqlState::UndefinedFunction, message).with_hint(FUNCTION_HINT)
}

/// The error for an operator that does not exist for these operand types.
fn operator(left: &str, operator: &str, right: &str) -> Error {
    let message = format!("operator does not exist: {left} {operator} {right}");
    Error::new(SqlState::UndefinedFunction, message).with_hint(OPERATOR_HINT)
}

/// The error for an argument of WHERE or a similar clause that has the wrong type.
fn argument(of: &str, needed: &str, given: &str) -> Error {
    let message = format!("argument of {of} must be type {needed}, not type {given}");
    Error::new(SqlState::DatatypeMismatch, message)
}

/// The error for types without a common type: `CASE types integer and boolean cannot be matched`.
pub(super) fn mixed(what: &str, one: &str, other: &str) -> Error {
    let message = format!("{what} types {one} and {other} cannot be matched");
    Error::new(SqlState::DatatypeMismatch, message)
}

/// Translates a message about a function or an operator.
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

/// Translates a message about a call. The engine implements some PostgreSQL syntax by function calls.
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

/// Translates `Int64 + Utf8 to valid types`.
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
    fn engine_messages_become_postgresqls() {
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
