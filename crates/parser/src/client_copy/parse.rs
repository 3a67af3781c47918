//! Parses COPY with the client.
//!
//! The SQL parser lacks some of its options and expects the data in the text of the statement.

use super::options::{Given, Options};
use super::{ClientCopy, What};
use crate::syntax_error::ParseError;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

/// Parses COPY FROM STDIN and COPY TO STDOUT. Returns `None` without consuming tokens if the
/// statement is another one.
pub(crate) fn parse(parser: &mut Parser<'_>) -> Result<Option<ClientCopy>, ParseError> {
    let start = parser.index();
    if !parser.parse_keyword(Keyword::COPY) {
        return Ok(None);
    }
    match client_copy(parser) {
        Ok(Some(copy)) => Ok(Some(copy)),
        Ok(None) => {
            while parser.index() > start {
                parser.prev_token();
            }
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn client_copy(parser: &mut Parser<'_>) -> Result<Option<ClientCopy>, ParseError> {
    let (table, columns, query) = if parser.consume_token(&Token::LParen) {
        let query = parser.parse_query()?;
        parser.expect_token(&Token::RParen)?;
        (None, Vec::new(), Some(query))
    } else {
        let table = parser.parse_object_name(false)?;
        let columns = if parser.consume_token(&Token::LParen) {
            let columns = parser.parse_comma_separated(Parser::parse_identifier)?;
            parser.expect_token(&Token::RParen)?;
            columns
        } else {
            Vec::new()
        };
        (Some(table), columns, None)
    };
    let out = match parser.parse_one_of_keywords(&[Keyword::FROM, Keyword::TO]) {
        Some(Keyword::TO) => true,
        Some(_) => false,
        None => return Ok(None),
    };
    if parser.parse_one_of_keywords(&[Keyword::STDIN, Keyword::STDOUT]).is_none() {
        return Ok(None);
    }
    let given = options(parser)?;
    let options = Options::of(&given).map_err(ParseError::Invalid)?;
    let what = match (out, table, query) {
        (true, _, Some(query)) => What::Out { query },
        (true, Some(table), None) => What::OutOf { table, columns },
        (false, Some(table), _) => What::In { table, columns },
        _ => return Ok(parser.expected("TO", parser.peek_token())?),
    };
    Ok(Some(ClientCopy { what, options }))
}

/// `WITH (FORMAT csv, HEADER)`, or the older `WITH CSV HEADER DELIMITER ';'`.
fn options(parser: &mut Parser<'_>) -> Result<Vec<Given>, ParserError> {
    let _ = parser.parse_keyword(Keyword::WITH);
    if !parser.consume_token(&Token::LParen) {
        return old_options(parser);
    }
    let mut given = Vec::new();
    loop {
        let name = word(parser)?.to_lowercase();
        let mut words = Vec::new();
        if parser.consume_token(&Token::LParen) {
            loop {
                words.push(word(parser)?);
                if !parser.consume_token(&Token::Comma) {
                    break;
                }
            }
            parser.expect_token(&Token::RParen)?;
        } else if !matches!(parser.peek_token().token, Token::Comma | Token::RParen) {
            words.push(word(parser)?);
        }
        given.push((name, words));
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    parser.expect_token(&Token::RParen)?;
    Ok(given)
}

/// The options without parentheses.
fn old_options(parser: &mut Parser<'_>) -> Result<Vec<Given>, ParserError> {
    let mut given: Vec<Given> = Vec::new();
    while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
        let name = word(parser)?.to_lowercase();
        match name.as_str() {
            "csv" | "binary" => given.push(("format".to_owned(), vec![name])),
            "header" | "freeze" => given.push((name, Vec::new())),
            "delimiter" | "null" | "quote" | "escape" | "encoding" => {
                let _ = parser.parse_keyword(Keyword::AS);
                given.push((name, vec![word(parser)?]));
            }
            "force" => {
                let kind = word(parser)?.to_lowercase();
                let kind = match kind.as_str() {
                    "not" => format!("not_{}", word(parser)?.to_lowercase()),
                    _ => kind,
                };
                let mut words = vec![word(parser)?];
                while parser.consume_token(&Token::Comma) {
                    words.push(word(parser)?);
                }
                given.push((format!("force_{kind}"), words));
            }
            _ => {
                parser.prev_token();
                return parser.expected("an option of COPY", parser.peek_token());
            }
        }
    }
    Ok(given)
}

fn word(parser: &mut Parser<'_>) -> Result<String, ParserError> {
    match parser.next_token().token {
        Token::Word(word) => Ok(word.value),
        Token::Number(number, _) => Ok(number.to_string()),
        Token::SingleQuotedString(text) => Ok(text),
        Token::EscapedStringLiteral(text) => Ok(text),
        Token::Mul => Ok("*".to_owned()),
        _ => {
            parser.prev_token();
            parser.expected("an option of COPY", parser.peek_token())
        }
    }
}
