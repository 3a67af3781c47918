//! Sorts the options of sequences: the SQL parser accepts them in one order, PostgreSQL in any.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

/// Sorts each run of sequence options in the tokens of a statement.
pub(crate) fn in_order(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let makes = [Keyword::SEQUENCE, Keyword::IDENTITY];
    if !tokens.iter().any(|token| word(token).is_some_and(|word| makes.contains(&word))) {
        return tokens;
    }
    let mut ordered = Vec::with_capacity(tokens.len());
    let mut rest = &tokens[..];
    while !rest.is_empty() {
        let mut options: Vec<(usize, &[TokenWithSpan])> = Vec::new();
        while let Some((rank, length)) = option(rest) {
            let (one, behind) = rest.split_at(length);
            options.push((rank, one));
            rest = behind;
        }
        options.sort_by_key(|(rank, _)| *rank);
        ordered.extend(options.iter().flat_map(|(_, tokens)| tokens.iter().cloned()));
        if let Some((first, behind)) = rest.split_first() {
            ordered.push(first.clone());
            rest = behind;
        }
    }
    ordered
}

fn word(token: &TokenWithSpan) -> Option<Keyword> {
    match &token.token {
        Token::Word(word) => Some(word.keyword),
        _ => None,
    }
}

/// The option that the tokens begin with: its rank in the sort order and its length in tokens.
fn option(tokens: &[TokenWithSpan]) -> Option<(usize, usize)> {
    let solid = tokens.iter().enumerate();
    let mut solid =
        solid.filter(|(_, token)| !matches!(token.token, Token::Whitespace(_))).peekable();
    let (start, first) = solid.next()?;
    let end_of_word = |found: Option<(usize, &TokenWithSpan)>, wanted: &[Keyword]| {
        let (index, token) = found?;
        let which = wanted.iter().position(|wanted| word(token) == Some(*wanted))?;
        Some((which, index + 1))
    };
    let rank = match word(first)? {
        Keyword::INCREMENT => 0,
        Keyword::MINVALUE => 1,
        Keyword::MAXVALUE => 2,
        Keyword::START => 3,
        Keyword::CACHE => 4,
        Keyword::CYCLE => return Some((5, start + 1)),
        Keyword::NO => {
            let which = [Keyword::MINVALUE, Keyword::MAXVALUE, Keyword::CYCLE];
            let (which, length) = end_of_word(solid.next(), &which)?;
            return Some(([1, 2, 5][which], length));
        }
        _ => return None,
    };
    let between = match rank {
        0 => Some(Keyword::BY),
        3 => Some(Keyword::WITH),
        _ => None,
    };
    solid.next_if(|(_, token)| between.is_some() && word(token) == between);
    solid.next_if(|(_, token)| matches!(token.token, Token::Minus | Token::Plus));
    let (index, number) = solid.next()?;
    matches!(number.token, Token::Number(..)).then_some((rank, index + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_in_any_order() {
        let ordered = |text: &str| -> String {
            let tokens = crate::tokens(text).expect("tokens");
            let solid = in_order(tokens).into_iter().map(|token| token.token.to_string());
            solid.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            ordered("CREATE SEQUENCE s START WITH 4 NO CYCLE NO MAXVALUE MINVALUE -2 INCREMENT 2"),
            "CREATE SEQUENCE s INCREMENT 2 MINVALUE - 2 NO MAXVALUE START WITH 4 NO CYCLE"
        );
        assert_eq!(
            ordered("CREATE TABLE t (a int GENERATED ALWAYS AS IDENTITY, start int, cache int)"),
            "CREATE TABLE t ( a int GENERATED ALWAYS AS IDENTITY , start int , cache int )"
        );
    }
}
