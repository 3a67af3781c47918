//! Options before the outermost block: `#variable_conflict use_column`.

use super::cursor::Cursor;
use crate::tree::Conflict;
use values::error::{Error, Result};

/// The options of a function: what names mean that are both a variable's and a column's, and whether errors of INTO STRICT
/// have the values of parameters.
pub(super) fn options(cursor: &mut Cursor<'_>) -> Result<(Conflict, bool)> {
    let (mut conflict, mut prints_strict) = (Conflict::Error, false);
    while cursor.accept("#") {
        let position = cursor.position();
        let option = cursor.name()?;
        match option.as_str() {
            "variable_conflict" => conflict = chosen(cursor)?,
            "print_strict_params" if cursor.accept("on") => prints_strict = true,
            "print_strict_params" if cursor.accept("off") => prints_strict = false,
            "print_strict_params" => return Err(cursor.unexpected()),
            "option" => {
                let message = format!("#{option} in PL/pgSQL is not supported");
                return Err(Error::unsupported(message).at(position));
            }
            _ => {
                return Err(cursor
                    .wrong(format!("syntax error at or near \"{option}\""))
                    .at(position));
            }
        }
    }
    Ok((conflict, prints_strict))
}

fn chosen(cursor: &mut Cursor<'_>) -> Result<Conflict> {
    for (word, conflict) in [
        ("error", Conflict::Error),
        ("use_column", Conflict::Column),
        ("use_variable", Conflict::Variable),
    ] {
        if cursor.accept(word) {
            return Ok(conflict);
        }
    }
    Err(cursor.unexpected())
}
