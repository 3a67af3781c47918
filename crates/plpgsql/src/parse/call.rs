//! CALL, and the variables that get the values of output parameters.

use super::cursor::Cursor;
use crate::tree::{Kind, Target};
use values::error::Result;

/// CALL of a procedure.
pub(super) fn call(cursor: &mut Cursor<'_>) -> Result<Kind> {
    let (first, position) = (cursor.place(), cursor.position());
    cursor.expect(&["call"])?;
    cursor.target()?;
    cursor.expect(&["("])?;
    let mut targets = Vec::new();
    while !cursor.is(")") {
        if cursor.is_ahead(1, "=>") || cursor.is_ahead(1, ":=") {
            cursor.name()?;
            cursor.advance();
        }
        let value = cursor.sql_until(&[",", ")"])?;
        targets.push(target(&value.text));
        if !cursor.accept(",") {
            break;
        }
    }
    cursor.expect(&[")"])?;
    let sql = cursor.sql_between(first, cursor.place(), position);
    cursor.expect(&[";"])?;
    Ok(Kind::Call(sql, targets))
}

/// The variable that a text names, if it is nothing but a name.
fn target(text: &str) -> Option<Target> {
    let mut cursor = Cursor::new(text).ok()?;
    let target = cursor.target().ok()?;
    cursor.is_at_end().then_some(target)
}
