//! Changes of objects in normal form that copy the text around a member, without reading more of it than they must.
//!
//! Keys are in order, a blank follows each colon and comma. An object in which a key has an escape is left to others, and so is
//! a text that is not in normal form: the answer is `None`.

use super::normal::{order, separate};
use super::raw::{end_of_string, end_of_value};
use super::string::quote;
use std::cmp::Ordering;
use std::ops::Range;

/// The place of a key in an object.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// That of its value.
    Value(Range<usize>),
    /// Where the member behind it begins.
    Before(usize),
    /// Where the object ends.
    End(usize),
}

/// A member of an object, by its places in the text.
struct Member<'a> {
    key: &'a str,
    begin: usize,
    value: Range<usize>,
}

/// The members of an object, one after the other.
struct Members<'a> {
    text: &'a str,
    /// Where the next one begins, or the object ends.
    at: usize,
}

impl<'a> Members<'a> {
    fn of(text: &'a str) -> Option<Self> {
        text.starts_with('{').then_some(Self { text, at: 1 })
    }

    /// The next member, and within that `None` at the end.
    fn peek(&self) -> Option<Option<Member<'a>>> {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at)? {
            b'}' if self.at + 1 == bytes.len() => return Some(None),
            b'"' => {}
            _ => return None,
        }
        let behind = self.at + end_of_string(&bytes[self.at..]);
        let key = self.text.get(self.at + 1..behind - 1)?;
        let rest = self.text.get(behind..)?.strip_prefix(": ")?;
        let value = behind + 2;
        let value = value..value + end_of_value(rest.as_bytes());
        (!key.contains('\\')).then_some(Some(Member { key, begin: self.at, value }))
    }

    /// Goes behind the next member.
    fn skip(&mut self, member: &Member<'_>) -> Option<()> {
        let rest = self.text.get(member.value.end..)?;
        self.at = match rest.starts_with(", ") {
            true => member.value.end + 2,
            false if rest == "}" => member.value.end,
            false => return None,
        };
        Some(())
    }

    /// The place of a key that is behind those before.
    fn find(&mut self, key: &str) -> Option<Place> {
        while let Some(member) = self.peek()? {
            match order(member.key, key) {
                Ordering::Less => self.skip(&member)?,
                Ordering::Equal => return Some(Place::Value(member.value)),
                Ordering::Greater => return Some(Place::Before(member.begin)),
            }
        }
        Some(Place::End(self.at))
    }
}

/// The place of a key in an object.
pub(super) fn place(object: &str, key: &str) -> Option<Place> {
    Members::of(object)?.find(key)
}

/// An object with a value at the place of its key.
pub(super) fn with_value(object: &str, key: &str, place: &Place, value: &str) -> String {
    let mut out = String::with_capacity(object.len() + key.len() + value.len() + 8);
    match place {
        Place::Value(old) => {
            out.push_str(&object[..old.start]);
            out.push_str(value);
            out.push_str(&object[old.end..]);
        }
        Place::Before(at) | Place::End(at) => {
            let (before, behind) = object.split_at(*at);
            out.push_str(before);
            if matches!(place, Place::End(_)) {
                separate(before.len() - 1, &mut out);
            }
            quote(key, &mut out);
            out.push_str(": ");
            out.push_str(value);
            if matches!(place, Place::Before(_)) {
                out.push_str(", ");
            }
            out.push_str(behind);
        }
    }
    out
}

/// The members of two objects; those of the second one count where both have a key.
pub(super) fn merged(left: &str, right: &str) -> Option<String> {
    let (mut places, mut added) = (Members::of(left)?, Members::of(right)?);
    let mut out = String::with_capacity(left.len() + right.len());
    let mut from = 0;
    while let Some(member) = added.peek()? {
        let text = &right[member.begin..member.value.end];
        match places.find(member.key)? {
            Place::Value(old) => {
                out.push_str(&left[from..old.start]);
                out.push_str(&right[member.value.clone()]);
                from = old.end;
            }
            Place::Before(at) => {
                out.push_str(&left[from..at]);
                out.push_str(text);
                out.push_str(", ");
                from = at;
            }
            Place::End(at) => {
                out.push_str(&left[from..at]);
                separate(out.len() - 1, &mut out);
                out.push_str(text);
                from = at;
            }
        }
        added.skip(&member)?;
    }
    out.push_str(&left[from..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(object: &str, key: &str) -> Option<String> {
        place(object, key).map(|place| with_value(object, key, &place, "9"))
    }

    #[test]
    fn members_are_replaced_and_added_in_order() {
        for (object, key, changed) in [
            ("{}", "b", "{\"b\": 9}"),
            ("{\"b\": {\"a\": \"}\"}}", "b", "{\"b\": 9}"),
            ("{\"b\": [1]}", "a", "{\"a\": 9, \"b\": [1]}"),
            ("{\"b\": 1}", "aa", "{\"b\": 1, \"aa\": 9}"),
            ("{\"b\": 1, \"d\": 2}", "c", "{\"b\": 1, \"c\": 9, \"d\": 2}"),
            ("{\"\u{e9}\": 1}", "\"", "{\"\\\"\": 9, \"\u{e9}\": 1}"),
        ] {
            assert_eq!(set(object, key).as_deref(), Some(changed), "{object}");
        }
    }

    #[test]
    fn other_texts_are_left_alone() {
        for text in
            ["", "[]", "{\"b\":1}", "{ }", "{\"b\": 1,\"c\": 2}", "{\"\\n\": 1}", "{\"b", "{"]
        {
            assert_eq!(set(text, "x"), None, "{text}");
        }
        assert_eq!(merged("{}", "{\"\\n\": 1}"), None);
    }

    #[test]
    fn objects_are_merged() {
        for (left, right, both) in [
            ("{}", "{}", "{}"),
            ("{}", "{\"a\": 1, \"b\": 2}", "{\"a\": 1, \"b\": 2}"),
            ("{\"b\": 1}", "{}", "{\"b\": 1}"),
            ("{\"b\": 1}", "{\"a\": 2, \"b\": 3}", "{\"a\": 2, \"b\": 3}"),
            (
                "{\"b\": 1, \"d\": 1}",
                "{\"a\": 2, \"c\": 2, \"d\": 2, \"aa\": 2}",
                "{\"a\": 2, \"b\": 1, \"c\": 2, \"d\": 2, \"aa\": 2}",
            ),
        ] {
            assert_eq!(merged(left, right).as_deref(), Some(both));
        }
    }
}
