//! `(row).*`, which the parser takes in other dialects only: the asterisk becomes a name that no field has.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// What stands for all fields of a composite value.
pub(crate) const ALL_FIELDS: &str = "?all";

/// The tokens of a statement with asterisks behind parentheses as the parser takes them.
pub(super) fn named(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
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
