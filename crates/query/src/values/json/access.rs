//! Looking into a value: by key, by index, by path. What is found is a stretch of its text.

use super::raw::{Value, elements, members};
use super::string::unescape;
use crate::values::error::Result;
use std::borrow::Cow;

/// The value of an object's key, of equal keys the last.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Result<Option<&'a str>> {
    let mut found = None;
    for (quoted, value) in members(text) {
        if unescape(quoted)? == key {
            found = Some(value);
        }
    }
    Ok(found)
}

/// The element of an array at an index from 0, or from -1 at its end.
pub(crate) fn element(text: &str, index: i64) -> Option<&str> {
    match usize::try_from(index) {
        Ok(index) => elements(text).nth(index),
        Err(_) => {
            let count = elements(text).count();
            let from_end = usize::try_from(index.unsigned_abs()).ok()?;
            elements(text).nth(count.checked_sub(from_end)?)
        }
    }
}

/// The value at the end of a path of keys and indexes.
pub(crate) fn at_path<'a>(text: &'a str, path: &[Option<String>]) -> Result<Option<&'a str>> {
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

/// The index that a step of a path is.
pub(super) fn index(step: &str) -> Option<i64> {
    step.trim_start().parse::<i32>().ok().map(i64::from)
}

/// A value as text: a string's own text, nothing for null, and other values as they are written.
pub(crate) fn text(value: &str) -> Result<Option<Cow<'_, str>>> {
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
