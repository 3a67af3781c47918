//! Words and names that the statements about roles consist of.

use super::RoleName;
use crate::names::fold;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

pub(super) type Parsed<T> = Result<T, ParserError>;

/// The next token in upper case, if it is an unquoted word.
pub(super) fn peek_word(parser: &Parser<'_>) -> Option<String> {
    match parser.peek_token().token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
        _ => None,
    }
}

/// Consumes a word if it is the next token.
pub(super) fn take_word(parser: &mut Parser<'_>, wanted: &str) -> bool {
    let found = peek_word(parser).is_some_and(|word| word == wanted);
    if found {
        parser.next_token();
    }
    found
}

/// Consumes a word.
///
/// # Errors
/// A syntax error if the next token is another one.
pub(super) fn expect_word(parser: &mut Parser<'_>, wanted: &str) -> Parsed<()> {
    if take_word(parser, wanted) {
        return Ok(());
    }
    parser.expected(wanted, parser.peek_token())
}

/// A name.
pub(super) fn identifier(parser: &mut Parser<'_>) -> Parsed<String> {
    parser.parse_identifier().map(|ident| fold(&ident))
}

/// Names, separated by commas.
pub(super) fn identifiers(parser: &mut Parser<'_>) -> Parsed<Vec<String>> {
    parser.parse_comma_separated(identifier)
}

/// The name of a role, or CURRENT_USER and the like.
pub(super) fn role_name(parser: &mut Parser<'_>) -> Parsed<RoleName> {
    let ident = parser.parse_identifier()?;
    let name = fold(&ident);
    Ok(match (ident.quote_style, name.as_str()) {
        (None, "public") => RoleName::Public,
        (None, "current_user" | "current_role") => RoleName::Current,
        (None, "session_user") => RoleName::Session,
        _ => RoleName::Named(name),
    })
}

/// Consumes the rest of the statement.
pub(super) fn skip(parser: &mut Parser<'_>) {
    while parser.peek_token().token != Token::EOF {
        parser.next_token();
    }
}
