//! A stack that suffices for the tree of any statement.
//!
//! The SQL parser reads `a + b + c ...` in a loop, without a limit, into a tree that is as deep as the text is long. What
//! walks over such a tree, even what drops it, recurses. Once [`nesting`](crate::nesting) has accepted a tree it is shallow.

use crate::nesting;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use values::error::Result;

/// Stack for one level of a tree, in bytes. It covers builds without optimisation.
const LEVEL: usize = 2 << 10;

/// Stack for what does not depend on the depth, in bytes.
const BASE: usize = 1 << 20;

/// Tokens of a statement that may deepen its tree.
const DEEPENING_MAX: usize = 500_000;

/// Runs work on the tree of a statement that consists of these tokens.
///
/// # Errors
/// 54001 if the tree may be too deep for any stack, and the errors of the work.
pub(crate) fn sufficient<T>(
    tokens: &[TokenWithSpan],
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let deepening = tokens.iter().filter(|token| may_deepen(&token.token)).count();
    if deepening > DEEPENING_MAX {
        return Err(nesting::exceeded(format!(
            "A statement may have {DEEPENING_MAX} operators and words."
        )));
    }
    let needed = BASE + LEVEL * deepening;
    stacker::maybe_grow(needed, needed, work)
}

/// Whether a token may be an operator.
fn may_deepen(token: &Token) -> bool {
    !matches!(
        token,
        Token::Whitespace(_)
            | Token::Comma
            | Token::LParen
            | Token::RParen
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::EOF
    )
}
