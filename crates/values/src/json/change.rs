//! Changes of `jsonb` values: set, insert, delete, concatenate. The text of other parts is copied.

use super::access;
use super::invalid;
use super::normal::{Member, array, object};
use super::raw::{Value, elements, entries};
use super::splice::{self, Place, with_value};
use super::string::{quote, unescape};
use crate::error::{Error, Result, SqlState};
use std::borrow::Cow;

/// The change at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Replace the value.
    Set {
        /// Whether to insert the value if there is none.
        create: bool,
    },
    /// Insert a value next to the existing one.
    Insert {
        /// Whether to insert after the existing value instead of before it.
        after: bool,
    },
    /// Delete the value.
    Delete,
}

impl Edit {
    /// Whether the change adds a value where there is none.
    fn creates(self) -> bool {
        !matches!(self, Self::Set { create: false } | Self::Delete)
    }
}

/// Changes the part of a value at a path.
///
/// # Errors
/// 22023: the value is a scalar, or an insert hits an existing key. 22004, 22P02: a step is NULL or no index.
pub fn edit(text: &str, path: &[Option<String>], new: &str, edit: Edit) -> Result<String> {
    let value = Value::of(text);
    if value.is_scalar() {
        let what = if edit == Edit::Delete { "delete" } else { "set" };
        return Err(invalid(format!("cannot {what} path in scalar")));
    }
    let is_empty = matches!(text, "[]" | "{}");
    if path.is_empty() || is_empty && !edit.creates() {
        return Ok(text.to_owned());
    }
    at(text, Steps { all: path, level: 0 }, new, edit)
}

/// A position in a path.
#[derive(Clone, Copy)]
struct Steps<'a> {
    all: &'a [Option<String>],
    level: usize,
}

impl<'a> Steps<'a> {
    fn step(&self) -> Result<&'a str> {
        self.all.get(self.level).and_then(|step| step.as_deref()).ok_or_else(|| {
            let message = format!("path element at position {} is null", self.level + 1);
            Error::new(SqlState::NullValueNotAllowed, message)
        })
    }

    fn index(&self) -> Result<i64> {
        let step = self.step()?;
        access::index(step).ok_or_else(|| {
            let position = self.level + 1;
            let message =
                format!("path element at position {position} is not an integer: \"{step}\"");
            Error::new(SqlState::InvalidTextRepresentation, message)
        })
    }

    fn is_last(&self) -> bool {
        self.level + 1 == self.all.len()
    }

    fn next(self) -> Self {
        Self { level: self.level + 1, ..self }
    }
}

fn at(text: &str, steps: Steps<'_>, new: &str, edit: Edit) -> Result<String> {
    let step = steps.step()?;
    match Value::of(text) {
        Value::Object(whole) => at_key(whole, step, steps, new, edit),
        Value::Array(whole) => at_index(whole, steps, new, edit),
        _ => Ok(text.to_owned()),
    }
}

fn at_key(text: &str, key: &str, steps: Steps<'_>, new: &str, edit: Edit) -> Result<String> {
    if let (Edit::Set { create }, Some(place)) = (edit, splice::place(text, key)) {
        return match (&place, steps.is_last()) {
            (Place::Value(old), false) => {
                let inner = at(&text[old.clone()], steps.next(), new, edit)?;
                Ok(with_value(text, key, &place, &inner))
            }
            (Place::Value(_), true) => Ok(with_value(text, key, &place, new)),
            (_, true) if create => Ok(with_value(text, key, &place, new)),
            _ => Ok(text.to_owned()),
        };
    }
    let mut members = entries(text).collect::<Result<Vec<Member<'_>>>>()?;
    let found = members.iter().position(|(name, _)| name == key);
    let inner;
    match (found, steps.is_last()) {
        (Some(_), true) if matches!(edit, Edit::Insert { .. }) => {
            return Err(invalid("cannot replace existing key")
                .with_hint("Try using the function jsonb_set to replace key value."));
        }
        (Some(found), true) if edit == Edit::Delete => {
            members.remove(found);
        }
        (Some(found), true) => members[found].1 = new,
        (None, true) if edit.creates() => members.push((Cow::Borrowed(key), new)),
        (Some(found), false) => {
            inner = at(members[found].1, steps.next(), new, edit)?;
            members[found].1 = &inner;
        }
        (None, _) => {}
    }
    Ok(object(members))
}

fn at_index(text: &str, steps: Steps<'_>, new: &str, edit: Edit) -> Result<String> {
    let index = steps.index()?;
    let mut items: Vec<&str> = elements(text).collect();
    let count = items.len() as i64;
    let place = if index < 0 { index + count } else { index };
    let found = usize::try_from(place).ok().filter(|place| *place < items.len());
    let inner;
    match (found, steps.is_last()) {
        (Some(found), true) => match edit {
            Edit::Set { .. } => items[found] = new,
            Edit::Insert { after } => items.insert(found + usize::from(after), new),
            Edit::Delete => {
                items.remove(found);
            }
        },
        (None, true) if edit.creates() => {
            items.insert(if place < 0 { 0 } else { items.len() }, new)
        }
        (Some(found), false) => {
            inner = at(items[found], steps.next(), new, edit)?;
            items[found] = &inner;
        }
        (None, _) => {}
    }
    Ok(array(items))
}

/// The most items that an assignment behind the end of an array makes.
const GAP_MAX: i64 = 50_000_000;

/// Assigns to the part of a value at a path, as `j['a'][2] = new` does: what is missing on the way is made, an array where the
/// next step is an integer, and NULLs where an array is too short.
///
/// # Errors
/// 22023: a value on the way is a scalar, or an index is before the array. 22P02: a step into an array is no index.
pub fn assign(text: &str, path: &[String], new: &str) -> Result<String> {
    let steps: Vec<Option<String>> = path.iter().cloned().map(Some).collect();
    assigned(text, Steps { all: &steps, level: 0 }, new)
}

fn assigned(text: &str, steps: Steps<'_>, new: &str) -> Result<String> {
    let below = |inner: Option<&str>| match (steps.is_last(), inner) {
        (true, _) => Ok(new.to_owned()),
        (false, Some(inner)) => assigned(inner, steps.next(), new),
        (false, None) => made(steps.next(), new),
    };
    match Value::of(text) {
        Value::Object(whole) => {
            let key = steps.step()?;
            if let Some(place) = splice::place(whole, key) {
                let value = below(match &place {
                    Place::Value(old) => Some(&whole[old.clone()]),
                    Place::Before(_) | Place::End(_) => None,
                })?;
                return Ok(with_value(whole, key, &place, &value));
            }
            let mut members = entries(whole).collect::<Result<Vec<Member<'_>>>>()?;
            let found = members.iter().position(|(name, _)| name == key);
            let value = below(found.map(|found| members[found].1))?;
            match found {
                Some(found) => members[found].1 = &value,
                None => members.push((Cow::Borrowed(key), &value)),
            }
            Ok(object(members))
        }
        Value::Array(whole) => {
            let index = steps.index()?;
            let mut items: Vec<&str> = elements(whole).collect();
            let place = if index < 0 { index + items.len() as i64 } else { index };
            let Ok(at) = usize::try_from(place) else {
                let position = steps.level + 1;
                let message =
                    format!("path element at position {position} is out of range: {index}");
                return Err(invalid(message));
            };
            let value = below(items.get(at).copied())?;
            fill(&mut items, place)?;
            match items.get_mut(at) {
                Some(item) => *item = &value,
                None => items.push(&value),
            }
            Ok(array(items))
        }
        _ => Err(invalid("cannot replace existing key")
            .with_detail("The path assumes key is a composite object, but it is a scalar value.")),
    }
}

/// The value that has a new one at a path, and nothing else.
fn made(steps: Steps<'_>, new: &str) -> Result<String> {
    let step = steps.step()?;
    let value = if steps.is_last() { new.to_owned() } else { made(steps.next(), new)? };
    Ok(match access::index(step) {
        Some(index) => {
            let mut items = Vec::new();
            fill(&mut items, index)?;
            items.push(&value);
            array(items)
        }
        None => object(vec![(Cow::Borrowed(step), &value)]),
    })
}

/// Adds NULLs up to a length.
fn fill(items: &mut Vec<&str>, length: i64) -> Result<()> {
    if length > GAP_MAX {
        let message = format!("the size of a jsonb array exceeds the maximum ({GAP_MAX})");
        return Err(Error::new(SqlState::ProgramLimitExceeded, message));
    }
    let length = usize::try_from(length).unwrap_or_default();
    items.resize(length.max(items.len()), "null");
    Ok(())
}

/// Deletes members of an object by their keys, or strings from an array.
///
/// # Errors
/// 22023: the value is a scalar.
pub fn without_keys(text: &str, keys: &[&str]) -> Result<String> {
    match Value::of(text) {
        Value::Object(whole) => {
            let mut members = entries(whole).collect::<Result<Vec<Member<'_>>>>()?;
            members.retain(|(key, _)| !keys.contains(&&**key));
            Ok(object(members))
        }
        Value::Array(whole) => {
            let mut kept = Vec::new();
            for element in elements(whole) {
                let goes = match Value::of(element) {
                    Value::Text(quoted) => keys.contains(&&*unescape(quoted)?),
                    _ => false,
                };
                if !goes {
                    kept.push(element);
                }
            }
            Ok(array(kept))
        }
        _ => Err(invalid("cannot delete from scalar")),
    }
}

/// Deletes the element of an array at an index.
///
/// # Errors
/// 22023: the value is no array.
pub fn without_index(text: &str, index: i64) -> Result<String> {
    match Value::of(text) {
        Value::Array(whole) => {
            let mut items: Vec<&str> = elements(whole).collect();
            let place = if index < 0 { index + items.len() as i64 } else { index };
            if let Some(place) = usize::try_from(place).ok().filter(|place| *place < items.len()) {
                items.remove(place);
            }
            Ok(array(items))
        }
        Value::Object(_) => Err(invalid("cannot delete from object using integer index")),
        _ => Err(invalid("cannot delete from scalar")),
    }
}

/// Concatenates two values: the members of objects, else the elements of arrays, where other values
/// count as arrays of one element.
///
/// # Errors
/// 22P05, 22P02: a key is no text.
pub fn joined(left: &str, right: &str) -> Result<String> {
    if let (Value::Object(left), Value::Object(right)) = (Value::of(left), Value::of(right)) {
        if let Some(merged) = splice::merged(left, right) {
            return Ok(merged);
        }
        let members = entries(left).chain(entries(right));
        return Ok(object(members.collect::<Result<Vec<_>>>()?));
    }
    let items = |text| -> Vec<&str> {
        match Value::of(text) {
            Value::Array(array) => elements(array).collect(),
            _ => vec![text],
        }
    };
    Ok(array(items(left).into_iter().chain(items(right))))
}

/// The value without members that are null, and without blanks.
///
/// # Errors
/// 22P05, 22P02: a string is no text.
pub fn without_nulls(text: &str) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    strip(text, &mut out)?;
    Ok(out)
}

fn strip(text: &str, out: &mut String) -> Result<()> {
    match Value::of(text) {
        Value::Array(whole) => {
            out.push('[');
            for (index, element) in elements(whole).enumerate() {
                if index > 0 {
                    out.push(',');
                }
                strip(element, out)?;
            }
            out.push(']');
        }
        Value::Object(whole) => {
            let members = entries(whole).collect::<Result<Vec<Member<'_>>>>()?;
            let kept = members.into_iter().filter(|(_, value)| Value::of(value) != Value::Null);
            out.push('{');
            for (index, (key, value)) in kept.enumerate() {
                if index > 0 {
                    out.push(',');
                }
                quote(&key, out);
                out.push(':');
                strip(value, out)?;
            }
            out.push('}');
        }
        Value::Text(quoted) => quote(&unescape(quoted)?, out),
        _ => out.push_str(text),
    }
    Ok(())
}
