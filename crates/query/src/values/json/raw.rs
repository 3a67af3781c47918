//! What is in a JSON text: a value is a stretch of it, and so are its elements and members.
//!
//! Nothing is copied and nothing is built: to pass over a value its brackets and quotes are counted.

use super::string::unescape;
use crate::values::error::Result;
use std::borrow::Cow;

/// A value, by its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Null,
    Boolean(bool),
    /// The digits, as they stand there.
    Number(&'a str),
    /// The string with its quotes.
    Text(&'a str),
    /// The whole array: see [`elements`].
    Array(&'a str),
    /// The whole object: see [`members`].
    Object(&'a str),
}

impl<'a> Value<'a> {
    /// The value that a text is.
    pub(crate) fn of(text: &'a str) -> Self {
        let text = text.trim_matches(is_blank);
        match text.as_bytes().first() {
            Some(b'{') => Self::Object(text),
            Some(b'[') => Self::Array(text),
            Some(b'"') => Self::Text(text),
            Some(b't') => Self::Boolean(true),
            Some(b'f') => Self::Boolean(false),
            Some(b'-' | b'0'..=b'9') => Self::Number(text),
            _ => Self::Null,
        }
    }

    /// Whether there is nothing inside it.
    pub(crate) fn is_scalar(&self) -> bool {
        !matches!(self, Self::Array(_) | Self::Object(_))
    }

    /// Its kind, as `json_typeof` calls it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

/// The elements of an array; nothing for other values.
pub(crate) fn elements(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = Inside::of(text, b'[');
    std::iter::from_fn(move || inside.value())
}

/// The members of an object, as they stand there: the key with its quotes, and the value.
pub(crate) fn members(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut inside = Inside::of(text, b'{');
    std::iter::from_fn(move || Some((inside.value()?, inside.value()?)))
}

/// The members of an object with the text of their keys.
pub(crate) fn entries(text: &str) -> impl Iterator<Item = Result<(Cow<'_, str>, &str)>> {
    members(text).map(|(key, value)| Ok((unescape(key)?, value)))
}

pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// What is left of the inside of an array or object.
struct Inside<'a>(&'a str);

impl<'a> Inside<'a> {
    fn of(text: &'a str, open: u8) -> Self {
        let text = text.trim_matches(is_blank);
        let bytes = text.as_bytes();
        match bytes.len() >= 2 && bytes[0] == open {
            true => Self(text.get(1..text.len() - 1).unwrap_or_default()),
            false => Self(""),
        }
    }

    /// The next value, and past the comma or colon before it.
    fn value(&mut self) -> Option<&'a str> {
        let rest = self.0.trim_start_matches(|c| is_blank(c) || matches!(c, ',' | ':'));
        let end = end_of_value(rest.as_bytes());
        let (value, rest) = rest.split_at_checked(end)?;
        self.0 = rest;
        (!value.is_empty()).then_some(value)
    }
}

/// Where the value ends that bytes begin with.
fn end_of_value(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at += end_of_string(&bytes[at..]) - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
            return at;
        }
    }
    at
}

/// Where the string ends that bytes begin with; at least 1.
fn end_of_string(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_stretches_of_the_text() {
        let array = " [ 1 , \"a,]\\\"\" ,[2,[ ]], {\"x\" : [1]} ,true,null ] ";
        let parts: Vec<&str> = elements(array).collect();
        assert_eq!(parts, ["1", "\"a,]\\\"\"", "[2,[ ]]", "{\"x\" : [1]}", "true", "null"]);
        let object = "{\"a\":1, \"b\" : {\"c\": \"}\"},\"d\":[]}";
        let parts: Vec<_> = members(object).collect();
        assert_eq!(parts, [("\"a\"", "1"), ("\"b\"", "{\"c\": \"}\"}"), ("\"d\"", "[]")]);
        assert_eq!(elements("{}").count(), 0);
        assert_eq!(members("[1]").count(), 0);
    }

    #[test]
    fn damaged_text_ends_and_does_not_panic() {
        for text in ["", "[", "[\"", "[\"\\", "{\"a\":", "[1,,]", "]", "[}", "{\"a\"}", "[\"ä\\"] {
            let _ = (Value::of(text), elements(text).count(), members(text).count());
        }
    }
}
