//! The normal form of `jsonb`: `{"b": 1, "aa": [1.50, "x"]}`.
//!
//! A blank follows each colon and comma. Keys are ordered by length and then by bytes; the last of
//! duplicate keys is kept. Strings have only the necessary escapes, numbers the format of `numeric`.

use super::check::check;
use super::number;
use super::raw::{Value, elements, entries};
use super::string::{quote, unescape};
use crate::error::Result;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Validates a text and returns its normal form.
///
/// # Errors
/// As [`check`]. 22P05, 22003: SQL cannot hold a string or a number in it.
pub fn normal(text: &str) -> Result<String> {
    check(text)?;
    let mut out = String::with_capacity(text.len());
    write(text, &mut out).map_err(|error| error.at_literal(text))?;
    Ok(out)
}

/// The normal form of a valid JSON value.
///
/// # Errors
/// 22P05, 22003: SQL cannot hold a string or a number in it.
pub fn of_json(text: &str) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    write(text, &mut out)?;
    Ok(out)
}

fn write(text: &str, out: &mut String) -> Result<()> {
    match Value::of(text) {
        Value::Null => out.push_str("null"),
        Value::Boolean(value) => out.push_str(if value { "true" } else { "false" }),
        Value::Number(digits) => number::write_normal(digits, out)?,
        Value::Text(quoted) => quote(&unescape(quoted)?, out),
        Value::Array(array) => {
            out.push('[');
            for (index, element) in elements(array).enumerate() {
                separate(index, out);
                write(element, out)?;
            }
            out.push(']');
        }
        Value::Object(object) => {
            let members = ordered(entries(object).collect::<Result<Vec<_>>>()?);
            out.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                separate(index, out);
                quote(&key, out);
                out.push_str(": ");
                write(value, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

pub(super) fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push_str(", ");
    }
}

/// A member: the text of its key, and its value.
pub(super) type Member<'a> = (Cow<'a, str>, &'a str);

/// The order of keys.
pub(super) fn order(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// Orders members by key and keeps the last of duplicate keys.
pub(super) fn ordered(mut members: Vec<Member<'_>>) -> Vec<Member<'_>> {
    members.sort_by(|(a, _), (b, _)| order(a, b));
    let mut unique: Vec<Member<'_>> = Vec::with_capacity(members.len());
    for member in members {
        match unique.last_mut() {
            Some(last) if last.0 == member.0 => *last = member,
            _ => unique.push(member),
        }
    }
    unique
}

/// An object of members whose values are in normal form.
pub(super) fn object(members: Vec<Member<'_>>) -> String {
    let mut out = String::from("{");
    for (index, (key, value)) in ordered(members).into_iter().enumerate() {
        separate(index, &mut out);
        quote(&key, &mut out);
        out.push_str(": ");
        out.push_str(value);
    }
    out.push('}');
    out
}

/// An array of elements that are in normal form.
pub fn array<'a>(elements: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::from("[");
    for (index, element) in elements.into_iter().enumerate() {
        separate(index, &mut out);
        out.push_str(element);
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_one_form() {
        for (given, form) in [
            (" { \"bb\":1,\"a\" :[ 1 ,2 ] } ", "{\"a\": [1, 2], \"bb\": 1}"),
            (
                "{\"a\":1,\"a\":2,\"b\":{\"z\":null,\"y\":{}}}",
                "{\"a\": 2, \"b\": {\"y\": {}, \"z\": null}}",
            ),
            ("{\"\\u0061\":1,\"a\":true}", "{\"a\": true}"),
            ("{\"é\":1,\"zz\":2,\"abc\":3}", "{\"zz\": 2, \"é\": 1, \"abc\": 3}"),
            ("[]", "[]"),
            ("{ }", "{}"),
            ("\"\\u00e9\\/\"", "\"é/\""),
            ("[1e2,1.50,-0]", "[100, 1.50, 0]"),
        ] {
            let once = normal(given).expect(given);
            assert_eq!(once, form);
            assert_eq!(normal(&once).expect("normal"), once, "the form is its own form");
        }
    }

    #[test]
    fn values_that_sql_cannot_hold_are_errors() {
        for bad in ["\"\\u0000\"", "[\"\\ud834\"]", "{\"\\u0000\":1}", "1e200000", "[1"] {
            assert!(normal(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values_may_nest_up_to_the_limit() {
        let depth = super::super::check::DEPTH_MAX;
        let nested = format!("{}1{}", "{\"a\": ".repeat(depth), "}".repeat(depth));
        assert_eq!(normal(&nested).as_deref(), Ok(&*nested));
    }
}
