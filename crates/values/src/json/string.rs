//! Escapes in JSON strings.

use crate::error::{Error, Result, SqlState};
use std::borrow::Cow;

/// The text of a quoted string.
///
/// # Errors
/// 22P05, 22P02: an escape is no character that a text can hold.
pub fn unescape(quoted: &str) -> Result<Cow<'_, str>> {
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let inner = inner.unwrap_or(quoted);
    if !inner.contains('\\') {
        return Ok(Cow::Borrowed(inner));
    }
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let mut characters = after.chars();
        match characters.next() {
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            Some('u') => {
                let (character, after) = unicode(characters.as_str())?;
                text.push(character);
                rest = after;
                continue;
            }
            Some(other) => text.push(other),
            None => {}
        }
        rest = characters.as_str();
    }
    text.push_str(rest);
    Ok(Cow::Owned(text))
}

/// The character after `\u`, which may include the `\u` of a low surrogate, and the rest of the text.
fn unicode(after: &str) -> Result<(char, &str)> {
    let (first, rest) = four_digits(after)?;
    match first {
        0 => Err(Error::new(SqlState::UntranslatableCharacter, UNSUPPORTED)
            .with_detail("\\u0000 cannot be converted to text.")),
        0xD800..0xDC00 => {
            let Some(second) = rest.strip_prefix("\\u") else { return Err(lone_surrogate()) };
            let (second, rest) = four_digits(second)?;
            match second {
                0xD800..0xDC00 => Err(syntax(TWO_HIGH)),
                0xDC00..0xE000 => {
                    let point = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                    Ok((char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER), rest))
                }
                _ => Err(lone_surrogate()),
            }
        }
        _ => char::from_u32(first).map(|character| (character, rest)).ok_or_else(lone_surrogate),
    }
}

const UNSUPPORTED: &str = "unsupported Unicode escape sequence";
const TWO_HIGH: &str = "Unicode high surrogate must not follow a high surrogate.";

fn four_digits(text: &str) -> Result<(u32, &str)> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    let value = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let value = value.ok_or_else(|| syntax(FOUR_DIGITS))?;
    Ok((value, &text[4..]))
}

/// The detail of the error for `\u` with less than four digits.
pub(super) const FOUR_DIGITS: &str = "\"\\u\" must be followed by four hexadecimal digits.";

fn lone_surrogate() -> Error {
    syntax("Unicode low surrogate must follow a high surrogate.")
}

/// An error for text that is no JSON (22P02).
pub(super) fn syntax(detail: impl Into<String>) -> Error {
    let message = "invalid input syntax for type json";
    Error::new(SqlState::InvalidTextRepresentation, message).with_detail(detail)
}

/// Appends text as a quoted JSON string.
pub fn quote(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c < ' ' || matches!(c, '"' | '\\')) {
        let (plain, after) = rest.split_at(at);
        out.push_str(plain);
        let mut characters = after.chars();
        match characters.next() {
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(c) if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            Some(c) => {
                out.push('\\');
                out.push(c);
            }
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str) -> String {
        let mut out = String::new();
        quote(text, &mut out);
        out
    }

    #[test]
    fn escapes_survive_a_round_trip() {
        let text = unescape(r#""a\"\\\/\b\f\n\r\tA\u00e9\ud834\udd1e""#).expect("a string");
        assert_eq!(text, "a\"\\/\u{8}\u{c}\n\r\tAé\u{1d11e}");
        assert_eq!(quoted(&text), "\"a\\\"\\\\/\\b\\f\\n\\r\\tAé\u{1d11e}\"");
        assert_eq!(quoted("\u{1}\u{7f}"), "\"\\u0001\u{7f}\"");
    }

    #[test]
    fn escapes_that_are_no_text_are_errors() {
        let state = |text| unescape(text).map(|_| ()).map_err(|error| error.state());
        assert_eq!(state(r#""\u0000""#), Err(SqlState::UntranslatableCharacter));
        for bad in [r#""\ud834""#, r#""\udd1e""#, r#""\ud834\ud834""#, r#""\ud834A""#] {
            assert_eq!(state(bad), Err(SqlState::InvalidTextRepresentation), "{bad}");
        }
    }
}
