//! Unicode: normalization forms, and texts with escapes of code points.

use columnar::checked;
use datafusion::arrow::array::{ArrayRef, AsArray, BooleanArray, StringViewArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization;
use values::error::{Error, Result, SqlState};

const TEXT: DataType = DataType::Utf8View;

/// The forms of escapes behind the backslash: a letter, and the number of hexadecimal digits.
const ESCAPES: [(&str, usize); 4] = [("", 4), ("u", 4), ("+", 6), ("U", 8)];

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        checked(
            "normalize",
            |_| Ok((vec![TEXT; 2], TEXT)),
            |args| {
                let texts = each(args, normal)?.into_iter();
                Ok(Arc::new(texts.collect::<StringViewArray>()))
            },
        ),
        checked(
            "is_normalized",
            |_| Ok((vec![TEXT; 2], DataType::Boolean)),
            |args| {
                let flags = each(args, |text, form| Ok(normal(text, form)? == text))?.into_iter();
                Ok(Arc::new(flags.collect::<BooleanArray>()))
            },
        ),
        checked(
            "unistr",
            |_| Ok((vec![TEXT], TEXT)),
            |args| {
                let texts = args[0].as_string_view().iter();
                let texts = texts.map(|text| text.map(unescaped).transpose());
                Ok(Arc::new(texts.collect::<Result<StringViewArray>>()?))
            },
        ),
    ]
}

/// Computes a value of each text and form without NULL.
fn each<T>(args: &[ArrayRef], of: impl Fn(&str, &str) -> Result<T>) -> Result<Vec<Option<T>>> {
    let pairs = args[0].as_string_view().iter().zip(args[1].as_string_view());
    pairs
        .map(|(text, form)| text.zip(form).map(|(text, form)| of(text, form)).transpose())
        .collect()
}

/// A text in a normalization form.
fn normal(text: &str, form: &str) -> Result<String> {
    Ok(match form.to_ascii_uppercase().as_str() {
        "NFC" => text.nfc().collect(),
        "NFD" => text.nfd().collect(),
        "NFKC" => text.nfkc().collect(),
        "NFKD" => text.nfkd().collect(),
        _ => return Err(invalid(format!("invalid normalization form: {form}"))),
    })
}

/// A text with characters for its escapes.
fn unescaped(text: &str) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    // The first half of a pair of surrogates.
    let mut first: Option<u32> = None;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let is_backslash = rest.starts_with("\\\\");
        if letter != '\\' || is_backslash {
            if first.is_some() {
                return Err(no_pair());
            }
            out.push(letter);
            rest = &rest[if is_backslash { 2 } else { letter.len_utf8() }..];
            continue;
        }
        let (code, length) = escape(&rest[1..]).ok_or_else(no_escape)?;
        rest = &rest[1 + length..];
        if !(1..=0x10_ffff).contains(&code) {
            return Err(invalid(format!("invalid Unicode code point: {code:04X}")));
        }
        let code = match (first.take(), code) {
            (Some(high), 0xdc00..=0xdfff) => 0x1_0000 + ((high & 0x3ff) << 10) + (code & 0x3ff),
            (Some(_), _) | (None, 0xdc00..=0xdfff) => return Err(no_pair()),
            (None, 0xd800..=0xdbff) => {
                first = Some(code);
                continue;
            }
            (None, code) => code,
        };
        out.extend(char::from_u32(code));
    }
    match first {
        Some(_) => Err(no_pair()),
        None => Ok(out),
    }
}

/// The code point of an escape behind its backslash, and the length of that.
fn escape(text: &str) -> Option<(u32, usize)> {
    ESCAPES.iter().find_map(|(letter, digits)| {
        let number = text.strip_prefix(letter)?.get(..*digits)?;
        let is_number = number.bytes().all(|digit| digit.is_ascii_hexdigit());
        let code = is_number.then(|| u32::from_str_radix(number, 16).ok())??;
        Some((code, letter.len() + digits))
    })
}

fn invalid(message: String) -> Error {
    Error::new(SqlState::InvalidParameterValue, message)
}

fn no_pair() -> Error {
    Error::new(SqlState::SyntaxError, "invalid Unicode surrogate pair")
}

fn no_escape() -> Error {
    let hint = "Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.";
    Error::new(SqlState::SyntaxError, "invalid Unicode escape").with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_code_points() {
        let read = |text| unescaped(text).map_err(|error| error.message().to_owned());
        assert_eq!(read("\\0064at\\+0000E4\\u0061\\U00000062"), Ok("dat\u{e4}ab".to_owned()));
        assert_eq!(read("\\d83d\\de00a\\\\b"), Ok("\u{1f600}a\\b".to_owned()));
        for text in ["\\d83d", "\\de00", "\\d83dx", "\\d83d\\\\"] {
            assert_eq!(read(text), Err("invalid Unicode surrogate pair".to_owned()), "{text}");
        }
        for text in ["\\xyz", "a\\", "\\00e", "\\u00\u{e4}e"] {
            assert_eq!(read(text), Err("invalid Unicode escape".to_owned()), "{text}");
        }
        assert_eq!(read("\\0000"), Err("invalid Unicode code point: 0000".to_owned()));
        assert_eq!(read("\\+110000"), Err("invalid Unicode code point: 110000".to_owned()));
    }
}
