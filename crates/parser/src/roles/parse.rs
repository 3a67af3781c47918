//! Recognizes statements about roles by their first words.

use super::RoleStatement;
use super::define::{alter, create, drop_roles};
use super::grant::grant_or_revoke;
use super::owner::{drop_owned, owner, reassign};
use super::words::{Parsed, skip, take_word};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

/// Parses a statement about roles. Returns `None` without consuming tokens if the statement is
/// another one.
pub(crate) fn parse(parser: &mut Parser<'_>) -> Parsed<Option<RoleStatement>> {
    let start = parser.index();
    let first = parser.next_token();
    let statement = match keyword(&first) {
        Some(Keyword::CREATE) if take_role_word(parser) => create(parser).map(Some),
        Some(Keyword::DROP) if take_role_word(parser) => drop_roles(parser).map(Some),
        Some(Keyword::ALTER) if take_role_word(parser) => alter(parser).map(Some),
        Some(Keyword::ALTER) if take_word(parser, "DEFAULT") => {
            skip(parser);
            Ok(Some(RoleStatement::Unsupported("ALTER DEFAULT PRIVILEGES")))
        }
        Some(Keyword::ALTER) => owner(parser),
        Some(Keyword::DROP) => drop_owned(parser),
        _ if is_word(&first, "reassign") => reassign(parser),
        Some(Keyword::GRANT) => grant_or_revoke(parser, false).map(Some),
        Some(Keyword::REVOKE) => grant_or_revoke(parser, true).map(Some),
        _ => Ok(None),
    };
    if let Ok(None) = statement {
        while parser.index() > start {
            parser.prev_token();
        }
    }
    statement
}

fn keyword(token: &TokenWithSpan) -> Option<Keyword> {
    match &token.token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.keyword),
        _ => None,
    }
}

fn is_word(token: &TokenWithSpan, wanted: &str) -> bool {
    matches!(&token.token, Token::Word(word)
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted))
}

/// Consumes ROLE, GROUP or USER.
fn take_role_word(parser: &mut Parser<'_>) -> bool {
    take_word(parser, "ROLE") || take_word(parser, "GROUP") || {
        // USER MAPPING belongs to foreign data wrappers.
        let mapping = matches!(&parser.peek_nth_token(1).token,
            Token::Word(word) if word.value.eq_ignore_ascii_case("mapping"));
        !mapping && take_word(parser, "USER")
    }
}
