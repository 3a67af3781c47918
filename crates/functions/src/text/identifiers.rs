//! `parse_ident`: the parts of a qualified name. Grafana uses it.

use crate::row_function::{Row, typed_function};
use datafusion::logical_expr::ScalarUDF;
use store::catalog::SqlType;
use values::cells::Cell;
use values::error::{Error, Result, SqlState};

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    let names = SqlType::Array(Box::new(SqlType::Text));
    vec![typed_function("parse_ident", 1..=2, names, parse_ident)]
}

fn parse_ident(row: &Row<'_>) -> Result<Cell> {
    if row.has_null() {
        return Ok(Cell::Null);
    }
    let strict = row.flag(1).unwrap_or(true);
    row.text(0).map(|text| parts(text, strict)).transpose().map(Cell::from)
}

/// The parts of a name; parts without quotes are lowered. If `strict`, nothing may follow the name.
fn parts(text: &str, strict: bool) -> Result<Vec<String>> {
    let invalid = |detail: Option<&str>| {
        let message = format!("string is not a valid identifier: \"{text}\"");
        let error = Error::new(SqlState::InvalidParameterValue, message);
        match detail {
            Some(detail) => error.with_detail(detail),
            None => error,
        }
    };
    let mut parts = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    loop {
        let (part, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_part(quoted).map_err(|detail| invalid(Some(detail)))?,
            None if rest.starts_with(is_first) => plain_part(rest),
            None => {
                return Err(invalid(match (rest.starts_with('.'), parts.is_empty()) {
                    (true, _) => Some("No valid identifier before \".\"."),
                    (false, false) => Some("No valid identifier after \".\"."),
                    (false, true) => None,
                }));
            }
        };
        parts.push(part);
        rest = after.trim_start_matches(is_space);
        match rest.strip_prefix('.') {
            Some(after) => rest = after.trim_start_matches(is_space),
            None if rest.is_empty() || !strict => return Ok(parts),
            None => return Err(invalid(None)),
        }
    }
}

/// A quoted part after its opening quote, and the rest of the text.
///
/// # Errors
/// The detail of the error.
fn quoted_part(text: &str) -> Result<(String, &str), &'static str> {
    let (mut part, mut rest) = (String::new(), text);
    loop {
        let (before, after) = rest.split_once('"').ok_or("String has unclosed double quotes.")?;
        part.push_str(before);
        match after.strip_prefix('"') {
            Some(after) => {
                part.push('"');
                rest = after;
            }
            None if part.is_empty() => return Err("Quoted identifier must not be empty."),
            None => return Ok((part, after)),
        }
    }
}

/// A part without quotes, and the rest of the text.
fn plain_part(text: &str) -> (String, &str) {
    let (part, rest) = text.split_at(text.find(|c| !is_further(c)).unwrap_or(text.len()));
    (part.to_ascii_lowercase(), rest)
}

fn is_first(c: char) -> bool {
    c == '_' || c.is_ascii_alphabetic() || !c.is_ascii()
}

fn is_further(c: char) -> bool {
    is_first(c) || c == '$' || c.is_ascii_digit()
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c')
}
