//! PostgreSQL's literals of rows: `(1,"a b",,"")`.

use crate::error::{Error, Result, SqlState};
use std::iter::Peekable;
use std::str::Chars;

/// Reads the fields of a literal of so many fields; `None` is NULL.
///
/// # Errors
/// 22P02: malformed literal, or one with another number of fields.
pub fn fields(text: &str, count: usize) -> Result<Vec<Option<String>>> {
    let bad = |detail: &str| {
        let message = format!("malformed record literal: \"{text}\"");
        let error = Error::new(SqlState::InvalidTextRepresentation, message);
        Err(error.with_detail(detail).at_literal(text))
    };
    let mut rest = text.trim_start_matches(is_blank).chars().peekable();
    if rest.next_if_eq(&'(').is_none() {
        return bad("Missing left parenthesis.");
    }
    let mut fields = Vec::with_capacity(count);
    for number in 0..count {
        if number > 0 && rest.next_if_eq(&',').is_none() {
            return bad("Too few columns.");
        }
        match field(&mut rest) {
            Some(field) => fields.push(field),
            None => return bad("Unexpected end of input."),
        }
    }
    if rest.next_if_eq(&')').is_none() {
        return bad("Too many columns.");
    }
    match rest.all(is_blank) {
        true => Ok(fields),
        false => bad("Junk after right parenthesis."),
    }
}

/// White space as the C library has it.
fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

/// One field, up to what ends it; `None` if the text ends before.
fn field(rest: &mut Peekable<Chars<'_>>) -> Option<Option<String>> {
    if matches!(rest.peek(), Some(',' | ')')) {
        return Some(None);
    }
    let (mut field, mut is_quoted) = (String::new(), false);
    while is_quoted || !matches!(rest.peek(), Some(',' | ')')) {
        match rest.next()? {
            '\\' => field.push(rest.next()?),
            '"' if !is_quoted => is_quoted = true,
            '"' if rest.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => is_quoted = false,
            other => field.push(other),
        }
    }
    Some(Some(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, count: usize) -> Vec<Option<String>> {
        fields(text, count).expect("a literal")
    }

    fn detail(text: &str, count: usize) -> String {
        let error = fields(text, count).expect_err("malformed");
        error.detail().unwrap_or_default().to_owned()
    }

    #[test]
    fn literals_give_their_fields() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read("(1,a)", 2), [some("1"), some("a")]);
        assert_eq!(read(" (,\"\") ", 2), [None, some("")]);
        assert_eq!(read("( a ,b\\,c)", 2), [some(" a "), some("b,c")]);
        assert_eq!(read("(\"a\"\"b\",\"c)\"d)", 2), [some("a\"b"), some("c)d")]);
        assert_eq!(read("()", 1), [None]);
        assert_eq!(read("()", 0), []);
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(detail("1,2)", 2), "Missing left parenthesis.");
        assert_eq!(detail("(1)", 2), "Too few columns.");
        assert_eq!(detail("(1,2,3)", 2), "Too many columns.");
        assert_eq!(detail("(1,\"2)", 2), "Unexpected end of input.");
        assert_eq!(detail("(1,2", 2), "Unexpected end of input.");
        assert_eq!(detail("(1,2) x", 2), "Junk after right parenthesis.");
    }
}
