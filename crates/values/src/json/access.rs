//! Access to parts of a value by key, index and path. A part is a slice of the value's text.

use super::raw::{Value, elements, members};
use super::string::unescape;
use crate::error::Result;
use std::borrow::Cow;

/// The value of a key of an object; of duplicate keys the last.
///
/// # Errors
/// 22P05, 22P02: a key in the object is no text.
pub fn field<'a>(text: &'a str, key: &str) -> Result<Option<&'a str>> {
    let mut found = None;
    for (quoted, value) in members(text) {
        if unescape(quoted)? == key {
            found = Some(value);
        }
    }
    Ok(found)
}

/// The element of an array at an index. Negative indexes count from the end, from -1.
pub fn element(text: &str, index: i64) -> Option<&str> {
    match usize::try_from(index) {
        Ok(index) => elements(text).nth(index),
        Err(_) => {
            let count = elements(text).count();
            let from_end = usize::try_from(index.unsigned_abs()).ok()?;
            elements(text).nth(count.checked_sub(from_end)?)
        }
    }
}

/// The value at a path of keys and indexes. A NULL step finds nothing.
///
/// # Errors
/// As [`field`].
pub fn at_path<'a>(text: &'a str, path: &[Option<String>]) -> Result<Option<&'a str>> {
    let mut at = text;
    for step in path {
        let Some(step) = step else { return Ok(None) };
        let inside = match Value::of(at) {
            Value::Object(object) => field(object, step)?,
            Value::Array(array) => index(step).and_then(|index| element(array, index)),
            _ => None,
        };
        match inside {
            Some(inside) => at = inside,
            None => return Ok(None),
        }
    }
    Ok(Some(at))
}

/// A step of a path as an index.
pub(super) fn index(step: &str) -> Option<i64> {
    step.trim_start().parse::<i32>().ok().map(i64::from)
}

/// A value as SQL text: a string without quotes, `None` for null, other values as written.
///
/// # Errors
/// As [`unescape`].
pub fn text(value: &str) -> Result<Option<Cow<'_, str>>> {
    Ok(match Value::of(value) {
        Value::Null => None,
        Value::Text(quoted) => Some(unescape(quoted)?),
        _ => Some(Cow::Borrowed(value)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_key_index_and_path() {
        let object = "{\"a\": [10, {\"b\\u0062\" : \"x\\n\"}], \"a2\":1, \"a2\":2}";
        assert_eq!(field(object, "a2"), Ok(Some("2")));
        assert_eq!(field(object, "c"), Ok(None));
        assert_eq!(field("[1]", "a"), Ok(None));
        assert_eq!(element("[1, 2, 3]", 1), Some("2"));
        assert_eq!(element("[1, 2, 3]", -1), Some("3"));
        assert_eq!(element("[1, 2, 3]", -4), None);
        assert_eq!(element("[1]", i64::MIN), None);
        let path = |steps: &[&str]| steps.iter().map(|s| Some((*s).to_owned())).collect::<Vec<_>>();
        let found = at_path(object, &path(&["a", "-1", "bb"])).expect("a path");
        assert_eq!(found, Some("\"x\\n\""));
        assert_eq!(text("\"x\\n\"").expect("text").as_deref(), Some("x\n"));
        assert_eq!(text("null"), Ok(None));
        assert_eq!(at_path(object, &path(&["a", "x"])), Ok(None));
        assert_eq!(at_path(object, &[None]), Ok(None));
    }
}
