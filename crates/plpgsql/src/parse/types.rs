//! Types of variables.

use super::cursor::Cursor;
use crate::tokens::Kind as Token;
use crate::tree::TypeName;
use values::error::Result;

/// The type of a variable.
pub(super) fn type_name(cursor: &mut Cursor<'_>) -> Result<TypeName> {
    let first = cursor.place();
    let mut depth = 0_usize;
    while let Some(kind) = cursor.kind() {
        let ends = ["not", "default", "collate", ":=", "=", ";", ",", ")"];
        if depth == 0 && ends.iter().any(|end| cursor.is(end)) {
            break;
        }
        match kind {
            Token::Symbol("(") => depth += 1,
            Token::Symbol(")") => depth = depth.saturating_sub(1),
            _ => {}
        }
        cursor.advance();
    }
    if first == cursor.place() {
        return Err(cursor.wrong("missing data type declaration"));
    }
    let text = cursor.text_between(first, cursor.place()).trim().to_owned();
    let lower = text.to_lowercase();
    let parts = |text: &str| {
        let part = |part: &str| match part.strip_prefix('"').and_then(|p| p.strip_suffix('"')) {
            Some(quoted) => quoted.to_owned(),
            None => part.to_lowercase(),
        };
        text.split('.').map(|text| part(text.trim())).collect::<Vec<_>>()
    };
    Ok(match lower.split_once('%') {
        Some((_, kind)) if kind.trim() == "rowtype" => {
            TypeName::RowOf(text.split('%').next().unwrap_or_default().trim().to_owned())
        }
        Some((_, kind)) if kind.trim() == "type" => {
            TypeName::TypeOf(parts(text.split('%').next().unwrap_or_default().trim()))
        }
        Some(_) => return Err(cursor.unexpected()),
        None if lower == "record" => TypeName::Record,
        None => TypeName::Plain(text),
    })
}
