//! Splits scripts into statements and parses statements, expressions and names.

use crate::client_copy::{ClientCopy, What};
use crate::cursors::CursorStatement;
use crate::dialect::Postgres;
use crate::redact::without_password;
use crate::statement::{Body, Statement, is_change};
use crate::syntax_error::{self, ParseError};
use crate::{alter_system, client_copy, cursors, nesting, reserved, roles};
use crate::{row_stars, select_into, sequence_options, stack};
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, Reset, ResetStatement, Statement as Ast,
};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use grammar::tree::{Node, NodeEnum};
use values::error::{Error, Result, SqlState};
use values::lines::Lines;

/// Splits a script into statements and parses each. Empty statements (`;;`) are skipped.
///
/// # Errors
/// 42601 and other errors of a statement that cannot be parsed, with the position in the script.
pub fn parse(script: &str) -> Result<Vec<Statement>> {
    let lines = Lines::new(script);
    let tokens = tokens(script)?;
    let (mut rest, mut before) = (script.chars(), 0);
    split(&tokens)
        .map(|tokens| {
            let (first, last) = (&tokens[0], &tokens[tokens.len() - 1]);
            let offset = lines.character(first.span.start);
            let end = lines.character(last.span.end);
            let text = rest.by_ref().skip(offset - before).take(end - offset).collect::<String>();
            before = end;
            let body = parse_body(&text).map_err(|error| match error.position() {
                Some(position) => error.at(position + offset),
                None => error,
            })?;
            let text = without_password(text, &body, tokens);
            Ok(Statement::new(text, offset, body))
        })
        .collect()
}

/// Parses a text that consists of one statement.
///
/// # Errors
/// As [`parse`]; 42601 if the text has no or several statements.
pub fn one(sql: &str) -> Result<Statement> {
    let mut statements = parse(sql)?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err(Error::new(SqlState::SyntaxError, "expected exactly one statement")),
    }
}

/// Parses a text that consists of one statement of the SQL parser's grammar.
///
/// # Errors
/// As [`one`]; 42601 if the statement belongs to another grammar.
pub fn parse_sql(sql: &str) -> Result<Ast> {
    let not_sql = || Error::new(SqlState::SyntaxError, "expected an SQL statement");
    one(sql)?.into_ast().ok_or_else(not_sql)
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

/// The tokens of each statement, without leading and trailing white space.
fn split(tokens: &[TokenWithSpan]) -> impl Iterator<Item = &[TokenWithSpan]> {
    tokens
        .split(|token| token.token == Token::SemiColon)
        .map(|run| {
            let solid = |t: &TokenWithSpan| !matches!(t.token, Token::Whitespace(_) | Token::EOF);
            let start = run.iter().position(solid).unwrap_or(run.len());
            let end = run.iter().rposition(solid).map_or(start, |last| last + 1);
            &run[start..end]
        })
        .filter(|run| !run.is_empty())
}

fn parser_over(tokens: Vec<TokenWithSpan>) -> Parser<'static> {
    Parser::new(&Postgres)
        .with_recursion_limit(nesting::PARSER_LEVELS)
        .with_tokens_with_locations(tokens)
}

/// Parses the text of one statement.
fn parse_body(text: &str) -> Result<Body> {
    let tokens = row_stars::replace(sequence_options::in_order(tokens(text)?));
    nesting::limit_tokens(&tokens)?;
    stack::sufficient(&tokens, || body_of(&tokens, text)).or_else(|error| by_grammar(text, error))
}

/// Asks PostgreSQL's grammar about a text that the SQL parser refuses. What it knows and the SQL parser does not is a query
/// or change for the analyzer, or missing.
fn by_grammar(text: &str, error: Error) -> Result<Body> {
    if error.state() != SqlState::SyntaxError {
        return Err(error);
    }
    let syntax = match grammar::parse(text) {
        Ok(script) => {
            let node = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
            match node {
                Some(NodeEnum::SelectStmt(_)) => return Ok(Body::Query),
                Some(node) if is_change(node) => return Ok(Body::Change),
                Some(NodeEnum::PrepareStmt(outer)) if has_change(&outer.query) => {
                    return around_change(text).ok_or(error);
                }
                Some(NodeEnum::ExplainStmt(outer)) if has_change(&outer.query) => {
                    return around_change(text).ok_or(error);
                }
                _ => {}
            }
            let first = text.split_whitespace().next().unwrap_or_default().to_uppercase();
            let missing = Error::unsupported(format!("this form of {first} is not supported"));
            return Err(match error.position() {
                Some(position) => missing.at(position),
                None => missing,
            });
        }
        Err(syntax) => syntax,
    };
    // The parser that comes further knows what the text is about.
    match (syntax.position, error.position()) {
        (Some(there), here) if here.is_none_or(|here| here < there) => {
            Err(Error::new(SqlState::SyntaxError, syntax.message).at(there))
        }
        _ => Err(error),
    }
}

fn has_change(inner: &Option<Box<Node>>) -> bool {
    inner.as_ref().and_then(|inner| inner.node.as_ref()).is_some_and(is_change)
}

/// PREPARE or EXPLAIN of a change that the SQL parser does not know. A DELETE stands for the change, which is only read in
/// PostgreSQL's parse tree ([`Statement::change`]).
fn around_change(text: &str) -> Option<Body> {
    use Keyword::{AS, DELETE, INSERT, MERGE, UPDATE, WITH};
    let is_explain = text.starts_with(['e', 'E']);
    let (mut depth, mut is_behind_as) = (0_usize, false);
    for token in tokens(text).ok()? {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Word(word) if depth == 0 => {
                let begins = matches!(word.keyword, INSERT | UPDATE | DELETE | MERGE | WITH);
                if begins && (is_behind_as || is_explain) {
                    let before = Lines::new(text).character(token.span.start);
                    let begin: String = text.chars().take(before).collect();
                    let text = format!("{begin}DELETE FROM changed");
                    return body_of(&tokens(&text).ok()?, &text).ok();
                }
                is_behind_as |= word.keyword == AS;
            }
            _ => {}
        }
    }
    None
}

fn body_of(tokens: &[TokenWithSpan], text: &str) -> Result<Body> {
    let mut parser = parser_over(tokens.to_vec());
    let parsed = statement(&mut parser).and_then(|parsed| match parser.peek_token().token {
        Token::EOF => Ok(parsed),
        _ => Ok(parser.expected("end of statement", parser.peek_token())?),
    });
    let mut body = parsed.map_err(|error| match error {
        ParseError::Syntax(error) => syntax_error::of_parser(error, text, tokens),
        ParseError::Invalid(error) => error,
    })?;
    match &mut body {
        Body::Sql(ast) => nesting::limit(ast)?,
        Body::Cursor(CursorStatement::Declare(declare)) => nesting::limit(&mut *declare.query)?,
        Body::ClientCopy(ClientCopy { what: What::Out { query }, .. }) => {
            nesting::limit(&mut **query)?;
        }
        _ => {}
    }
    if let Body::Sql(ast) = &body
        && let Some(word) = reserved::used_as_name(ast)
    {
        return Err(syntax_error::at_word(word, text));
    }
    Ok(body)
}

/// Tries the grammars that the SQL parser lacks, then the SQL parser.
fn statement(parser: &mut Parser<'_>) -> Result<Body, ParseError> {
    if let Some(copy) = client_copy::parse(parser)? {
        return Ok(Body::ClientCopy(copy));
    }
    if parser.parse_keywords(&[Keyword::RESET, Keyword::SESSION, Keyword::AUTHORIZATION]) {
        let name = ObjectName::from(vec![Ident::new("session_authorization")]);
        let reset = Reset::ConfigurationParameter(name);
        return Ok(Body::Sql(Ast::Reset(ResetStatement { reset })));
    }
    if let Some(statement) = alter_system::parse(parser)? {
        return Ok(Body::AlterSystem(statement));
    }
    if let Some(statement) = roles::parse(parser)? {
        return Ok(Body::Role(statement));
    }
    if let Some(cursor) = cursors::parse(parser)? {
        return Ok(Body::Cursor(cursor));
    }
    Ok(Body::Sql(select_into::rewrite(parser.parse_statement()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_statement_of_a_script_has_its_text_and_offset() {
        let script = "select 1;\n ;-- note; more\n select ';' as semicolon ;";
        let parsed = parse(script).expect("parses");
        let texts: Vec<_> = parsed.iter().map(|s| (s.offset, s.text.as_str())).collect();
        assert_eq!(texts, [(0, "select 1"), (27, "select ';' as semicolon")]);
    }

    #[test]
    fn no_text_contains_a_password() {
        for script in [
            "CREATE USER u PASSWORD 'secret'",
            "ALTER USER u ENCRYPTED PASSWORD E'secret'",
            "PREPARE p AS ALTER USER u PASSWORD 'secret'",
        ] {
            let parsed = parse(script);
            assert!(!format!("{:?}", parsed.map(|all| all[0].text.clone())).contains("secret"));
        }
        let parsed = parse("SELECT password, 'secret' FROM users").expect("parses");
        assert_eq!(parsed[0].text, "SELECT password, 'secret' FROM users");
    }

    #[test]
    fn a_syntax_error_has_a_position() {
        let error = parse("select 1;\nselect 2 from )").expect_err("refused");
        assert_eq!(error.state(), SqlState::SyntaxError);
        assert_eq!(error.position(), Some(25), "{error}");
    }

    #[test]
    fn deep_nesting_is_refused() {
        let script = format!("select {}1{}", "(".repeat(100_000), ")".repeat(100_000));
        let error = parse(&script).expect_err("refused");
        assert_eq!(error.state(), SqlState::StatementTooComplex);
    }
}
