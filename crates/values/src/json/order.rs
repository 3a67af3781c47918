//! Sort keys of `jsonb` values: bytes that compare as the values do.
//!
//! null < strings < numbers < booleans < arrays < objects; arrays and objects compare by size, then
//! by content. As in PostgreSQL, the empty top-level array is less than all other values. Equal
//! values such as `1.0` and `1` have equal keys.

use super::number;
use super::raw::{Value, elements, entries};
use super::string::unescape;
use crate::error::Result;
use datafusion::arrow::array::{BinaryViewArray, StringViewArray};

/// The sort key of a value in normal form.
///
/// # Errors
/// 22P05, 22P02: a string is no text.
pub fn key(text: &str) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    match Value::of(text) {
        Value::Array(array) if elements(array).next().is_none() => out.push(0),
        _ => write(text, &mut out)?,
    }
    Ok(out)
}

/// The sort keys of values in normal form.
///
/// # Errors
/// As of [`key`].
pub fn keys(texts: &StringViewArray) -> Result<BinaryViewArray> {
    texts.iter().map(|text| text.map(key).transpose()).collect()
}

fn write(text: &str, out: &mut Vec<u8>) -> Result<()> {
    match Value::of(text) {
        Value::Null => out.push(1),
        Value::Text(quoted) => {
            out.push(2);
            string(&unescape(quoted)?, out);
        }
        Value::Number(digits) => {
            out.push(3);
            number::write_order(digits, out);
        }
        Value::Boolean(value) => out.extend([4, u8::from(value)]),
        Value::Array(array) => {
            out.push(5);
            count(elements(array).count(), out);
            elements(array).try_for_each(|element| write(element, out))?;
        }
        Value::Object(object) => {
            out.push(6);
            count(entries(object).count(), out);
            for member in entries(object) {
                let (key, value) = member?;
                string(&key, out);
                write(value, out)?;
            }
        }
    }
    Ok(())
}

/// Appends a text and a zero byte, which does not occur in texts.
fn string(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

fn count(count: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&(count as u64).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_ordered_as_postgresql_orders_them() {
        let ordered = [
            "[]",
            "null",
            "\"\"",
            "\"a\"",
            "\"ab\"",
            "\"b\"",
            "-2",
            "1",
            "1.5",
            "10",
            "false",
            "true",
            "[null]",
            "[1]",
            "[[]]",
            "[0, 0]",
            "{}",
            "{\"a\": 1}",
            "{\"a\": 2}",
            "{\"b\": 0}",
            "{\"a\": 0, \"b\": 0}",
        ];
        let keys: Vec<Vec<u8>> = ordered.iter().map(|text| key(text).expect(text)).collect();
        for (pair, texts) in keys.windows(2).zip(ordered.windows(2)) {
            assert!(pair[0] < pair[1], "{} < {}", texts[0], texts[1]);
        }
        assert_eq!(key("[1.0, {\"a\": 2}]"), key("[1, {\"a\": 2.00}]"));
    }
}
