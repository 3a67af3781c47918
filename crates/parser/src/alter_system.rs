//! ALTER SYSTEM: settings that apply to all servers of a cluster.

use super::names::fold;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

/// `ALTER SYSTEM SET name = value` or `ALTER SYSTEM RESET name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterSystem {
    /// The name of the setting, in lower case.
    pub name: String,
    /// The new value; `None` restores the default.
    pub value: Option<String>,
}

/// Parses ALTER SYSTEM. Returns `None` without consuming tokens if the statement is another one.
///
/// # Errors
/// A syntax error after `ALTER SYSTEM`.
pub(super) fn parse(parser: &mut Parser<'_>) -> Result<Option<AlterSystem>, ParserError> {
    if !parser.parse_keywords(&[Keyword::ALTER, Keyword::SYSTEM]) {
        return Ok(None);
    }
    if parser.parse_keyword(Keyword::RESET) {
        return Ok(Some(AlterSystem { name: name(parser)?, value: None }));
    }
    parser.expect_keyword(Keyword::SET)?;
    let name = name(parser)?;
    if !parser.consume_token(&Token::Eq) {
        parser.expect_keyword(Keyword::TO)?;
    }
    let token = parser.next_token();
    let value = match &token.token {
        Token::Word(word) if word.keyword == Keyword::DEFAULT => None,
        Token::Word(word) => Some(word.value.clone()),
        Token::SingleQuotedString(text) => Some(text.clone()),
        Token::Number(number, _) => Some(number.clone()),
        _ => return parser.expected("a value", token),
    };
    Ok(Some(AlterSystem { name, value }))
}

fn name(parser: &mut Parser<'_>) -> Result<String, ParserError> {
    let name = parser.parse_object_name(false)?;
    let parts = name.0.iter().filter_map(|part| part.as_ident());
    Ok(parts.map(|ident| fold(ident).to_lowercase()).collect::<Vec<_>>().join("."))
}
