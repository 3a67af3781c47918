//! What cannot be parsed, in PostgreSQL's words: `syntax error at or near "x"`, with the place.
//!
//! The parser says what it expected and where. Where becomes the position; what was expected is a hint.

use super::{Lines, RECURSION_LIMIT};
use crate::values::error::{Error, SqlState};
use datafusion::sql::sqlparser::ast::Ident;
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::{Location, TokenWithSpan, TokenizerError};

/// An error of the parser on a text with these tokens.
pub(super) fn of_parser(error: ParserError, text: &str, tokens: &[TokenWithSpan]) -> Error {
    let message = match error {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message,
        ParserError::RecursionLimitExceeded => {
            let message = format!("statement nests deeper than {RECURSION_LIMIT} levels");
            return Error::new(SqlState::ProgramLimitExceeded, message);
        }
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

/// A word that stands where it has no meaning.
pub(super) fn at_word(word: Ident, text: &str) -> Error {
    let lines = Lines::new(text);
    near(text, lines.character(word.span.start), lines.character(word.span.end))
}

/// An error of the tokenizer: something is opened and not closed, or written wrongly.
pub(super) fn of_tokenizer(error: &TokenizerError, text: &str) -> Error {
    let says = |what: &str| error.message.contains(what);
    let place = Lines::new(text).character(error.location);
    let (what, from) = if says("nterminated dollar-quoted") {
        let end = text.rfind('$').and_then(|last| text[..last].rfind('$'));
        ("unterminated dollar-quoted string", end.map(|byte| characters(&text[..byte])))
    } else if says("multi-line comment") {
        ("unterminated /* comment", text.rfind("/*").map(|byte| characters(&text[..byte])))
    } else if says("close delimiter") {
        ("unterminated quoted identifier", Some(place))
    } else if says("nterminated") {
        ("unterminated quoted string", Some(place))
    } else {
        return Error::new(SqlState::SyntaxError, lowered(&error.message)).at(place + 1);
    };
    let from = from.unwrap_or(place);
    let rest: String = text.chars().skip(from).collect();
    Error::new(SqlState::SyntaxError, format!("{what} at or near \"{rest}\"")).at(from + 1)
}

/// The text between two characters means nothing there.
fn near(text: &str, from: usize, to: usize) -> Error {
    let token: String = text.chars().skip(from).take(to.saturating_sub(from)).collect();
    Error::new(SqlState::SyntaxError, format!("syntax error at or near \"{token}\"")).at(from + 1)
}

/// Something is missing at the end.
fn at_end(text: &str) -> Error {
    let end = Lines::new(text).characters();
    Error::new(SqlState::SyntaxError, "syntax error at end of input").at(end + 1)
}

fn characters(text: &str) -> usize {
    text.chars().count()
}

/// PostgreSQL's messages begin with a small letter.
fn lowered(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// The parser writes the place into the message (`... at Line: 1, Column: 8`); this takes it out again.
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

#[cfg(test)]
mod tests {
    use crate::parser::parse;

    fn refused(text: &str) -> (String, Option<usize>) {
        let error = parse(text).expect_err("refused");
        (error.message().to_owned(), error.position())
    }

    #[test]
    fn errors_are_near_the_word_that_does_not_fit() {
        for (text, message, position) in [
            ("SELECT 1 FRM x y", "syntax error at or near \"x\"", 14),
            ("SELECT 'a' FROM t WHERE 'ü' 'x'", "syntax error at or near \"'x'\"", 29),
            ("SELECT 1 FROM", "syntax error at end of input", 14),
            ("SELECT FROM WHERE", "syntax error at or near \"WHERE\"", 13),
            ("SELECT 'abc", "unterminated quoted string at or near \"'abc\"", 8),
            ("SELECT 1 /* abc", "unterminated /* comment at or near \"/* abc\"", 10),
            ("SELECT $x$abc", "unterminated dollar-quoted string at or near \"$x$abc\"", 8),
        ] {
            assert_eq!(refused(text), (message.to_owned(), Some(position)), "{text}");
        }
    }

    #[test]
    fn what_was_expected_is_a_hint() {
        let error = parse("SELECT 1 +").expect_err("refused");
        assert_eq!(error.hint(), Some("Expected an expression."));
    }
}
