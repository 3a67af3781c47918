//! Containment of `jsonb` values, and existence of keys.

use super::access::field;
use super::number;
use super::raw::{Value, elements, entries};
use super::string::unescape;
use crate::error::Result;

/// `whole @> part`: each part of `part` is at the same place in `whole`. Order and number of array elements do not
/// matter, and a top-level array contains a scalar that is one of its elements.
///
/// # Errors
/// 22P05, 22P02: a key is no text.
pub fn contains(whole: &str, part: &str) -> Result<bool> {
    match (Value::of(whole), Value::of(part)) {
        (Value::Array(array), scalar) if scalar.is_scalar() => Ok(has_scalar(array, scalar)),
        _ => is_within(whole, part),
    }
}

fn is_within(whole: &str, part: &str) -> Result<bool> {
    match (Value::of(whole), Value::of(part)) {
        (Value::Object(whole), Value::Object(part)) => {
            for member in entries(part) {
                let (key, value) = member?;
                match field(whole, &key)? {
                    Some(found) if is_within(found, value)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Value::Array(whole), Value::Array(part)) => {
            for element in elements(part) {
                let value = Value::of(element);
                let found = if value.is_scalar() {
                    has_scalar(whole, value)
                } else {
                    any(elements(whole), |inside| is_within(inside, element))?
                };
                if !found {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (whole, part) => Ok(is_same_scalar(whole, part)),
    }
}

fn any<'a>(
    mut elements: impl Iterator<Item = &'a str>,
    test: impl Fn(&'a str) -> Result<bool>,
) -> Result<bool> {
    elements.try_fold(false, |found, element| Ok(found || test(element)?))
}

fn has_scalar(array: &str, scalar: Value<'_>) -> bool {
    elements(array).any(|element| is_same_scalar(Value::of(element), scalar))
}

/// Scalars in normal form are equal if their texts are, except for trailing zeros of numbers.
fn is_same_scalar(left: Value<'_>, right: Value<'_>) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => number::is_same(left, right),
        _ => left.is_scalar() && left == right,
    }
}

/// `value ? key`: whether `key` is a key of an object, a string in an array, or the value itself.
///
/// # Errors
/// 22P05, 22P02: a key or string is no text.
pub fn exists(value: &str, key: &str) -> Result<bool> {
    let is_key = |element: &str| match Value::of(element) {
        Value::Text(quoted) => Ok(unescape(quoted)? == key),
        _ => Ok(false),
    };
    match Value::of(value) {
        Value::Object(object) => Ok(field(object, key)?.is_some()),
        Value::Array(array) => any(elements(array), is_key),
        _ => is_key(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_contain_as_postgresql_says() {
        for (whole, part, expected) in [
            ("[[1, 2]]", "[[1]]", true),
            ("[1, 2]", "1", true),
            ("1", "[1]", false),
            ("[1, [2]]", "[[2]]", true),
            ("[[1]]", "1", false),
            ("{\"a\": [1, {\"b\": 2}]}", "{\"a\": [{\"b\": 2.0}]}", true),
            ("{\"a\": [1]}", "{\"a\": 1}", false),
            ("[1, 2, 2]", "[2, 1, 1]", true),
            ("{\"a\": {\"b\": 1}}", "{\"a\": {}}", true),
            ("{}", "[]", false),
            ("\"a\"", "\"a\"", true),
            ("[\"a\"]", "\"b\"", false),
            ("null", "null", true),
        ] {
            assert_eq!(contains(whole, part), Ok(expected), "{whole} @> {part}");
        }
    }

    #[test]
    fn keys_are_keys_or_strings() {
        assert_eq!(exists("{\"a\": null}", "a"), Ok(true));
        assert_eq!(exists("[\"a\", 1]", "a"), Ok(true));
        assert_eq!(exists("[\"a\", 1]", "1"), Ok(false));
        assert_eq!(exists("\"a\"", "a"), Ok(true));
        assert_eq!(exists("[[\"a\"]]", "a"), Ok(false));
    }
}
