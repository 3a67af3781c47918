//! Rewrites `(row).*`, which the SQL parser accepts in other dialects only.
//!
//! The asterisk becomes a field name that no user can write ([`ALL_FIELDS`]).

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// The field name that stands for all fields of a composite value.
pub const ALL_FIELDS: &str = "?all";

/// Replaces the asterisk of each `).*` by [`ALL_FIELDS`].
pub(super) fn replace(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    for at in 2..tokens.len() {
        let [before, point, star] = &mut tokens[at - 2..=at] else { continue };
        let is_all = (&before.token, &point.token, &star.token);
        if matches!(is_all, (Token::RParen, Token::Period, Token::Mul)) {
            let keyword = datafusion::sql::sqlparser::keywords::Keyword::NoKeyword;
            let value = ALL_FIELDS.to_owned();
            star.token = Token::Word(Word { value, quote_style: Some('"'), keyword });
        }
    }
    tokens
}
