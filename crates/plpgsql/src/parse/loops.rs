//! LOOP, WHILE, FOR and FOREACH.

use super::block::end_label;
use super::cursor::Cursor;
use super::cursors;
use super::rows::rows;
use super::statement::statements;
use crate::tokens::Kind as Token;
use crate::tree::{ForCursor, ForRange, Foreach, Kind, Rows, Statement, Target};
use values::error::Result;

pub(super) fn any(cursor: &mut Cursor<'_>, label: Option<String>) -> Result<Kind> {
    if cursor.accept("loop") {
        let body = body(cursor, label.as_deref())?;
        return Ok(Kind::Loop(label, None, body));
    }
    if cursor.accept("while") {
        let condition = cursor.sql_until(&["loop"])?;
        cursor.expect(&["loop"])?;
        let body = body(cursor, label.as_deref())?;
        return Ok(Kind::Loop(label, Some(condition), body));
    }
    if cursor.accept("foreach") {
        let mut targets = vec![cursor.target()?];
        while cursor.accept(",") {
            targets.push(cursor.target()?);
        }
        let slice = if cursor.accept("slice") { cursor.whole_number()? } else { 0 };
        cursor.expect(&["in", "array"])?;
        let array = cursor.sql_until(&["loop"])?;
        cursor.expect(&["loop"])?;
        let body = body(cursor, label.as_deref())?;
        return Ok(Kind::Foreach(Box::new(Foreach { label, targets, slice, array, body })));
    }
    cursor.expect(&["for"])?;
    let mut targets = vec![cursor.target()?];
    while cursor.accept(",") {
        targets.push(cursor.target()?);
    }
    cursor.expect(&["in"])?;
    if is_range(cursor) {
        return range(cursor, label, &targets[0].parts[0]);
    }
    if cursors::is_looped_over(cursor) {
        return over_cursor(cursor, label, &targets);
    }
    let rows: Rows = rows(cursor, &["loop"])?;
    cursor.expect(&["loop"])?;
    let body = body(cursor, label.as_deref())?;
    Ok(Kind::ForRows(label, targets, rows, body))
}

/// FOR over the rows of a cursor.
fn over_cursor(cursor: &mut Cursor<'_>, label: Option<String>, targets: &[Target]) -> Result<Kind> {
    let [Target { parts }] = targets else {
        return Err(cursor.wrong("cursor FOR loop must have only one target variable"));
    };
    let variable = parts[0].clone();
    let of = cursor.target()?;
    let arguments = cursors::arguments(cursor)?;
    cursor.expect(&["loop"])?;
    let body = body(cursor, label.as_deref())?;
    Ok(Kind::ForCursor(Box::new(ForCursor { label, variable, cursor: of, arguments, body })))
}

/// Whether `..` comes before LOOP.
fn is_range(cursor: &Cursor<'_>) -> bool {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(kind) = cursor.ahead(at) {
        match kind {
            Token::Symbol("(") => depth += 1,
            Token::Symbol(")") => depth = depth.saturating_sub(1),
            Token::Symbol("..") if depth == 0 => return true,
            Token::Word(word) if word == "loop" && depth == 0 => return false,
            Token::Symbol(";") if depth == 0 => return false,
            _ => {}
        }
        at += 1;
    }
    false
}

fn range(cursor: &mut Cursor<'_>, label: Option<String>, variable: &str) -> Result<Kind> {
    let is_reverse = cursor.accept("reverse");
    let from = cursor.sql_until(&[".."])?;
    cursor.expect(&[".."])?;
    let to = cursor.sql_until(&["loop", "by"])?;
    let by = match cursor.accept("by") {
        true => Some(cursor.sql_until(&["loop"])?),
        false => None,
    };
    cursor.expect(&["loop"])?;
    let body = body(cursor, label.as_deref())?;
    let variable = variable.to_owned();
    Ok(Kind::ForRange(Box::new(ForRange { label, variable, is_reverse, from, to, by, body })))
}

/// The statements of a loop, and END LOOP.
fn body(cursor: &mut Cursor<'_>, label: Option<&str>) -> Result<Vec<Statement>> {
    let body = statements(cursor, &["end"])?;
    cursor.expect(&["end", "loop"])?;
    end_label(cursor, label)?;
    cursor.expect(&[";"])?;
    Ok(body)
}
