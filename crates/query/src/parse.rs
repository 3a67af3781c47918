//! SQL text to statements: one script can hold many, and each keeps its own text and place.

use crate::copy;
use crate::copy::client::{ClientCopy, What};
use crate::error::{Error, Result, SqlState};
use datafusion::sql::sqlparser::ast::{DiscardObject, Expr, Statement as Ast};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

/// How deeply expressions and queries may nest.
const RECURSION_LIMIT: usize = 256;

/// One parsed statement of a script.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The statement's own text, without the semicolon.
    pub text: String,
    /// Characters of the script before the text: what to add to positions inside the text.
    pub offset: usize,
    pub(crate) ast: Ast,
    /// What it says where it is a COPY whose other end is the client; `ast` says nothing then.
    pub(crate) client_copy: Option<ClientCopy>,
}

impl Statement {
    /// Whether it is a COPY from or to the client.
    pub fn is_client_copy(&self) -> bool {
        self.client_copy.is_some()
    }

    /// Whether it is a COPY from the client.
    pub fn is_copy_in(&self) -> bool {
        matches!(&self.client_copy, Some(ClientCopy { what: What::In { .. }, .. }))
    }

    /// Whether it ends a transaction, or goes back in one.
    pub fn ends_transaction(&self) -> bool {
        matches!(self.ast, Ast::Commit { .. } | Ast::Rollback { .. })
    }

    pub(crate) fn with_ast(&self, ast: Ast) -> Self {
        Self { text: self.text.clone(), offset: self.offset, ast, client_copy: None }
    }
}

/// Splits a script into statements and parses each. Empty statements (`;;`) are left out.
pub fn parse(script: &str) -> Result<Vec<Statement>> {
    let lines = Lines::new(script);
    let tokens = tokenize(script)?;
    statements(&tokens)
        .map(|tokens| {
            let (first, last) = (&tokens[0], &tokens[tokens.len() - 1]);
            let offset = lines.character(first.span.start);
            let end = lines.character(last.span.end);
            let text: String = script.chars().skip(offset).take(end - offset).collect();
            let (ast, client_copy) = parse_one(&text).map_err(|error| match error.position() {
                Some(position) => error.at(position + offset),
                None => error,
            })?;
            Ok(Statement { text, offset, ast, client_copy })
        })
        .collect()
}

fn tokenize(text: &str) -> Result<Vec<TokenWithSpan>> {
    Tokenizer::new(&PostgreSqlDialect {}, text).tokenize_with_location().map_err(|error| {
        let position = Lines::new(text).character(error.location) + 1;
        Error::new(SqlState::SyntaxError, error.message).at(position)
    })
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

fn parse_one(text: &str) -> Result<(Ast, Option<ClientCopy>)> {
    let mut parser = Parser::new(&PostgreSqlDialect {})
        .with_recursion_limit(RECURSION_LIMIT)
        .with_tokens_with_locations(tokenize(text)?);
    let parsed = statement(&mut parser).and_then(|parsed| match parser.peek_token().token {
        Token::EOF => Ok(parsed),
        _ => parser.expected("end of statement", parser.peek_token()),
    });
    parsed.map_err(|error| syntax_error(error, &Lines::new(text)))
}

fn statement(parser: &mut Parser<'_>) -> Result<(Ast, Option<ClientCopy>), ParserError> {
    match copy::client::parse(parser)? {
        Some(copy) => {
            let nothing = Ast::Discard { object_type: DiscardObject::PLANS };
            Ok((nothing, Some(copy)))
        }
        None => Ok((parser.parse_statement()?, None)),
    }
}

/// Parses one expression: a default or a check that the catalog keeps as text.
pub(crate) fn parse_expression(text: &str) -> Result<Expr> {
    let mut parser = Parser::new(&PostgreSqlDialect {})
        .with_recursion_limit(RECURSION_LIMIT)
        .with_tokens_with_locations(tokenize(text)?);
    parser.parse_expr().map_err(|error| syntax_error(error, &Lines::new(text)))
}

fn syntax_error(error: ParserError, lines: &Lines) -> Error {
    let (message, location) = match error {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => {
            split_location(message)
        }
        ParserError::RecursionLimitExceeded => {
            let message = format!("statement nests deeper than {RECURSION_LIMIT} levels");
            return Error::new(SqlState::ProgramLimitExceeded, message);
        }
    };
    let position = location.map_or(lines.characters, |location| lines.character(location)) + 1;
    Error::new(SqlState::SyntaxError, format!("syntax error: {message}")).at(position)
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

/// Where each line of a text begins, to turn lines and columns into characters.
pub(crate) struct Lines {
    starts: Vec<usize>,
    characters: usize,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let mut starts = vec![0];
        let mut characters = 0;
        for c in text.chars() {
            characters += 1;
            if c == '\n' {
                starts.push(characters);
            }
        }
        Self { starts, characters }
    }

    /// Characters before a place. Lines and columns count from 1; a place with line 0 is the end.
    pub(crate) fn character(&self, location: Location) -> usize {
        let line = (location.line as usize).checked_sub(1).and_then(|line| self.starts.get(line));
        match line {
            Some(start) => {
                (start + (location.column as usize).saturating_sub(1)).min(self.characters)
            }
            None => self.characters,
        }
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
