//! Where rows come from: a query, or EXECUTE of a text.

use super::cursor::Cursor;
use crate::tree::{Rows, Sql};
use values::error::Result;

/// A query, or EXECUTE of one.
pub(super) fn rows(cursor: &mut Cursor<'_>, ends: &[&str]) -> Result<Rows> {
    if !cursor.accept("execute") {
        return Ok(Rows::Query(cursor.sql_until(ends)?));
    }
    let stops: Vec<&str> = ["using"].iter().chain(ends).copied().collect();
    let text = cursor.sql_until(&stops)?;
    Ok(Rows::Dynamic(text, using(cursor, ends)?))
}

/// The values of USING.
pub(super) fn using(cursor: &mut Cursor<'_>, ends: &[&str]) -> Result<Vec<Sql>> {
    let mut values = Vec::new();
    if cursor.accept("using") {
        let stops: Vec<&str> = [","].iter().chain(ends).copied().collect();
        loop {
            values.push(cursor.sql_until(&stops)?);
            if !cursor.accept(",") {
                break;
            }
        }
    }
    Ok(values)
}
