//! The text of a query that is a part of a statement, for the SQL parser.
//!
//! What is around the query becomes blanks, so that locations stay those of the statement.

use crate::sql::tokens;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use grammar::tree::NodeEnum;
use std::borrow::Cow;
use values::lines::Lines;

/// The text of the query or the change in a statement with a text. `None` if it has none.
pub(crate) fn of<'a>(statement: &NodeEnum, text: &'a str) -> Option<Cow<'a, str>> {
    match statement {
        NodeEnum::PrepareStmt(_) | NodeEnum::ViewStmt(_) => behind(text, Keyword::AS),
        NodeEnum::CreateTableAsStmt(create) if create.is_select_into => {
            let query = create.query.as_ref()?.node.as_ref()?;
            grammar::statement_text(query).map(Cow::Owned)
        }
        NodeEnum::CreateTableAsStmt(_) => {
            let text = behind(text, Keyword::AS)?;
            Some(without_data(text))
        }
        NodeEnum::DeclareCursorStmt(_) => behind(text, Keyword::FOR),
        NodeEnum::ExplainStmt(explain) => explained(text, !explain.options.is_empty()),
        NodeEnum::CopyStmt(_) => copied(text),
        _ => Some(Cow::Borrowed(text)),
    }
}

/// A text with blanks up to a keyword outside of parentheses.
fn behind(text: &str, keyword: Keyword) -> Option<Cow<'_, str>> {
    let tokens = tokens(text).ok()?;
    let mut open = 0;
    for token in &tokens {
        match &token.token {
            Token::LParen => open += 1,
            Token::RParen => open -= 1,
            Token::Word(word) if word.keyword == keyword && open == 0 => {
                return Some(between(text, Some(token), None));
            }
            _ => {}
        }
    }
    None
}

/// Without WITH DATA or WITH NO DATA at the end, which the SQL parser does not know there.
fn without_data(text: Cow<'_, str>) -> Cow<'_, str> {
    let Ok(tokens) = tokens(&text) else { return text };
    let solid: Vec<&TokenWithSpan> = solid(&tokens).collect();
    let is = |at: usize, wanted: &str| {
        let token = solid.len().checked_sub(at).and_then(|at| solid.get(at));
        token.is_some_and(|token| token.token.to_string().eq_ignore_ascii_case(wanted))
    };
    let length = match () {
        () if is(1, "DATA") && is(2, "WITH") => 2,
        () if is(1, "DATA") && is(2, "NO") && is(3, "WITH") => 3,
        () => return text,
    };
    let last = solid[solid.len() - length];
    Cow::Owned(between(&text, None, Some(last)).into_owned())
}

fn explained(text: &str, has_options: bool) -> Option<Cow<'_, str>> {
    let tokens = tokens(text).ok()?;
    let mut solid = solid(&tokens).peekable();
    let mut last = solid.next()?;
    if has_options && solid.peek().is_some_and(|token| token.token == Token::LParen) {
        let mut open = 0;
        for token in solid {
            match token.token {
                Token::LParen => open += 1,
                Token::RParen => open -= 1,
                _ => {}
            }
            last = token;
            if open == 0 {
                break;
            }
        }
        return Some(between(text, Some(last), None));
    }
    for token in solid {
        match &token.token {
            Token::Word(word)
                if word.quote_style.is_none()
                    && ["analyze", "analyse", "verbose"]
                        .contains(&word.value.to_lowercase().as_str()) =>
            {
                last = token;
            }
            _ => break,
        }
    }
    Some(between(text, Some(last), None))
}

fn copied(text: &str) -> Option<Cow<'_, str>> {
    let tokens = tokens(text).ok()?;
    let (mut first, mut open) = (None, 0);
    for token in solid(&tokens) {
        match token.token {
            Token::LParen => {
                first = first.or(Some(token));
                open += 1;
            }
            Token::RParen => {
                open -= 1;
                if open == 0 {
                    return Some(between(text, first, Some(token)));
                }
            }
            _ => {}
        }
    }
    None
}

fn solid(tokens: &[TokenWithSpan]) -> impl Iterator<Item = &TokenWithSpan> {
    tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_) | Token::EOF))
}

/// A text with blanks up to the end of a token and from the beginning of another.
fn between<'a>(
    text: &'a str,
    first: Option<&TokenWithSpan>,
    last: Option<&TokenWithSpan>,
) -> Cow<'a, str> {
    let lines = Lines::new(text);
    let start = first.map_or(0, |token| lines.character(token.span.end));
    let end = last.map_or(usize::MAX, |token| lines.character(token.span.start));
    let blank = |(at, letter): (usize, char)| match (start..end).contains(&at) || letter == '\n' {
        true => letter,
        false => ' ',
    };
    Cow::Owned(text.chars().enumerate().map(blank).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner(text: &str) -> String {
        let script = grammar::parse(text).expect(text);
        let node = script.statements()[0].stmt.as_ref().and_then(|node| node.node.as_ref());
        of(node.expect("a statement"), text).expect("has a query").trim().to_owned()
    }

    #[test]
    fn the_query_is_what_is_left() {
        for text in [
            "PREPARE p (int) AS SELECT 1 AS a",
            "CREATE VIEW v (a) AS SELECT 1 AS a",
            "CREATE TABLE t AS SELECT 1 AS a WITH NO DATA",
            "DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT 1 AS a",
            "EXPLAIN SELECT 1 AS a",
            "EXPLAIN ANALYZE VERBOSE SELECT 1 AS a",
            "EXPLAIN (ANALYZE, FORMAT json) SELECT 1 AS a",
            "COPY (SELECT 1 AS a) TO STDOUT (FORMAT csv)",
            "SELECT 1 AS a INTO t",
            "SELECT 1 AS a",
        ] {
            assert_eq!(inner(text), "SELECT 1 AS a", "{text}");
        }
        assert_eq!(inner("EXPLAIN (SELECT 1)"), "(SELECT 1)");
    }
}
