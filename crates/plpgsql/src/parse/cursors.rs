//! Cursors: their declarations, OPEN, FETCH, MOVE, CLOSE and loops over their rows.

use super::cursor::Cursor;
use super::rows::rows;
use super::types::type_name;
use crate::tokens::Kind as Token;
use crate::tree::{Argument, BoundCursor, Count, Declared, Direction, Fetch, Kind, Open, Opened};
use values::error::{Result, SqlState};

/// Whether a declaration goes on as one of a cursor, behind its name.
pub(super) fn is_declared(cursor: &Cursor<'_>) -> bool {
    let at = match () {
        () if cursor.is("scroll") => 1,
        () if cursor.is("no") && cursor.is_ahead(1, "scroll") => 2,
        () => 0,
    };
    cursor.is_ahead(at, "cursor")
        && ["(", "for", "is"].iter().any(|next| cursor.is_ahead(at + 1, next))
}

/// `[[NO] SCROLL] CURSOR [(parameters)] FOR query;`, behind its name.
pub(super) fn declared(cursor: &mut Cursor<'_>) -> Result<Declared> {
    let scrolls = scrolls(cursor)?;
    cursor.expect(&["cursor"])?;
    let mut parameters = Vec::new();
    if cursor.accept("(") {
        loop {
            let name = cursor.name()?;
            parameters.push((name, type_name(cursor)?));
            if !cursor.accept(",") {
                break;
            }
        }
        cursor.expect(&[")"])?;
    }
    if !cursor.accept("is") {
        cursor.expect(&["for"])?;
    }
    let query = cursor.sql_until(&[";"])?;
    cursor.expect(&[";"])?;
    Ok(Declared::Cursor(BoundCursor { scrolls, parameters, query }))
}

/// SCROLL or NO SCROLL.
fn scrolls(cursor: &mut Cursor<'_>) -> Result<Option<bool>> {
    if cursor.accept("no") {
        cursor.expect(&["scroll"])?;
        return Ok(Some(false));
    }
    Ok(cursor.accept("scroll").then_some(true))
}

/// OPEN.
pub(super) fn open(cursor: &mut Cursor<'_>) -> Result<Kind> {
    cursor.expect(&["open"])?;
    let target = cursor.target()?;
    let scrolls = scrolls(cursor)?;
    if scrolls.is_some() && !cursor.is("for") {
        return Err(cursor.unexpected());
    }
    let of = match cursor.accept("for") {
        true => Opened::Rows(rows(cursor, &[";"])?),
        false => Opened::Bound(arguments(cursor)?),
    };
    cursor.expect(&[";"])?;
    Ok(Kind::Open(Box::new(Open { cursor: target, scrolls, of })))
}

/// The arguments of a bound cursor.
pub(super) fn arguments(cursor: &mut Cursor<'_>) -> Result<Vec<Argument>> {
    let mut all = Vec::new();
    if !cursor.accept("(") {
        return Ok(all);
    }
    loop {
        let is_named = cursor.is_ahead(1, ":=");
        let name = match is_named {
            true => {
                let name = cursor.name()?;
                cursor.advance();
                Some(name)
            }
            false => None,
        };
        let value = cursor.sql_until(&[",", ")"])?;
        all.push(Argument { name, value });
        if !cursor.accept(",") {
            break;
        }
    }
    cursor.expect(&[")"])?;
    Ok(all)
}

/// FETCH and MOVE.
pub(super) fn fetch(cursor: &mut Cursor<'_>) -> Result<Kind> {
    let moves = cursor.is("move");
    cursor.advance();
    let position = cursor.position();
    let (direction, is_of_many) = direction(cursor)?;
    let target = cursor.target()?;
    let mut into = Vec::new();
    if !moves {
        if is_of_many {
            let message = "FETCH statement cannot return multiple rows";
            return Err(cursor.error(SqlState::FeatureNotSupported, message).at(position));
        }
        cursor.expect(&["into"])?;
        into.push(cursor.target()?);
        while cursor.accept(",") {
            into.push(cursor.target()?);
        }
    }
    cursor.expect(&[";"])?;
    Ok(Kind::Fetch(Box::new(Fetch { cursor: target, direction, into, moves })))
}

/// The direction up to the name of the cursor, and whether it may be one of several rows.
fn direction(cursor: &mut Cursor<'_>) -> Result<(Direction, bool)> {
    let next = Direction::Forward(Count::One);
    let word = match cursor.kind() {
        Some(Token::Word(word)) => word.clone(),
        _ => String::new(),
    };
    // A cursor may have the name of a direction.
    if [";", "into", "."].iter().any(|end| cursor.is_ahead(1, end)) {
        return Ok((next, false));
    }
    if matches!(word.as_str(), "from" | "in") {
        cursor.advance();
        return Ok((next, false));
    }
    let known = match word.as_str() {
        "next" => Some(next),
        "prior" => Some(Direction::Backward(Count::One)),
        "first" => Some(Direction::First),
        "last" => Some(Direction::Last),
        _ => None,
    };
    if let Some(direction) = known {
        cursor.advance();
        behind(cursor)?;
        return Ok((direction, false));
    }
    match word.as_str() {
        "absolute" | "relative" => {
            cursor.advance();
            let place = cursor.sql_until(&["from", "in"])?;
            cursor.advance();
            let is_absolute = word == "absolute";
            let direction = if is_absolute { Direction::Absolute } else { Direction::Relative };
            Ok((direction(place), false))
        }
        "forward" => {
            cursor.advance();
            let (count, is_of_many) = count(cursor)?;
            Ok((Direction::Forward(count), is_of_many))
        }
        "backward" => {
            cursor.advance();
            let (count, is_of_many) = count(cursor)?;
            Ok((Direction::Backward(count), is_of_many))
        }
        _ => {
            let (count, is_of_many) = count(cursor)?;
            Ok((Direction::Forward(count), is_of_many))
        }
    }
}

fn count(cursor: &mut Cursor<'_>) -> Result<(Count, bool)> {
    if cursor.accept("from") || cursor.accept("in") {
        return Ok((Count::One, false));
    }
    if cursor.accept("all") {
        behind(cursor)?;
        return Ok((Count::All, true));
    }
    let count = cursor.sql_until(&["from", "in"])?;
    cursor.advance();
    Ok((Count::Of(count), true))
}

/// FROM or IN before the name of the cursor.
fn behind(cursor: &mut Cursor<'_>) -> Result<()> {
    match cursor.accept("from") || cursor.accept("in") {
        true => Ok(()),
        false => Err(cursor.wrong("expected FROM or IN")),
    }
}

/// CLOSE.
pub(super) fn close(cursor: &mut Cursor<'_>) -> Result<Kind> {
    cursor.expect(&["close"])?;
    let target = cursor.target()?;
    cursor.expect(&[";"])?;
    Ok(Kind::Close(target))
}

/// Whether the rows of a loop are those of a cursor: a name, perhaps with arguments, stands before LOOP.
pub(super) fn is_looped_over(cursor: &Cursor<'_>) -> bool {
    if !matches!(cursor.kind(), Some(Token::Word(_) | Token::Quoted(_))) {
        return false;
    }
    if cursor.is_ahead(1, "loop") {
        return true;
    }
    let begins_query = ["select", "values", "with", "table", "execute"];
    if begins_query.iter().any(|word| cursor.is(word)) || !cursor.is_ahead(1, "(") {
        return false;
    }
    let (mut at, mut depth) = (1, 0_usize);
    while let Some(kind) = cursor.ahead(at) {
        match kind {
            Token::Symbol("(") => depth += 1,
            Token::Symbol(")") if depth <= 1 => return cursor.is_ahead(at + 1, "loop"),
            Token::Symbol(")") => depth -= 1,
            Token::Symbol(";") => return false,
            _ => {}
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::parse;
    use crate::tree::{Count, Declared, Direction, Fetch, Kind, Opened};

    fn fetched(statement: &str) -> Fetch {
        let block = parse(&format!("BEGIN {statement} END")).expect("parses");
        match &block.body[0].kind {
            Kind::Fetch(fetch) => Fetch::clone(fetch),
            other => panic!("{other:?}"),
        }
    }

    fn refused(source: &str) -> String {
        parse(source).expect_err("wrong").message().to_owned()
    }

    #[test]
    fn directions_stand_before_the_name() {
        let one = Direction::Forward(Count::One);
        for text in ["FETCH c INTO x;", "FETCH FROM c INTO x;", "FETCH NEXT FROM c INTO x;"] {
            assert_eq!(fetched(text).direction, one);
        }
        // A cursor whose name is a direction.
        assert_eq!(fetched("FETCH first INTO x;").cursor.parts, ["first"]);
        assert_eq!(fetched("MOVE LAST IN c;").direction, Direction::Last);
        assert_eq!(fetched("MOVE BACKWARD ALL FROM c;").direction, Direction::Backward(Count::All));
        let Direction::Relative(place) = fetched("FETCH RELATIVE -n + 1 FROM c INTO x;").direction
        else {
            panic!("not relative");
        };
        assert_eq!(place.text, "-n + 1");
        let Direction::Forward(Count::Of(count)) = fetched("MOVE 2 + 3 IN c;").direction else {
            panic!("not forward");
        };
        assert_eq!(count.text, "2 + 3");
    }

    #[test]
    fn only_move_takes_several_rows() {
        let message = "FETCH statement cannot return multiple rows";
        assert_eq!(refused("BEGIN FETCH ALL FROM c INTO x; END"), message);
        assert_eq!(refused("BEGIN FETCH FORWARD 2 FROM c INTO x; END"), message);
        assert!(refused("BEGIN FETCH NEXT c INTO x; END").starts_with("expected FROM or IN"));
    }

    #[test]
    fn bound_cursors_have_parameters() {
        let source = "DECLARE c NO SCROLL CURSOR (a int, b numeric(3, 1)) FOR SELECT a, b; \
                      BEGIN OPEN c(1, b := 2); FOR r IN c(f(1), 2) LOOP END LOOP; CLOSE c; END";
        let block = parse(source).expect("parses");
        let Declared::Cursor(bound) = &block.declarations[0].kind else {
            panic!("{:?}", block.declarations[0]);
        };
        assert_eq!((bound.scrolls, bound.parameters.len()), (Some(false), 2));
        let Kind::Open(open) = &block.body[0].kind else { panic!("{:?}", block.body[0]) };
        let Opened::Bound(arguments) = &open.of else { panic!("{open:?}") };
        assert_eq!(arguments[1].name.as_deref(), Some("b"));
        assert!(matches!(block.body[1].kind, Kind::ForCursor(_)));
        assert!(matches!(block.body[2].kind, Kind::Close(_)));
    }

    #[test]
    fn queries_are_no_cursors() {
        for rows in ["SELECT f(1)", "VALUES (1)", "(SELECT 1)", "EXECUTE 'SELECT 1'"] {
            let block = parse(&format!("BEGIN FOR r IN {rows} LOOP END LOOP; END"));
            assert!(matches!(block.expect("parses").body[0].kind, Kind::ForRows(..)), "{rows}");
        }
    }
}
