//! Statements, expressions and names by the SQL parser, for what is not planned from PostgreSQL's trees.

use crate::dialect::Postgres;
use crate::syntax_error;
use crate::{nesting, row_stars, stack};
use datafusion::sql::sqlparser::ast::{Expr, ObjectName, Statement as Ast};
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use values::error::{Error, Result, SqlState};

/// Parses a text that consists of one statement.
///
/// # Errors
/// 42601 if the SQL parser does not know it; 54001 if it nests too deep.
pub fn parse_sql(sql: &str) -> Result<Ast> {
    let tokens = row_stars::replace(tokens(sql)?);
    nesting::limit_tokens(&tokens)?;
    stack::sufficient(&tokens, || {
        let mut parser = parser_over(tokens.clone());
        let parsed = parser.parse_statement().and_then(|parsed| match parser.peek_token().token {
            Token::EOF | Token::SemiColon => Ok(parsed),
            _ => parser.expected("end of statement", parser.peek_token()),
        });
        let mut parsed = parsed.map_err(|error| syntax_error::of_parser(error, sql, &tokens))?;
        nesting::limit(&mut parsed)?;
        Ok(parsed)
    })
}

/// Rejects a statement that nests too deeply, as [`nesting::limit_tokens`] does, before it is read.
///
/// # Errors
/// 54001, 54000.
pub(crate) fn limit_text(text: &str) -> Result<()> {
    if nesting::is_short(text) {
        return Ok(());
    }
    match tokens(text) {
        Ok(tokens) => nesting::limit_tokens(&tokens),
        // What the SQL parser cannot read is deep if it may be.
        Err(_) => {
            let signs = text.matches(['(', '[', '-', '+', '~', '@', '!', '|']).count();
            let lower = text.to_ascii_lowercase();
            let words = lower.matches("case").count() + lower.matches("not").count();
            if signs + words > nesting::NESTED_MAX { Err(nesting::unparsable()) } else { Ok(()) }
        }
    }
}

/// Parses one expression, such as a default or a check that the catalog stores as text.
///
/// # Errors
/// 42601.
pub fn parse_expression(text: &str) -> Result<Expr> {
    let tokens = tokens(text)?;
    nesting::limit_tokens(&tokens)?;
    stack::sufficient(&tokens, || {
        let mut parser = parser_over(tokens.clone());
        let parsed = parser.parse_expr();
        let mut parsed = parsed.map_err(|error| syntax_error::of_parser(error, text, &tokens))?;
        nesting::limit(&mut parsed)?;
        Ok(parsed)
    })
}

/// Parses a text that consists of the name of an object.
///
/// # Errors
/// 42602.
pub fn object_name(text: &str) -> Result<ObjectName> {
    let invalid = |reason: String| Error::new(SqlState::InvalidName, reason);
    let parser = Parser::new(&Postgres).try_with_sql(text);
    let mut parser = parser.map_err(|error| invalid(error.to_string()))?;
    let name = parser.parse_object_name(false).map_err(|error| invalid(error.to_string()))?;
    match parser.peek_token().token {
        Token::EOF => Ok(name),
        _ => Err(invalid(format!("improper relation name: {text}"))),
    }
}

/// The tokens of a text.
///
/// # Errors
/// 42601, for example for an unterminated string.
pub fn tokens(text: &str) -> Result<Vec<TokenWithSpan>> {
    Tokenizer::new(&Postgres, text)
        .tokenize_with_location()
        .map_err(|error| syntax_error::of_tokenizer(&error, text))
}

fn parser_over(tokens: Vec<TokenWithSpan>) -> Parser<'static> {
    Parser::new(&Postgres)
        .with_recursion_limit(nesting::PARSER_LEVELS)
        .with_tokens_with_locations(tokens)
}
