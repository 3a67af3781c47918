//! How deeply statements may nest.
//!
//! [`limit`] sees each tree directly after it is parsed. It balances long chains ([`chains`]) and rejects what is still too
//! deep. Later steps recurse over a tree without asking.

use crate::chains;
use crate::walk::{Syntax, visit_mut};
use datafusion::sql::sqlparser::ast::{Array, Expr, Query, Select, SetExpr, VisitorMut};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use std::ops::ControlFlow;
use values::error::{Error, Result, SqlState};

/// How deeply parentheses, brackets, CASE and prefix operators may nest.
pub(crate) const NESTED_MAX: usize = 256;

/// The limit of the SQL parser, which counts several levels for a subquery. It is not reached: where the SQL parser tries
/// one form and then another, it takes its limit for a syntax error and goes on, in a time that doubles with each level.
pub(crate) const PARSER_LEVELS: usize = 8 * NESTED_MAX;

/// How deeply expressions and queries may nest, chains of operators included.
const DEPTH_MAX: usize = 1_000;

/// How many relations one FROM may join. Planning 200 of them takes seconds.
const RELATIONS_MAX: usize = 200;

/// How many common table expressions one WITH may have.
const COMMON_MAX: usize = 500;

/// How many subscripts and fields may follow a value.
const ACCESSES_MAX: usize = 128;

/// The dimensions of an array.
const DIMENSIONS_MAX: usize = 6;

/// The error for a statement that is too deep.
pub fn exceeded(hint: impl Into<String>) -> Error {
    Error::new(SqlState::StatementTooComplex, "stack depth limit exceeded").with_hint(hint)
}

/// The error for a statement that the SQL parser must not read.
pub(crate) fn unparsable() -> Error {
    exceeded(format!("Expressions and queries may nest {NESTED_MAX} levels deep."))
}

/// The error for an array of too many dimensions.
pub fn dimensions(found: usize) -> Error {
    let message = format!(
        "number of array dimensions ({found}) exceeds the maximum allowed ({DIMENSIONS_MAX})"
    );
    Error::new(SqlState::ProgramLimitExceeded, message)
}

/// Balances the long chains in a tree.
///
/// # Errors
/// 54001 if the tree is too deep, 54000 for an array of too many dimensions.
pub(crate) fn limit(ast: &mut impl Syntax) -> Result<()> {
    match visit_mut(ast, &mut Depth(0)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// Bytes of a statement that can be neither deep nor wide.
const SHORT: usize = 256;

/// Whether a statement is so short that it need not be examined.
pub(crate) fn is_short(text: &str) -> bool {
    text.len() <= SHORT && text.matches('[').count() <= DIMENSIONS_MAX
}

/// Rejects a statement that nests too deeply for the SQL parser, and array types and subscripts of too many dimensions.
///
/// # Errors
/// 54001, 54000.
pub(crate) fn limit_tokens(tokens: &[TokenWithSpan]) -> Result<()> {
    let solid = tokens.iter().map(|token| &token.token);
    let solid = solid.filter(|token| !matches!(token, Token::Whitespace(_)));
    let (mut open, mut prefixes) = (0_usize, 0_usize);
    let (mut in_brackets, mut brackets) = (false, 0);
    for token in solid {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => open += 1,
            Token::RParen | Token::RBracket | Token::RBrace => open = open.saturating_sub(1),
            Token::Word(word) if word.keyword == Keyword::CASE => open += 1,
            Token::Word(word) if word.keyword == Keyword::END => open = open.saturating_sub(1),
            _ => {}
        }
        prefixes = if is_prefix(token) { prefixes + 1 } else { 0 };
        if open + prefixes > NESTED_MAX {
            return Err(unparsable());
        }
        (in_brackets, brackets) = match (token, in_brackets) {
            (Token::LBracket, false) => (true, brackets),
            (Token::RBracket, true) => (false, brackets + 1),
            (Token::Number(..), true) => (true, brackets),
            _ => (false, 0),
        };
        if brackets > DIMENSIONS_MAX {
            return Err(dimensions(brackets));
        }
    }
    Ok(())
}

/// Whether a token may be an operator before its operand.
fn is_prefix(token: &Token) -> bool {
    match token {
        Token::Word(word) => word.keyword == Keyword::NOT,
        Token::Minus | Token::Plus | Token::Tilde | Token::AtSign | Token::ExclamationMark => true,
        Token::PGSquareRoot | Token::PGCubeRoot | Token::DoubleExclamationMark => true,
        _ => false,
    }
}

/// A walk, with the number of expressions and queries around.
struct Depth(usize);

impl Depth {
    fn enter(&mut self) -> Result<()> {
        self.0 += 1;
        if self.0 > DEPTH_MAX {
            let hint = format!("Expressions and queries may nest {DEPTH_MAX} levels deep.");
            return Err(exceeded(hint));
        }
        Ok(())
    }
}

fn flow(result: Result<()>) -> ControlFlow<Error> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    }
}

impl VisitorMut for Depth {
    type Break = Error;

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        chains::balance(expr);
        if let Expr::Array(array) = expr
            && dimensions_of(array) > DIMENSIONS_MAX
        {
            return ControlFlow::Break(dimensions(DIMENSIONS_MAX + 1));
        }
        if let Expr::CompoundFieldAccess { access_chain, .. } = expr
            && access_chain.len() > ACCESSES_MAX
        {
            let hint = format!("A value may have {ACCESSES_MAX} subscripts.");
            return ControlFlow::Break(exceeded(hint));
        }
        flow(self.enter())
    }

    fn post_visit_expr(&mut self, _: &mut Expr) -> ControlFlow<Error> {
        self.0 -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        chains::balance_sets(&mut query.body);
        let defined = query.with.as_ref().map_or(0, |with| with.cte_tables.len());
        if sets_of(&query.body) > DEPTH_MAX / 2 || defined > COMMON_MAX {
            let hint =
                format!("A WITH may have {COMMON_MAX} queries, EXCEPT {} operands.", DEPTH_MAX / 2);
            return ControlFlow::Break(exceeded(hint));
        }
        flow(self.enter())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.0 -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        let relations: usize = select.from.iter().map(|from| 1 + from.joins.len()).sum();
        if relations > RELATIONS_MAX {
            return ControlFlow::Break(exceeded(format!(
                "A FROM may have {RELATIONS_MAX} relations."
            )));
        }
        ControlFlow::Continue(())
    }
}

/// The dimensions of an array constructor.
fn dimensions_of(array: &Array) -> usize {
    let inner = array.elem.iter().map(|element| match unnested(element) {
        Expr::Array(array) => dimensions_of(array),
        _ => 0,
    });
    1 + inner.max().unwrap_or(0)
}

fn unnested(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => unnested(inner),
        other => other,
    }
}

/// How deeply the set operations of a query nest.
fn sets_of(body: &SetExpr) -> usize {
    let (mut deepest, mut open) = (0, vec![(body, 0)]);
    while let Some((body, depth)) = open.pop() {
        deepest = deepest.max(depth);
        if let SetExpr::SetOperation { left, right, .. } = body {
            open.extend([(&**left, depth + 1), (&**right, depth + 1)]);
        }
    }
    deepest
}
