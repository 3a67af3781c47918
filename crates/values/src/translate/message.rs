//! Errors of the engine that only their messages distinguish.

use super::{casts, range, rules, type_names, unmatched};
use crate::error::{Error, SqlState};

/// Translates an engine message by the first module that recognizes it.
pub(super) fn from_text(message: &str) -> Error {
    let message = plain(message);
    casts::of_text(&message)
        .or_else(|| unmatched::of_text(&message))
        .or_else(|| range::of_text(&message))
        .or_else(|| rules::of_text(&message))
        .unwrap_or_else(|| Error::new(state_of(&message), cleaned(&message)))
}

/// The SQLSTATE of a message that no rule recognizes.
fn state_of(message: &str) -> SqlState {
    let says = |text: &str| message.contains(text);
    if says("function '") {
        SqlState::UndefinedFunction
    } else if says("GROUP BY") || says("aggregate") && says("must") {
        SqlState::GroupingError
    } else if says("not found") && says("able '") {
        SqlState::UndefinedTable
    } else if says("verflow") || says("out of range") {
        SqlState::NumericValueOutOfRange
    } else if says("laceholder") {
        SqlState::UndefinedParameter
    } else if says("coerce") || says("ype mismatch") || says("common type") {
        SqlState::DatatypeMismatch
    } else if says("not supported") || says("nsupported") || says("not implemented") {
        SqlState::FeatureNotSupported
    } else if says("Error parsing timestamp") {
        SqlState::InvalidDatetimeFormat
    } else if says("No such file") || says("does not exist") {
        SqlState::UndefinedFile
    } else {
        SqlState::DataException
    }
}

/// A message without the engine's prefixes and the final period.
fn plain(message: &str) -> String {
    const BEFORE: [&str; 8] = [
        "Error during planning: ",
        "Execution error: ",
        "Internal error: ",
        "Compute error: ",
        "Arrow error: ",
        "Invalid argument error: ",
        "This feature is not implemented: ",
        "External error: ",
    ];
    let mut message = message;
    while let Some(rest) = BEFORE.iter().find_map(|lead| message.strip_prefix(lead)) {
        message = rest;
    }
    message.trim_end_matches('.').to_owned()
}

/// A message that no rule recognizes, with PostgreSQL's type names and without engine internals.
fn cleaned(message: &str) -> String {
    let (message, _) =
        message.split_once("\nThis issue was likely caused").unwrap_or((message, ""));
    let insides = message.find(" { ").map(|at| message[..at].rfind([':', ',', '(']).unwrap_or(at));
    type_names::replaced(message[..insides.unwrap_or(message.len())].trim())
}
