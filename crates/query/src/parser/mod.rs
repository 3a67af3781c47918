//! SQL text to statements: one script can hold many, and each keeps its own text and place.

use crate::values::error::{Error, Result, SqlState};
use alter_system::AlterSystem;
use client_copy::{ClientCopy, What};
use connection::CursorStatement;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, Reset, ResetStatement, Statement as Ast,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use roles::RoleStatement;
use std::sync::Arc;

pub(crate) mod alter_system;
pub(crate) mod client_copy;
pub(crate) mod connection;
mod json_parameters;
pub(crate) mod names;
pub(crate) mod placeholders;
mod reserved;
pub(crate) mod roles;
mod row_stars;
mod select_into;
mod sequence_options;
pub(crate) mod statement_kind;
mod syntax_error;

pub(crate) use crate::values::lines::Lines;
pub(crate) use reserved::RESERVED;
pub(crate) use row_stars::ALL_FIELDS;

/// How deeply expressions and queries may nest.
const RECURSION_LIMIT: usize = 256;

/// One parsed statement of a script. A clone shares what was parsed.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The statement's own text, without the semicolon. A password is left out.
    pub text: String,
    /// Characters of the script before the text: what to add to positions inside the text.
    pub offset: usize,
    body: Arc<Body>,
}

/// A parsed statement, by the grammar that it belongs to.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// A statement of the SQL parser's grammar.
    Sql(Ast),
    /// COPY whose other end is the client.
    ClientCopy(ClientCopy),
    /// A statement about roles or privileges.
    Role(RoleStatement),
    /// DECLARE, FETCH or MOVE.
    Cursor(CursorStatement),
    /// ALTER SYSTEM.
    AlterSystem(AlterSystem),
}

/// Why a statement cannot be parsed.
pub(crate) enum Refused {
    /// It is not in the grammar.
    Syntax(ParserError),
    /// It is in the grammar and cannot be meant.
    Meaning(Error),
}

impl From<ParserError> for Refused {
    fn from(error: ParserError) -> Self {
        Self::Syntax(error)
    }
}

impl Statement {
    /// What was parsed.
    pub(crate) fn body(&self) -> &Body {
        &self.body
    }

    /// The tree of a statement of the SQL parser's grammar.
    pub(crate) fn ast(&self) -> Option<&Ast> {
        match &*self.body {
            Body::Sql(ast) => Some(ast),
            _ => None,
        }
    }

    /// The same tree, to be changed.
    pub(crate) fn ast_mut(&mut self) -> Option<&mut Ast> {
        match Arc::make_mut(&mut self.body) {
            Body::Sql(ast) => Some(ast),
            _ => None,
        }
    }

    /// The statement's tree by value.
    pub(crate) fn into_ast(self) -> Option<Ast> {
        match Arc::unwrap_or_clone(self.body) {
            Body::Sql(ast) => Some(ast),
            _ => None,
        }
    }

    /// Another statement at the same place of the script.
    pub(crate) fn with_ast(&self, ast: Ast) -> Self {
        Self { text: self.text.clone(), offset: self.offset, body: Arc::new(Body::Sql(ast)) }
    }

    /// Whether it is a COPY from or to the client.
    pub fn is_client_copy(&self) -> bool {
        matches!(*self.body, Body::ClientCopy(_))
    }

    /// Whether it is a COPY from the client.
    pub fn is_copy_in(&self) -> bool {
        matches!(&*self.body, Body::ClientCopy(copy) if matches!(copy.what, What::In { .. }))
    }

    /// Whether it contains a password, which its [`text`](Self::text) leaves out.
    pub fn keeps_secret(&self) -> bool {
        matches!(&*self.body, Body::Role(statement) if statement.password().is_some())
    }

    /// Whether it ends a transaction, or rolls back to a savepoint.
    pub fn ends_transaction(&self) -> bool {
        matches!(self.ast(), Some(Ast::Commit { .. } | Ast::Rollback { .. }))
    }

    /// Whether it ends a transaction with AND CHAIN, which begins the next one at once.
    pub fn chains(&self) -> bool {
        match self.ast() {
            Some(Ast::Commit { chain, .. } | Ast::Rollback { chain, .. }) => *chain,
            _ => false,
        }
    }

    /// Refuses a statement that only a client's connection can execute.
    ///
    /// # Errors
    /// 0A000.
    pub(crate) fn refuse_without_connection(&self) -> Result<()> {
        match &*self.body {
            Body::Cursor(_) | Body::ClientCopy(_) => Err(Error::unsupported(
                "cursors and COPY with the client need a connection to a server",
            )),
            Body::Sql(_) | Body::Role(_) | Body::AlterSystem(_) => Ok(()),
        }
    }
}

/// Splits a script into statements and parses each. Empty statements (`;;`) are left out.
pub fn parse(script: &str) -> Result<Vec<Statement>> {
    let lines = Lines::new(script);
    let tokens = tokens(script)?;
    statements(&tokens)
        .map(|tokens| {
            let (first, last) = (&tokens[0], &tokens[tokens.len() - 1]);
            let offset = lines.character(first.span.start);
            let end = lines.character(last.span.end);
            let text: String = script.chars().skip(offset).take(end - offset).collect();
            let body = parse_one(&text).map_err(|error| match error.position() {
                Some(position) => error.at(position + offset),
                None => error,
            })?;
            let text = match &body {
                Body::Role(statement) => roles::redacted(&text, statement),
                _ if names_password(tokens) => "<hidden>".to_owned(),
                _ => text,
            };
            Ok(Statement { text, offset, body: Arc::new(body) })
        })
        .collect()
}

/// Parses a text that is one statement.
///
/// # Errors
/// 42601.
pub(crate) fn one(sql: &str) -> Result<Statement> {
    let mut statements = parse(sql)?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err(Error::new(SqlState::SyntaxError, "expected exactly one statement")),
    }
}

/// Parses a text that is one statement of the SQL parser's grammar.
///
/// # Errors
/// 42601.
pub(crate) fn parse_sql(sql: &str) -> Result<Ast> {
    let not_sql = || Error::new(SqlState::SyntaxError, "expected a statement of SQL");
    one(sql)?.into_ast().ok_or_else(not_sql)
}

/// Whether a password stands in a statement, also in one that is none about roles: one that prepares one.
fn names_password(tokens: &[TokenWithSpan]) -> bool {
    let is_solid = |token: &&TokenWithSpan| !matches!(token.token, Token::Whitespace(_));
    let solid = || tokens.iter().filter(is_solid);
    solid().zip(solid().skip(1)).any(|(first, second)| {
        let names = matches!(&first.token, Token::Word(word) if word.keyword == Keyword::PASSWORD);
        let is_text = !matches!(
            &second.token,
            Token::Word(_) | Token::Number(..) | Token::Comma | Token::Period | Token::RParen
        ) && second.token.to_string().contains('\'');
        names && is_text
    })
}

/// The words and signs of a text.
pub(crate) fn tokens(text: &str) -> Result<Vec<TokenWithSpan>> {
    Tokenizer::new(&PostgreSqlDialect {}, text)
        .tokenize_with_location()
        .map_err(|error| syntax_error::of_tokenizer(&error, text))
}

/// The runs of tokens between semicolons, each without leading and trailing white space.
fn statements(tokens: &[TokenWithSpan]) -> impl Iterator<Item = &[TokenWithSpan]> {
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

fn parse_one(text: &str) -> Result<Body> {
    let tokens = row_stars::named(sequence_options::in_order(tokens(text)?));
    let mut parser = Parser::new(&PostgreSqlDialect {})
        .with_recursion_limit(RECURSION_LIMIT)
        .with_tokens_with_locations(tokens.clone());
    let parsed = statement(&mut parser).and_then(|parsed| match parser.peek_token().token {
        Token::EOF => Ok(parsed),
        _ => Ok(parser.expected("end of statement", parser.peek_token())?),
    });
    let parsed = parsed.map_err(|refused| match refused {
        Refused::Syntax(error) => syntax_error::of_parser(error, text, &tokens),
        Refused::Meaning(error) => error,
    })?;
    match &parsed {
        Body::Sql(ast) => match reserved::used_as_name(ast) {
            Some(word) => Err(syntax_error::at_word(word, text)),
            None => Ok(parsed),
        },
        _ => Ok(parsed),
    }
}

fn statement(parser: &mut Parser<'_>) -> Result<Body, Refused> {
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
    if let Some(cursor) = connection::parse(parser)? {
        return Ok(Body::Cursor(cursor));
    }
    Ok(Body::Sql(select_into::rewrite(parser.parse_statement()?)))
}

/// Parses one expression: a default or a check that the catalog keeps as text.
pub(crate) fn parse_expression(text: &str) -> Result<Expr> {
    let tokens = tokens(text)?;
    let mut parser = Parser::new(&PostgreSqlDialect {})
        .with_recursion_limit(RECURSION_LIMIT)
        .with_tokens_with_locations(tokens.clone());
    parser.parse_expr().map_err(|error| syntax_error::of_parser(error, text, &tokens))
}

/// The name of an object out of a text that holds nothing else.
pub(crate) fn object_name(text: &str) -> Result<ObjectName> {
    let invalid = |reason: String| Error::new(SqlState::InvalidName, reason);
    let parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(text);
    let mut parser = parser.map_err(|error| invalid(error.to_string()))?;
    let name = parser.parse_object_name(false).map_err(|error| invalid(error.to_string()))?;
    match parser.peek_token().token {
        Token::EOF => Ok(name),
        _ => Err(invalid(format!("improper relation name: {text}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_gives_each_statement_with_its_text_and_place() {
        let script = "select 1;\n ;-- note; more\n select ';' as semicolon ;";
        let parsed = parse(script).expect("parses");
        let texts: Vec<_> = parsed.iter().map(|s| (s.offset, s.text.as_str())).collect();
        assert_eq!(texts, [(0, "select 1"), (27, "select ';' as semicolon")]);
    }

    #[test]
    fn a_password_is_in_no_text() {
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
    fn a_syntax_error_names_the_character() {
        let error = parse("select 1;\nselect 2 from )").expect_err("refused");
        assert_eq!(error.state(), SqlState::SyntaxError);
        assert_eq!(error.position(), Some(25), "{error}");
    }

    #[test]
    fn deep_nesting_is_refused_and_harmless() {
        let script = format!("select {}1{}", "(".repeat(100_000), ")".repeat(100_000));
        let error = parse(&script).expect_err("refused");
        assert_eq!(error.state(), SqlState::ProgramLimitExceeded);
    }
}
