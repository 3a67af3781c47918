//! SQL text to statements: one script can hold many, and each keeps its own text and place.

use crate::connection_statements::{self, CursorStatement};
use crate::copy;
use crate::copy::client::{ClientCopy, What};
use crate::ddl::{select_into, sequence_options};
use crate::error::{Error, Result, SqlState};
use crate::roles::{self, RoleStatement};
use crate::session::settings::system::{self, AlterSystem};
use datafusion::sql::sqlparser::ast::{
    DiscardObject, Expr, Ident, ObjectName, Reset, ResetStatement, Statement as Ast,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use std::sync::Arc;

mod json_parameters;
mod lines;
mod reserved;
mod row_stars;
mod syntax_error;

pub(crate) use lines::Lines;
pub(crate) use reserved::RESERVED;
pub(crate) use row_stars::ALL_FIELDS;

/// How deeply expressions and queries may nest.
const RECURSION_LIMIT: usize = 256;

/// One parsed statement of a script. A clone shares what was parsed.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The statement's own text, without the semicolon.
    pub text: String,
    /// Characters of the script before the text: what to add to positions inside the text.
    pub offset: usize,
    pub(crate) ast: Arc<Ast>,
    /// What it says where it is a COPY whose other end is the client; `ast` says nothing then.
    pub(crate) client_copy: Option<Arc<ClientCopy>>,
    /// What it says where it is about roles; `ast` says nothing then.
    pub(crate) about_roles: Option<Arc<RoleStatement>>,
    /// What it says where it is about a cursor; `ast` says nothing then.
    pub(crate) cursor: Option<Arc<CursorStatement>>,
    /// What it says where it is ALTER SYSTEM; `ast` says nothing then.
    pub(crate) alter_system: Option<Arc<AlterSystem>>,
}

/// A statement as the parser gives it: the engine's, or one of those that are read by our own code.
#[derive(Default)]
struct Parsed {
    ast: Option<Ast>,
    client_copy: Option<ClientCopy>,
    about_roles: Option<RoleStatement>,
    cursor: Option<CursorStatement>,
    alter_system: Option<AlterSystem>,
}

/// Why a statement cannot be parsed.
pub(crate) enum Refused {
    /// It is not in the grammar.
    Syntax(ParserError),
    /// It is, and means nothing.
    Meaning(Error),
}

impl From<ParserError> for Refused {
    fn from(error: ParserError) -> Self {
        Self::Syntax(error)
    }
}

impl Statement {
    /// Whether it is a COPY from or to the client.
    pub fn is_client_copy(&self) -> bool {
        self.client_copy.is_some()
    }

    /// Whether it is a COPY from the client.
    pub fn is_copy_in(&self) -> bool {
        self.client_copy.as_ref().is_some_and(|copy| matches!(copy.what, What::In { .. }))
    }

    /// Whether it has a password in it, which its [`text`](Self::text) leaves out.
    pub fn keeps_secret(&self) -> bool {
        self.about_roles.as_ref().is_some_and(|statement| statement.password().is_some())
    }

    /// Whether it ends a transaction, or goes back in one.
    pub fn ends_transaction(&self) -> bool {
        matches!(*self.ast, Ast::Commit { .. } | Ast::Rollback { .. })
    }

    /// Whether it begins the next transaction at once, where it ends one: AND CHAIN.
    pub fn chains(&self) -> bool {
        let chains = |ast: &Ast| match ast {
            Ast::Commit { chain, .. } | Ast::Rollback { chain, .. } => *chain,
            _ => false,
        };
        chains(&self.ast)
    }

    /// Refuses what only a connection carries out.
    pub(crate) fn refuse_without_connection(&self) -> Result<()> {
        match self.cursor.is_some() || self.client_copy.is_some() {
            false => Ok(()),
            true => Err(Error::unsupported(
                "cursors and COPY with the client need a connection to a server",
            )),
        }
    }

    /// The statement as a tree of one's own.
    pub(crate) fn into_ast(self) -> Ast {
        Arc::unwrap_or_clone(self.ast)
    }

    pub(crate) fn with_ast(&self, ast: Ast) -> Self {
        let (text, offset) = (self.text.clone(), self.offset);
        let (client_copy, about_roles, cursor, alter_system) = (None, None, None, None);
        Self { text, offset, ast: Arc::new(ast), client_copy, about_roles, cursor, alter_system }
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
            let parsed = parse_one(&text).map_err(|error| match error.position() {
                Some(position) => error.at(position + offset),
                None => error,
            })?;
            let Parsed { ast, client_copy, about_roles, cursor, alter_system } = parsed;
            let text = match &about_roles {
                Some(statement) => roles::redacted(&text, statement),
                None if names_password(tokens) => "<hidden>".to_owned(),
                None => text,
            };
            let ast = Arc::new(ast.unwrap_or(Ast::Discard { object_type: DiscardObject::PLANS }));
            let (client_copy, about_roles) = (client_copy.map(Arc::new), about_roles.map(Arc::new));
            let (cursor, alter_system) = (cursor.map(Arc::new), alter_system.map(Arc::new));
            Ok(Statement { text, offset, ast, client_copy, about_roles, cursor, alter_system })
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

fn parse_one(text: &str) -> Result<Parsed> {
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
    match parsed.ast.as_ref().and_then(reserved::used_as_name) {
        Some(word) => Err(syntax_error::at_word(word, text)),
        None => Ok(parsed),
    }
}

fn statement(parser: &mut Parser<'_>) -> Result<Parsed, Refused> {
    if let Some(copy) = copy::client::parse(parser)? {
        return Ok(Parsed { client_copy: Some(copy), ..Parsed::default() });
    }
    if parser.parse_keywords(&[Keyword::RESET, Keyword::SESSION, Keyword::AUTHORIZATION]) {
        let name = ObjectName::from(vec![Ident::new("session_authorization")]);
        let reset = Reset::ConfigurationParameter(name);
        let ast = Some(Ast::Reset(ResetStatement { reset }));
        return Ok(Parsed { ast, ..Parsed::default() });
    }
    if let Some(statement) = system::parse(parser)? {
        return Ok(Parsed { alter_system: Some(statement), ..Parsed::default() });
    }
    if let Some(statement) = roles::parse(parser)? {
        return Ok(Parsed { about_roles: Some(statement), ..Parsed::default() });
    }
    if let Some(cursor) = connection_statements::parse(parser)? {
        return Ok(Parsed { cursor: Some(cursor), ..Parsed::default() });
    }
    let ast = select_into::rewrite(parser.parse_statement()?);
    Ok(Parsed { ast: Some(ast), ..Parsed::default() })
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
