//! Iteration over JSON text: elements and members are slices of the text of their value.
//!
//! Nothing is copied. Values are skipped by counting brackets and quotes.

use super::string::unescape;
use crate::error::Result;
use std::borrow::Cow;

/// A value, by its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// null, and text that is no value
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// The number as written.
    Number(&'a str),
    /// The string with its quotes.
    Text(&'a str),
    /// The whole array: see [`elements`].
    Array(&'a str),
    /// The whole object: see [`members`].
    Object(&'a str),
}

impl<'a> Value<'a> {
    /// The value of a text.
    pub fn of(text: &'a str) -> Self {
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

    /// Whether it is neither an array nor an object.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Self::Array(_) | Self::Object(_))
    }

    /// The kind's name, as `json_typeof` returns it.
    pub fn kind(&self) -> &'static str {
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

/// The elements of an array; other values have none.
pub fn elements(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = Inside::of(text, b'[');
    std::iter::from_fn(move || inside.value())
}

/// The members of an object: key with its quotes, and value. Other values have none.
pub fn members(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut inside = Inside::of(text, b'{');
    std::iter::from_fn(move || Some((inside.value()?, inside.value()?)))
}

/// The members of an object: text of the key, and value. A key may be no text: see [`unescape`].
pub fn entries(text: &str) -> impl Iterator<Item = Result<(Cow<'_, str>, &str)>> {
    members(text).map(|(key, value)| Ok((unescape(key)?, value)))
}

pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// The rest of the content of an array or object.
struct Inside<'a>(&'a str);

impl<'a> Inside<'a> {
    fn of(text: &'a str, open: u8) -> Self {
        let text = text.trim_matches(is_blank);
        let bytes = text.as_bytes();
        if bytes.len() >= 2 && bytes[0] == open {
            Self(text.get(1..text.len() - 1).unwrap_or_default())
        } else {
            Self("")
        }
    }

    /// Skips a comma or colon and returns the next value.
    fn value(&mut self) -> Option<&'a str> {
        let rest = self.0.trim_start_matches(|c| is_blank(c) || matches!(c, ',' | ':'));
        let end = end_of_value(rest.as_bytes());
        let (value, rest) = rest.split_at_checked(end)?;
        self.0 = rest;
        (!value.is_empty()).then_some(value)
    }
}

/// The length of the value at the start of the bytes.
pub(super) fn end_of_value(bytes: &[u8]) -> usize {
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

/// The length of the string at the start of the bytes; at least 1.
pub(super) fn end_of_string(bytes: &[u8]) -> usize {
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
    fn parts_are_slices_of_the_text() {
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
    fn invalid_text_does_not_panic() {
        for text in ["", "[", "[\"", "[\"\\", "{\"a\":", "[1,,]", "]", "[}", "{\"a\"}", "[\"ä\\"] {
            let _ = (Value::of(text), elements(text).count(), members(text).count());
        }
    }
}
