//! Parses DECLARE, FETCH and MOVE. The SQL parser lacks MOVE and some forms of the others.

use crate::names::fold;
use datafusion::sql::sqlparser::ast::{Ident, Query};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

/// A statement about a cursor.
#[derive(Debug, Clone)]
pub enum CursorStatement {
    /// DECLARE.
    Declare(Declaration),
    /// FETCH or MOVE.
    Fetch(Fetch),
}

/// DECLARE.
#[derive(Debug, Clone)]
pub struct Declaration {
    /// The name of the cursor.
    pub name: String,
    /// The query.
    pub query: Box<Query>,
    /// Whether values are returned in binary format (BINARY).
    pub binary: bool,
    /// Whether the cursor can move backwards (SCROLL).
    pub scroll: bool,
    /// Whether the cursor stays open after its transaction commits (WITH HOLD).
    pub hold: bool,
}

/// FETCH or MOVE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// The name of the cursor.
    pub cursor: String,
    /// Which rows.
    pub direction: Direction,
    /// Whether the cursor only moves and returns no rows (MOVE).
    pub moves: bool,
}

/// The rows to fetch, relative to the position of the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The next `n` rows; `None` means all.
    Forward(Option<u64>),
    /// The preceding `n` rows, nearest first; `None` means all.
    Backward(Option<u64>),
    /// Row `n`, counted from the end if negative. 0 is the position before the first row.
    Absolute(i64),
    /// The row `n` rows ahead, or behind if negative.
    Relative(i64),
}

/// Parses DECLARE, FETCH and MOVE. Returns `None` without consuming tokens if the statement is
/// another one.
pub(crate) fn parse(parser: &mut Parser<'_>) -> Result<Option<CursorStatement>, ParserError> {
    if parser.parse_keyword(Keyword::DECLARE) {
        return Ok(Some(CursorStatement::Declare(declaration(parser)?)));
    }
    let moves = is_move(&parser.peek_token().token);
    if moves || parser.peek_keyword(Keyword::FETCH) {
        parser.advance_token();
        return Ok(Some(CursorStatement::Fetch(fetch(parser, moves)?)));
    }
    Ok(None)
}

/// The SQL parser has no keyword MOVE.
fn is_move(token: &Token) -> bool {
    matches!(token, Token::Word(word)
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("move"))
}

fn declaration(parser: &mut Parser<'_>) -> Result<Declaration, ParserError> {
    let name = fold(&parser.parse_identifier()?);
    let (mut binary, mut scroll) = (false, false);
    loop {
        let words = [
            Keyword::BINARY,
            Keyword::INSENSITIVE,
            Keyword::ASENSITIVE,
            Keyword::SCROLL,
            Keyword::NO,
        ];
        match parser.parse_one_of_keywords(&words) {
            Some(Keyword::BINARY) => binary = true,
            Some(Keyword::SCROLL) => scroll = true,
            Some(Keyword::NO) => parser.expect_keyword(Keyword::SCROLL).map(drop)?,
            // All cursors are insensitive: they do not see later changes.
            Some(_) => {}
            None => break,
        }
    }
    parser.expect_keyword(Keyword::CURSOR)?;
    let hold = parser.parse_keywords(&[Keyword::WITH, Keyword::HOLD]);
    let _ = !hold && parser.parse_keywords(&[Keyword::WITHOUT, Keyword::HOLD]);
    parser.expect_keyword(Keyword::FOR)?;
    let query = parser.parse_query()?;
    Ok(Declaration { name, query, binary, scroll, hold })
}

fn fetch(parser: &mut Parser<'_>, moves: bool) -> Result<Fetch, ParserError> {
    let direction = direction(parser)?;
    let _ = parser.parse_one_of_keywords(&[Keyword::FROM, Keyword::IN]);
    let cursor: Ident = parser.parse_identifier()?;
    Ok(Fetch { cursor: fold(&cursor), direction, moves })
}

fn direction(parser: &mut Parser<'_>) -> Result<Direction, ParserError> {
    let one = Direction::Forward(Some(1));
    // The last word of the statement is the name of the cursor.
    if matches!(parser.peek_nth_token(1).token, Token::EOF | Token::SemiColon) {
        return Ok(one);
    }
    if let Some(count) = number(parser)? {
        return Ok(direction_of_count(count));
    }
    let words = [
        Keyword::NEXT,
        Keyword::PRIOR,
        Keyword::FIRST,
        Keyword::LAST,
        Keyword::ABSOLUTE,
        Keyword::RELATIVE,
        Keyword::ALL,
        Keyword::FORWARD,
        Keyword::BACKWARD,
    ];
    Ok(match parser.parse_one_of_keywords(&words) {
        Some(Keyword::PRIOR) => Direction::Backward(Some(1)),
        Some(Keyword::FIRST) => Direction::Absolute(1),
        Some(Keyword::LAST) => Direction::Absolute(-1),
        Some(Keyword::ABSOLUTE) => Direction::Absolute(required_number(parser)?),
        Some(Keyword::RELATIVE) => Direction::Relative(required_number(parser)?),
        Some(Keyword::ALL) => Direction::Forward(None),
        Some(Keyword::FORWARD) => match number(parser)? {
            Some(count) => direction_of_count(count),
            None if parser.parse_keyword(Keyword::ALL) => Direction::Forward(None),
            None => one,
        },
        Some(Keyword::BACKWARD) => match number(parser)? {
            Some(count) => direction_of_count(count.saturating_neg()),
            None if parser.parse_keyword(Keyword::ALL) => Direction::Backward(None),
            None => Direction::Backward(Some(1)),
        },
        _ => one,
    })
}

/// The direction for a count. Negative counts go back; 0 is the current row.
fn direction_of_count(count: i64) -> Direction {
    match count {
        0 => Direction::Relative(0),
        1.. => Direction::Forward(Some(count.unsigned_abs())),
        _ => Direction::Backward(Some(count.unsigned_abs())),
    }
}

fn required_number(parser: &mut Parser<'_>) -> Result<i64, ParserError> {
    match number(parser)? {
        Some(number) => Ok(number),
        None => parser.expected("a number", parser.peek_token()),
    }
}

fn number(parser: &mut Parser<'_>) -> Result<Option<i64>, ParserError> {
    let sign = match parser.peek_token().token {
        Token::Minus => -1,
        Token::Plus | Token::Number(..) => 1,
        _ => return Ok(None),
    };
    let _ = parser.consume_token(&Token::Minus) || parser.consume_token(&Token::Plus);
    let token = parser.next_token();
    let number = match &token.token {
        Token::Number(number, _) => number.to_string().parse::<i64>().ok(),
        _ => None,
    };
    match number {
        Some(number) => Ok(Some(sign * number)),
        None => parser.expected("a number of rows", token),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> CursorStatement {
        match crate::parse(text).expect("parses").remove(0).body() {
            crate::Body::Cursor(cursor) => cursor.clone(),
            other => panic!("{other:?} is not about a cursor"),
        }
    }

    fn direction_of(text: &str) -> Direction {
        match parsed(text) {
            CursorStatement::Fetch(fetch) if fetch.cursor == "c" => fetch.direction,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn all_directions_are_parsed() {
        use Direction::{Absolute, Backward, Forward, Relative};
        for (text, expected) in [
            ("FETCH c", Forward(Some(1))),
            ("FETCH FROM c", Forward(Some(1))),
            ("FETCH NEXT IN c", Forward(Some(1))),
            ("FETCH PRIOR FROM c", Backward(Some(1))),
            ("FETCH FIRST c", Absolute(1)),
            ("FETCH LAST c", Absolute(-1)),
            ("FETCH ABSOLUTE -3 FROM c", Absolute(-3)),
            ("FETCH RELATIVE 2 FROM c", Relative(2)),
            ("FETCH 7 c", Forward(Some(7))),
            ("FETCH -7 IN c", Backward(Some(7))),
            ("FETCH 0 FROM c", Relative(0)),
            ("FETCH ALL c", Forward(None)),
            ("FETCH FORWARD c", Forward(Some(1))),
            ("FETCH FORWARD 3 FROM c", Forward(Some(3))),
            ("FETCH FORWARD ALL FROM c", Forward(None)),
            ("MOVE BACKWARD FROM c", Backward(Some(1))),
            ("MOVE BACKWARD 3 c", Backward(Some(3))),
            ("MOVE BACKWARD ALL IN c", Backward(None)),
        ] {
            assert_eq!(direction_of(text), expected, "{text}");
        }
        assert!(
            matches!(parsed("fetch next"), CursorStatement::Fetch(fetch) if fetch.cursor == "next")
        );
        assert!(crate::parse("FETCH ABSOLUTE FROM c").is_err());
    }

    #[test]
    fn options_of_declare_come_in_any_order() {
        let text = "DECLARE c INSENSITIVE SCROLL BINARY CURSOR WITH HOLD FOR SELECT 1";
        let CursorStatement::Declare(declare) = parsed(text) else { panic!("{text}") };
        assert!(declare.scroll && declare.binary && declare.hold);
        let text = "declare c no scroll cursor without hold for select 1";
        let CursorStatement::Declare(declare) = parsed(text) else { panic!("{text}") };
        assert!(!declare.scroll && !declare.binary && !declare.hold);
    }
}
