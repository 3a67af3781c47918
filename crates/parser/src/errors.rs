//! Errors of the grammar and of the analyzer as errors of statements.

use crate::statement::Statement;
use grammar::SyntaxError;
use values::error::{Error, SqlState};

/// An error of the grammar. It does not tell its SQLSTATE, but the grammar has few errors that are none of the syntax.
pub(crate) fn of_grammar(error: &SyntaxError) -> Error {
    let message = match error.is_depth() {
        true => "stack depth limit exceeded",
        false => error.message.as_str(),
    };
    let converted = Error::new(state_of(error), message);
    let hint = if message.starts_with("UNENCRYPTED PASSWORD") {
        Some("Remove UNENCRYPTED to store the password in encrypted form instead.")
    } else if message.starts_with("LIMIT #,#") {
        Some("Use separate LIMIT and OFFSET clauses.")
    } else {
        None
    };
    let converted = match hint {
        Some(hint) => converted.with_hint(hint),
        None => converted,
    };
    match error.position {
        Some(position) => converted.at(position),
        None => converted,
    }
}

fn state_of(error: &SyntaxError) -> SqlState {
    let message = error.message.as_str();
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if error.is_depth() {
        SqlState::StatementTooComplex
    } else if message.starts_with("syntax error") || message.starts_with("LIMIT #,#") {
        SqlState::SyntaxError
    } else if message.starts_with("invalid byte sequence") {
        SqlState::CharacterNotInRepertoire
    } else if message.starts_with("role name \"") || says(&["cannot be used as a role name here"]) {
        SqlState::ReservedName
    } else if message.starts_with("frame ") {
        SqlState::WindowingError
    } else if says(&["precision for type float", "column number must be", "JSON encoding"]) {
        SqlState::InvalidParameterValue
    } else if says(&[
        "current database cannot be changed",
        "cannot include schema elements",
        "cannot have output arguments",
        "not yet implemented",
        "is not implemented",
        "is not supported",
        "not supported on",
        "no longer supported",
        "only supported for",
        "constraints cannot be altered",
        "only string constants are supported",
    ]) {
        SqlState::FeatureNotSupported
    } else {
        SqlState::SyntaxError
    }
}

/// An error with a byte position in `text`, as one with a position in characters.
pub fn of_analyzer(error: analyzer::Error, text: &str) -> Error {
    let state = SqlState::of_code(error.state).unwrap_or(SqlState::InternalError);
    let mut converted = Error::new(state, error.message);
    if let Some(byte) = error.position {
        converted = at_byte(converted, byte, text);
    }
    if let Some(detail) = error.detail {
        converted = converted.with_detail(detail);
    }
    if let Some(hint) = error.hint {
        converted = converted.with_hint(hint);
    }
    converted
}

/// The error of a statement, at the quoted constant that it is about. Errors of definitions have no position.
pub fn at_literal(error: Error, statement: &Statement) -> Error {
    let Some(literal) = error.literal().filter(|_| error.position().is_none()) else {
        return error;
    };
    let rows = statement.query().or_else(|| statement.source()).or_else(|| statement.change());
    let place = rows.and_then(|rows| grammar::string_location(rows, literal));
    match place {
        Some(byte) => at_byte(error, byte, &statement.text),
        None => error,
    }
}

/// An error at a location of the parse tree of `text`. Negative locations are unknown.
pub fn at(error: Error, location: i32, text: &str) -> Error {
    match usize::try_from(location) {
        Ok(byte) => at_byte(error, byte, text),
        Err(_) => error,
    }
}

/// The error, at a byte of the statement whose text is `text`.
pub fn at_byte(error: Error, byte: usize, text: &str) -> Error {
    match text.get(..byte) {
        Some(before) => error.at(before.chars().count() + 1),
        None => error,
    }
}
