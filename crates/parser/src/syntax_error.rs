//! Syntax errors in PostgreSQL's wording: `syntax error at or near "x"`, with the position.
//!
//! The SQL parser reports what it expected and where. The location becomes the position of the
//! error, the expectation its hint.

use crate::nesting;
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::{Location, TokenWithSpan, TokenizerError};
use values::error::{Error, SqlState};
use values::lines::Lines;

/// Converts an error of the SQL parser. `tokens` are the tokens of `text`.
pub(super) fn of_parser(error: ParserError, text: &str, tokens: &[TokenWithSpan]) -> Error {
    let message = match error {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message,
        ParserError::RecursionLimitExceeded => return nesting::unparsable(),
    };
    let (message, location) = split_location(message);
    let Some((expected, found)) = message
        .strip_prefix("Expected: ")
        .and_then(|message| message.rsplit_once(", found: "))
        .map(|(expected, found)| (expected.to_owned(), found.to_owned()))
    else {
        let error = Error::new(SqlState::SyntaxError, message);
        let lines = Lines::new(text);
        return match location {
            Some(location) => error.at(lines.character(location) + 1),
            None => error,
        };
    };
    let token = location.and_then(|place| tokens.iter().find(|token| token.span.start == place));
    let error = match token {
        Some(token) if found != "EOF" => {
            let lines = Lines::new(text);
            let (from, to) = (lines.character(token.span.start), lines.character(token.span.end));
            near(text, from, to)
        }
        _ => at_end(text),
    };
    match expected.as_str() {
        "end of statement" => error,
        _ => error.with_hint(format!("Expected {expected}.")),
    }
}

/// Converts an error of the tokenizer, such as an unterminated string.
pub(super) fn of_tokenizer(error: &TokenizerError, text: &str) -> Error {
    let mentions = |what: &str| error.message.contains(what);
    let place = Lines::new(text).character(error.location);
    let (what, from) = if mentions("nterminated dollar-quoted") {
        let end = text.rfind('$').and_then(|last| text[..last].rfind('$'));
        ("unterminated dollar-quoted string", end.map(|byte| characters(&text[..byte])))
    } else if mentions("multi-line comment") {
        ("unterminated /* comment", text.rfind("/*").map(|byte| characters(&text[..byte])))
    } else if mentions("close delimiter") {
        ("unterminated quoted identifier", Some(place))
    } else if mentions("nterminated") {
        ("unterminated quoted string", Some(place))
    } else {
        return Error::new(SqlState::SyntaxError, lowered(&error.message)).at(place + 1);
    };
    let from = from.unwrap_or(place);
    let rest: String = text.chars().skip(from).collect();
    Error::new(SqlState::SyntaxError, format!("{what} at or near \"{rest}\"")).at(from + 1)
}

/// A syntax error at the text between two character offsets.
fn near(text: &str, from: usize, to: usize) -> Error {
    let token: String = text.chars().skip(from).take(to.saturating_sub(from)).collect();
    Error::new(SqlState::SyntaxError, format!("syntax error at or near \"{token}\"")).at(from + 1)
}

/// A syntax error at the end of the text.
fn at_end(text: &str) -> Error {
    let end = Lines::new(text).characters();
    Error::new(SqlState::SyntaxError, "syntax error at end of input").at(end + 1)
}

fn characters(text: &str) -> usize {
    text.chars().count()
}

/// The message with a lower-case first letter, as in PostgreSQL.
fn lowered(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// Splits off the location that the SQL parser appends to its messages
/// (`... at Line: 1, Column: 8`).
fn split_location(message: String) -> (String, Option<Location>) {
    let parsed = message.rsplit_once(" at Line: ").and_then(|(text, place)| {
        let (line, column) = place.split_once(", Column: ")?;
        let location = Location { line: line.parse().ok()?, column: column.parse().ok()? };
        Some((text.to_owned(), location))
    });
    match parsed {
        Some((text, location)) => (text, Some(location)),
        None => (message, None),
    }
}
