//! Where the parser is in a source.

use crate::tokens::{Kind, Token, tokens};
use crate::tree::{Sql, Target};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::iter;
use std::ops::Range;
use values::error::{Error, Result, SqlState};

/// The most statements within each other.
const DEPTH_MAX: usize = 200;

/// A source and the place of the next token.
pub(super) struct Cursor<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    next: usize,
    /// The number of expressions and statements of SQL so far.
    texts: usize,
    /// The statements around the next one.
    depth: usize,
    /// A byte, and the characters and lines before it.
    counted: Cell<(usize, usize, usize)>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a str) -> Result<Self> {
        Ok(Self {
            source,
            tokens: tokens(source)?,
            next: 0,
            texts: 0,
            depth: 0,
            counted: Cell::default(),
        })
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.next >= self.tokens.len()
    }

    pub(super) fn kind(&self) -> Option<&Kind> {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, count: usize) -> Option<&Kind> {
        self.tokens.get(self.next + count).map(|token| &token.kind)
    }

    pub(super) fn advance(&mut self) {
        self.next += 1;
    }

    /// The character at which the next token begins, from 1.
    pub(super) fn position(&self) -> usize {
        self.count().1 + 1
    }

    /// The byte of the next token, and the characters and lines before it.
    fn count(&self) -> (usize, usize, usize) {
        let byte = self.tokens.get(self.next).map_or(self.source.len(), |token| token.start);
        let (mut from, mut characters, mut lines) = self.counted.get();
        if byte < from {
            (from, characters, lines) = (0, 0, 0);
        }
        let text = &self.source[from..byte];
        let counted = (byte, characters + text.chars().count(), lines + text.matches('\n').count());
        self.counted.set(counted);
        counted
    }

    /// The line of the next token, from 1.
    pub(super) fn line(&self) -> usize {
        self.count().2 + 1
    }

    pub(super) fn error(&self, state: SqlState, message: impl Into<String>) -> Error {
        Error::new(state, message).at(self.position())
    }

    pub(super) fn wrong(&self, message: impl Into<String>) -> Error {
        self.error(SqlState::SyntaxError, message)
    }

    pub(super) fn missing(&self, what: &str) -> Error {
        self.error(SqlState::FeatureNotSupported, format!("{what} in PL/pgSQL is not supported"))
    }

    /// The error for the next token.
    pub(super) fn unexpected(&self) -> Error {
        match self.tokens.get(self.next) {
            None => self.wrong("syntax error at end of input"),
            Some(token) => {
                let text = &self.source[token.start..token.end];
                self.wrong(format!("syntax error at or near \"{text}\""))
            }
        }
    }

    /// Whether the next token is a keyword or symbol.
    pub(super) fn is(&self, text: &str) -> bool {
        is(self.kind(), text)
    }

    pub(super) fn is_ahead(&self, count: usize, text: &str) -> bool {
        is(self.ahead(count), text)
    }

    /// Takes a keyword or symbol, if it is next.
    pub(super) fn accept(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.advance();
        }
        found
    }

    /// Takes keywords and symbols.
    pub(super) fn expect(&mut self, texts: &[&str]) -> Result<()> {
        for text in texts {
            if !self.accept(text) {
                return Err(self.unexpected());
            }
        }
        Ok(())
    }

    /// Takes a name.
    pub(super) fn name(&mut self) -> Result<String> {
        let name = match self.kind() {
            Some(Kind::Word(name) | Kind::Quoted(name)) => name.clone(),
            _ => return Err(self.unexpected()),
        };
        self.advance();
        Ok(name)
    }

    /// Takes a name in parts.
    pub(super) fn target(&mut self) -> Result<Target> {
        let mut parts = vec![match self.text_of_parameter() {
            Some(parameter) => parameter,
            None => self.name()?,
        }];
        while self.accept(".") {
            parts.push(self.name()?);
        }
        Ok(Target { parts })
    }

    /// Takes `$n`.
    pub(super) fn text_of_parameter(&mut self) -> Option<String> {
        let token = self.tokens.get(self.next)?;
        let text = self.source[token.start..token.end].to_owned();
        let is_parameter = token.kind == Kind::Number && text.starts_with('$');
        is_parameter.then(|| {
            self.advance();
            text
        })
    }

    /// Takes a whole number.
    pub(super) fn whole_number(&mut self) -> Result<usize> {
        let token = self.tokens.get(self.next).filter(|token| token.kind == Kind::Number);
        let number = token.and_then(|token| self.source[token.start..token.end].parse().ok());
        let number = number.ok_or_else(|| self.unexpected())?;
        self.advance();
        Ok(number)
    }

    /// Takes `<<label>>`.
    pub(super) fn label(&mut self) -> Result<Option<String>> {
        if !self.accept("<<") {
            return Ok(None);
        }
        let name = self.name()?;
        self.expect(&[">>"])?;
        Ok(Some(name))
    }

    /// Takes the text up to one of these words outside parentheses, which is next then. It is not empty.
    pub(super) fn sql_until(&mut self, ends: &[&str]) -> Result<Sql> {
        let position = self.position();
        let first = self.next;
        let mut depth = 0_usize;
        let mut cases = 0_usize;
        while let Some(kind) = self.kind() {
            let is_end = depth == 0 && cases == 0 && ends.iter().any(|end| is(Some(kind), end));
            if is_end || depth == 0 && is(Some(kind), ";") {
                break;
            }
            match kind {
                Kind::Symbol("(") => depth += 1,
                Kind::Other('[') => depth += 1,
                Kind::Symbol(")") | Kind::Other(']') => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return Err(self.unexpected()),
                },
                Kind::Word(word) if word == "case" => cases += 1,
                Kind::Word(word) if word == "end" => cases = cases.saturating_sub(1),
                _ => {}
            }
            self.advance();
        }
        if self.is_at_end() {
            return Err(self.wrong(match ends.first() {
                Some(end) if *end != ";" => {
                    format!("missing \"{}\" at end of SQL expression", end.to_uppercase())
                }
                _ => "syntax error at end of input".to_owned(),
            }));
        }
        if !ends.iter().any(|end| self.is(end)) {
            return Err(self.wrong(format!(
                "missing \"{}\" at end of SQL expression",
                ends.first().unwrap_or(&";").to_uppercase()
            )));
        }
        if first == self.next {
            return match self.is(";") {
                true => Err(self.wrong("missing expression at or near \";\"")),
                false => Err(self.unexpected()),
            };
        }
        Ok(self.sql_between(first, self.next, position))
    }

    /// The text of some tokens.
    pub(super) fn sql_between(&mut self, first: usize, end: usize, position: usize) -> Sql {
        let text = self.text_between(first, end).to_owned();
        let names = self.names_in(iter::once(first..end));
        self.texts += 1;
        Sql { id: self.texts, text, position, names, assignment: None }
    }

    /// The words and numbers among some tokens, each once.
    pub(super) fn names_in(&self, parts: impl IntoIterator<Item = Range<usize>>) -> Vec<String> {
        let (mut names, mut seen) = (Vec::new(), BTreeSet::new());
        for token in parts.into_iter().flat_map(|part| &self.tokens[part]) {
            let name = match &token.kind {
                Kind::Word(name) | Kind::Quoted(name) => name.clone(),
                Kind::Number => self.source[token.start..token.end].to_owned(),
                _ => continue,
            };
            if seen.insert(name.clone()) {
                names.push(name);
            }
        }
        names
    }

    /// A text that is none of the source.
    pub(super) fn made(&mut self, text: String, of: &Sql) -> Sql {
        self.texts += 1;
        let (position, names) = (of.position, of.names.clone());
        Sql { id: self.texts, text, position, names, assignment: None }
    }

    /// The text of some tokens, in which others have become blanks, so that the places of what follows stay.
    pub(super) fn blanked(&self, (first, end): (usize, usize), blank: (usize, usize)) -> String {
        let text = self.text_between(first, end);
        let start = self.tokens.get(first).map_or(0, |token| token.start);
        let from = self.tokens.get(blank.0).map_or(0, |token| token.start) - start;
        let to = self.tokens[..blank.1].last().map_or(start, |token| token.end) - start;
        let blanks = " ".repeat(text[from..to].chars().count());
        format!("{}{blanks}{}", &text[..from], &text[to..]).trim_end().to_owned()
    }

    pub(super) fn place(&self) -> usize {
        self.next
    }

    /// The text of a type, up to one of these words.
    pub(super) fn text_between(&self, first: usize, end: usize) -> &'a str {
        let tokens = &self.tokens[first..end];
        let start = tokens.first().map_or(0, |token| token.start);
        &self.source[start..tokens.last().map_or(start, |token| token.end)]
    }

    /// Reads what lies deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEPTH_MAX {
            return Err(self.error(SqlState::StatementTooComplex, "stack depth limit exceeded"));
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }
}

/// Whether a token is a keyword or symbol.
fn is(kind: Option<&Kind>, text: &str) -> bool {
    match kind {
        Some(Kind::Word(word)) => word == text,
        Some(Kind::Symbol(symbol)) => *symbol == text,
        Some(Kind::Other(other)) => text.len() == other.len_utf8() && text.starts_with(*other),
        _ => false,
    }
}
