//! LIKE of patterns that are computed, and of bytes.
//!
//! A pattern that ends with an escape is an error only where a value gets there, as in PostgreSQL. Letters that take
//! several bytes are matched as a whole: an underscore passes one.

use super::like_escapes::with_backslashes;
use columnar::function;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringViewArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

const TEXT: DataType = DataType::Utf8View;
const BYTES: DataType = DataType::BinaryView;

/// The functions of this file.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        function(
            "text_like",
            |_| Ok((vec![TEXT; 2], DataType::Boolean)),
            |args| {
                let (values, patterns) = (args[0].as_string_view(), args[1].as_string_view());
                each(args, |row| is_like(values.value(row), patterns.value(row)))
            },
        ),
        function(
            "bytes_like",
            |_| Ok((vec![BYTES; 2], DataType::Boolean)),
            |args| {
                let (values, patterns) = (args[0].as_binary_view(), args[1].as_binary_view());
                each(args, |row| matches(values.value(row), patterns.value(row), |_| 1))
            },
        ),
        function("pattern_escaped_by", |_| Ok((vec![TEXT; 2], TEXT)), escaped_by),
    ]
}

fn each(args: &[ArrayRef], found: impl Fn(usize) -> Result<bool>) -> Result<ArrayRef> {
    let rows = (0..args[0].len()).map(|row| {
        let is_null = args.iter().any(|array| array.is_null(row));
        if is_null { Ok(None) } else { found(row).map(Some) }
    });
    Ok(Arc::new(rows.collect::<Result<BooleanArray>>()?))
}

/// Whether a text is like a pattern.
///
/// # Errors
/// 22025 for an escape at the end of the pattern, if the text gets there.
pub fn is_like(text: &str, pattern: &str) -> Result<bool> {
    matches(text.as_bytes(), pattern.as_bytes(), letter_length)
}

/// The bytes of the letter that begins with a byte.
fn letter_length(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

/// Whether a value is like a pattern. After a mismatch the last `%` takes one letter more.
fn matches(value: &[u8], pattern: &[u8], length: impl Fn(u8) -> usize) -> Result<bool> {
    let (mut at, mut next) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let taken = match pattern.get(next) {
            Some(b'%') => {
                retry = Some((at, next + 1));
                next += 1;
                continue;
            }
            Some(b'_') if at < value.len() => Some((length(value[at]), 1)),
            Some(b'\\') if at < value.len() => {
                let literal = pattern.get(next + 1).ok_or_else(unfinished)?;
                (value[at] == *literal).then_some((1, 2))
            }
            Some(literal) if value.get(at) == Some(literal) => Some((1, 1)),
            None if at >= value.len() => return Ok(true),
            _ => None,
        };
        if let Some((letters, parts)) = taken {
            (at, next) = (at + letters, next + parts);
            continue;
        }
        match &mut retry {
            Some((from, after)) if *from < value.len() => {
                *from += length(value[*from]);
                (at, next) = (*from, *after);
            }
            _ => return Ok(false),
        }
    }
}

fn unfinished() -> Error {
    let message = "LIKE pattern must not end with escape character";
    Error::new(SqlState::InvalidEscapeSequence, message)
}

/// A pattern with backslashes for its escape character.
fn escaped_by(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (patterns, escapes) = (args[0].as_string_view(), args[1].as_string_view());
    let rows = patterns.iter().zip(escapes).map(|pair| {
        let (Some(pattern), Some(escape)) = pair else { return Ok(None) };
        let mut characters = escape.chars();
        match (characters.next(), characters.next()) {
            (None, _) => Ok(Some(pattern.replace('\\', "\\\\"))),
            (Some(escape), None) => Ok(Some(with_backslashes(pattern, escape))),
            _ => {
                let hint = "Escape string must be empty or one character.";
                let error = Error::new(SqlState::InvalidEscapeSequence, "invalid escape string");
                Err(error.with_hint(hint))
            }
        }
    });
    Ok(Arc::new(rows.collect::<Result<StringViewArray>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(value: &str, pattern: &str) -> Option<bool> {
        matches(value.as_bytes(), pattern.as_bytes(), letter_length).ok()
    }

    #[test]
    fn patterns_match_whole_letters_and_try_again_after_percent() {
        assert_eq!(like("abcabd", "%ab_"), Some(true));
        assert_eq!(like("é", "_"), Some(true));
        assert_eq!(like("a%c", "a\\%c"), Some(true));
        assert_eq!(like("", "%"), Some(true));
        assert_eq!(like("abc", "ab"), Some(false));
        assert_eq!(like("abc", "%_c"), Some(true));
    }

    #[test]
    fn an_escape_at_the_end_is_an_error_where_a_value_gets_there() {
        assert_eq!(like("abc", "a\\"), None);
        assert_eq!(like("abc", "x\\"), Some(false));
        assert_eq!(like("a", "a\\"), Some(false));
    }
}
