//! DECLARE, FETCH and MOVE. The SQL parser knows some forms of the first two only, so they are read here.

use crate::parser::Statement;
use crate::parser::names::fold;
use datafusion::sql::sqlparser::ast::{Ident, Query, Statement as Ast};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

/// A statement about a cursor.
#[derive(Debug, Clone)]
pub(crate) enum CursorStatement {
    Declare(Declaration),
    Fetch(Fetch),
}

/// DECLARE as it is read.
#[derive(Debug, Clone)]
pub(crate) struct Declaration {
    name: String,
    query: Box<Query>,
    binary: bool,
    scroll: bool,
    hold: bool,
}

impl Declaration {
    /// With its query as a statement of its own.
    pub(super) fn of(&self, statement: &Statement) -> Declare {
        let Self { name, query, binary, scroll, hold } = self.clone();
        let query = statement.with_ast(Ast::Query(query));
        Declare { name, query, binary, scroll, hold }
    }
}

/// A cursor over a query.
#[derive(Debug, Clone)]
pub struct Declare {
    /// The cursor's name.
    pub name: String,
    /// The query.
    pub query: Statement,
    /// Whether values are binary.
    pub binary: bool,
    /// Whether it goes backwards, too.
    pub scroll: bool,
    /// Whether it lives on after the transaction.
    pub hold: bool,
}

/// Rows of a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// The cursor's name.
    pub cursor: String,
    /// Which rows.
    pub direction: Direction,
    /// Whether the rows are passed over (MOVE).
    pub moves: bool,
}

/// Which rows of a cursor, seen from where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// So many of the next ones; `None` is all.
    Forward(Option<u64>),
    /// So many of the ones before, nearest first; `None` is all.
    Backward(Option<u64>),
    /// The one of this number; from the end where it is negative, before the first where it is 0.
    Absolute(i64),
    /// The one so many rows further on, or back.
    Relative(i64),
}

/// A statement about a cursor, if the parser stands before one.
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

/// The parser does not know this word.
fn is_move(token: &Token) -> bool {
    matches!(token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("move"))
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
            // A cursor never sees what is written after its declaration.
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
    // A word that ends the statement is a cursor's name.
    if matches!(parser.peek_nth_token(1).token, Token::EOF | Token::SemiColon) {
        return Ok(one);
    }
    if let Some(count) = number(parser)? {
        return Ok(rows(count));
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
        Some(Keyword::ABSOLUTE) => Direction::Absolute(needed(parser)?),
        Some(Keyword::RELATIVE) => Direction::Relative(needed(parser)?),
        Some(Keyword::ALL) => Direction::Forward(None),
        Some(Keyword::FORWARD) => match number(parser)? {
            Some(count) => rows(count),
            None if parser.parse_keyword(Keyword::ALL) => Direction::Forward(None),
            None => one,
        },
        Some(Keyword::BACKWARD) => match number(parser)? {
            Some(count) => rows(count.saturating_neg()),
            None if parser.parse_keyword(Keyword::ALL) => Direction::Backward(None),
            None => Direction::Backward(Some(1)),
        },
        _ => one,
    })
}

/// So many rows; a negative number goes back, and none is the row that the cursor stands on.
fn rows(count: i64) -> Direction {
    match count {
        0 => Direction::Relative(0),
        1.. => Direction::Forward(Some(count.unsigned_abs())),
        _ => Direction::Backward(Some(count.unsigned_abs())),
    }
}

fn needed(parser: &mut Parser<'_>) -> Result<i64, ParserError> {
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
        let cursor = crate::parser(text).expect("parses").remove(0).cursor;
        CursorStatement::clone(&cursor.expect("is about a cursor"))
    }

    fn direction_of(text: &str) -> Direction {
        match parsed(text) {
            CursorStatement::Fetch(fetch) if fetch.cursor == "c" => fetch.direction,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn every_way_to_fetch_is_read() {
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
        assert!(crate::parser("FETCH ABSOLUTE FROM c").is_err());
    }

    #[test]
    fn a_declaration_has_its_words_in_any_order() {
        let text = "DECLARE c INSENSITIVE SCROLL BINARY CURSOR WITH HOLD FOR SELECT 1";
        let CursorStatement::Declare(declare) = parsed(text) else { panic!("{text}") };
        assert!(declare.scroll && declare.binary && declare.hold);
        let text = "declare c no scroll cursor without hold for select 1";
        let CursorStatement::Declare(declare) = parsed(text) else { panic!("{text}") };
        assert!(!declare.scroll && !declare.binary && !declare.hold);
    }
}
