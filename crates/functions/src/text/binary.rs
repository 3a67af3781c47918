//! Functions of `bytea` whose names the engine knows for text, and bytes as hexadecimal digits and the like.

use super::parts;
use crate::overload::{Overload, overloaded};
use crate::regexes;
use columnar::checked;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, Int32Array, Int64Array, StringViewArray,
};
use datafusion::arrow::datatypes::{DataType, Int32Type, Int64Type};
use datafusion::functions::core::overlay;
use datafusion::functions::string::{btrim, ltrim, rtrim, split_part};
use datafusion::functions::unicode::{character_length, strpos, substr};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

const BYTES: DataType = DataType::BinaryView;
const TEXT: DataType = DataType::Utf8View;
const INTEGER: DataType = DataType::Int32;

/// Bytes of a line of base64, and characters that they make.
const LINE_BYTES: usize = 57;
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The functions that replace the engine's of the same name.
pub(super) fn replacements() -> Vec<ScalarUDF> {
    vec![
        overloaded(
            substr(),
            &[
                Overload {
                    types: |types| bytes_then(types, &[INTEGER, INTEGER], 1..=2),
                    body: |args| part(args).map(|array| Arc::new(array) as ArrayRef),
                },
                Overload { types: |types| all_text(types, 2..=2), body: regexes::matching_part },
                Overload { types: |types| all_text(types, 3..=3), body: regexes::similar_part },
            ],
        ),
        overloaded(
            strpos(),
            &[Overload { types: |types| two_bytes(types, INTEGER), body: position }],
        ),
        overloaded(overlay(), OVERLAYS),
        overloaded(split_part(), parts::SPLIT_PART),
        overloaded(
            btrim(),
            &[Overload {
                types: |types| two_bytes(types, BYTES),
                body: |args| trim(args, true, true),
            }],
        ),
        overloaded(
            ltrim(),
            &[Overload {
                types: |types| two_bytes(types, BYTES),
                body: |args| trim(args, true, false),
            }],
        ),
        overloaded(
            rtrim(),
            &[Overload {
                types: |types| two_bytes(types, BYTES),
                body: |args| trim(args, false, true),
            }],
        ),
        overloaded(
            character_length(),
            &[Overload {
                types: |types| match types {
                    [of] if is_bytes(of) => Some((vec![BYTES], INTEGER)),
                    _ => None,
                },
                body: |args| {
                    let values = args[0].as_binary_view().iter();
                    let lengths = values.map(|value| i32::try_from(value?.len()).ok());
                    Ok(Arc::new(lengths.collect::<Int32Array>()))
                },
            }],
        ),
    ]
}

/// `overlay` of bytes and of texts.
const OVERLAYS: &[Overload] = &[
    Overload {
        types: |types| {
            let (arguments, returns) = match types {
                [first, ..] if is_bytes(first) => {
                    let rest = [BYTES, BYTES, INTEGER, INTEGER];
                    (rest.get(..types.len())?.to_vec(), BYTES)
                }
                _ => return None,
            };
            (types.len() >= 3).then_some((arguments, returns))
        },
        body: replace_part,
    },
    parts::OVERLAY,
];

/// The functions that the engine lacks.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        checked("set_byte", |_| Ok((vec![BYTES, INTEGER, INTEGER], BYTES)), set_byte),
        checked("get_bit", |_| Ok((vec![BYTES, DataType::Int64], INTEGER)), get_bit),
        checked("set_bit", |_| Ok((vec![BYTES, DataType::Int64, INTEGER], BYTES)), set_bit),
        checked(
            "bit_count",
            |_| Ok((vec![BYTES], DataType::Int64)),
            |args| {
                let values = args[0].as_binary_view().iter();
                let counts = values.map(|value| {
                    Some(value?.iter().map(|byte| i64::from(byte.count_ones())).sum::<i64>())
                });
                Ok(Arc::new(counts.collect::<Int64Array>()))
            },
        ),
        checked("encode", |_| Ok((vec![BYTES, TEXT], TEXT)), encode),
        checked("decode", |_| Ok((vec![TEXT, TEXT], BYTES)), decode),
    ]
}

fn is_bytes(of: &DataType) -> bool {
    matches!(of, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// `bytea`, and some more of these.
fn bytes_then(
    types: &[DataType],
    rest: &[DataType],
    counts: std::ops::RangeInclusive<usize>,
) -> Option<(Vec<DataType>, DataType)> {
    let (first, others) = types.split_first()?;
    let fits = is_bytes(first) && counts.contains(&others.len());
    fits.then(|| ([&[BYTES], rest.get(..others.len()).unwrap_or_default()].concat(), BYTES))
}

fn all_text(
    types: &[DataType],
    counts: std::ops::RangeInclusive<usize>,
) -> Option<(Vec<DataType>, DataType)> {
    let fits = counts.contains(&types.len()) && types.iter().all(DataType::is_string);
    fits.then(|| (vec![TEXT; types.len()], TEXT))
}

fn two_bytes(types: &[DataType], returns: DataType) -> Option<(Vec<DataType>, DataType)> {
    match types {
        [left, right] if is_bytes(left) && (is_bytes(right) || right.is_string()) => {
            Some((vec![BYTES; 2], returns))
        }
        _ => None,
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(SqlState::InvalidParameterValue, message)
}

fn is_null(args: &[ArrayRef], row: usize) -> bool {
    args.iter().any(|array| array.is_null(row))
}

fn bytes(args: &[ArrayRef], index: usize, row: usize) -> &[u8] {
    args[index].as_binary_view().value(row)
}

fn integer(args: &[ArrayRef], index: usize, row: usize) -> i32 {
    args[index].as_primitive::<Int32Type>().value(row)
}

/// Computes bytes for each row without NULL.
fn each(args: &[ArrayRef], compute: impl Fn(usize) -> Result<Vec<u8>>) -> Result<BinaryViewArray> {
    let rows = (0..args[0].len())
        .map(|row| if is_null(args, row) { Ok(None) } else { compute(row).map(Some) });
    rows.collect()
}

/// The range of bytes from a place, counted from 1, for a length.
fn range(all: usize, from: i32, length: Option<i32>) -> Result<std::ops::Range<usize>> {
    if length.is_some_and(|length| length < 0) {
        return Err(Error::new(SqlState::SubstringError, "negative substring length not allowed"));
    }
    let all = all as i64;
    let begin = i64::from(from) - 1;
    let end = length.map_or(all, |length| begin + i64::from(length)).clamp(0, all);
    let begin = begin.clamp(0, all);
    Ok(begin as usize..end.max(begin) as usize)
}

fn part(args: &[ArrayRef]) -> Result<BinaryViewArray> {
    each(args, |row| {
        let value = bytes(args, 0, row);
        let length = (args.len() > 2).then(|| integer(args, 2, row));
        Ok(value[range(value.len(), integer(args, 1, row), length)?].to_vec())
    })
}

fn position(args: &[ArrayRef]) -> Result<ArrayRef> {
    let places = (0..args[0].len()).map(|row| {
        if is_null(args, row) {
            return None;
        }
        let (value, wanted) = (bytes(args, 0, row), bytes(args, 1, row));
        if wanted.is_empty() {
            return Some(1);
        }
        let found = value.windows(wanted.len()).position(|window| window == wanted);
        Some(found.and_then(|place| i32::try_from(place + 1).ok()).unwrap_or(0))
    });
    Ok(Arc::new(places.collect::<Int32Array>()))
}

fn replace_part(args: &[ArrayRef]) -> Result<ArrayRef> {
    let values = each(args, |row| {
        let (value, by) = (bytes(args, 0, row), bytes(args, 1, row));
        let from = integer(args, 2, row);
        let length = if args.len() > 3 { integer(args, 3, row) } else { by.len() as i32 };
        if from <= 0 {
            let message = "negative substring length not allowed";
            return Err(Error::new(SqlState::SubstringError, message));
        }
        let before = &value[range(value.len(), 1, Some(from - 1))?];
        let rest = from.checked_add(length);
        let rest = rest
            .ok_or_else(|| Error::new(SqlState::NumericValueOutOfRange, "integer out of range"))?;
        let after = &value[range(value.len(), rest, None)?];
        Ok([before, by, after].concat())
    });
    Ok(Arc::new(values?))
}

fn trim(args: &[ArrayRef], at_start: bool, at_end: bool) -> Result<ArrayRef> {
    let values = each(args, |row| {
        let (mut value, set) = (bytes(args, 0, row), bytes(args, 1, row));
        while at_start && value.first().is_some_and(|byte| set.contains(byte)) {
            value = &value[1..];
        }
        while at_end && value.last().is_some_and(|byte| set.contains(byte)) {
            value = &value[..value.len() - 1];
        }
        Ok(value.to_vec())
    });
    Ok(Arc::new(values?))
}

/// The place of an index below a count.
fn index(place: i64, count: usize) -> Result<usize> {
    let found = usize::try_from(place).ok().filter(|place| *place < count);
    found.ok_or_else(|| {
        let message = format!("index {place} out of valid range, 0..{}", count as i64 - 1);
        Error::new(SqlState::ArraySubscriptError, message)
    })
}

fn set_byte(args: &[ArrayRef]) -> Result<ArrayRef> {
    let values = each(args, |row| {
        let mut value = bytes(args, 0, row).to_vec();
        let place = index(integer(args, 1, row).into(), value.len())?;
        value[place] = integer(args, 2, row) as u8;
        Ok(value)
    });
    Ok(Arc::new(values?))
}

fn get_bit(args: &[ArrayRef]) -> Result<ArrayRef> {
    let places = args[1].as_primitive::<Int64Type>();
    let bits = (0..args[0].len()).map(|row| {
        if is_null(args, row) {
            return Ok(None);
        }
        let value = bytes(args, 0, row);
        let place = index(places.value(row), value.len() * 8)?;
        Ok(Some(i32::from(value[place / 8] >> (place % 8) & 1)))
    });
    Ok(Arc::new(bits.collect::<Result<Int32Array>>()?))
}

fn set_bit(args: &[ArrayRef]) -> Result<ArrayRef> {
    let places = args[1].as_primitive::<Int64Type>();
    let values = each(args, |row| {
        let mut value = bytes(args, 0, row).to_vec();
        let place = index(places.value(row), value.len() * 8)?;
        let bit = 1 << (place % 8);
        match integer(args, 2, row) {
            0 => value[place / 8] &= !bit,
            1 => value[place / 8] |= bit,
            _ => return Err(invalid("new bit must be 0 or 1")),
        }
        Ok(value)
    });
    Ok(Arc::new(values?))
}

fn unrecognized(name: &str) -> Error {
    invalid(format!("unrecognized encoding: \"{name}\""))
}

fn encode(args: &[ArrayRef]) -> Result<ArrayRef> {
    let names = args[1].as_string_view();
    let texts = (0..args[0].len()).map(|row| {
        if is_null(args, row) {
            return Ok(None);
        }
        let (value, name) = (bytes(args, 0, row), names.value(row));
        Ok(Some(match name.to_ascii_lowercase().as_str() {
            "hex" => value.iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
            "base64" => to_base64(value),
            "escape" => to_escapes(value),
            _ => return Err(unrecognized(name)),
        }))
    });
    Ok(Arc::new(texts.collect::<Result<StringViewArray>>()?))
}

fn decode(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (texts, names) = (args[0].as_string_view(), args[1].as_string_view());
    let values = each(args, |row| {
        let (text, name) = (texts.value(row), names.value(row));
        match name.to_ascii_lowercase().as_str() {
            "hex" => of_hex(text),
            "base64" => of_base64(text),
            "escape" => of_escapes(text),
            _ => Err(unrecognized(name)),
        }
    });
    Ok(Arc::new(values?))
}

fn to_base64(bytes: &[u8]) -> String {
    let lines = bytes.chunks(LINE_BYTES).map(|line| {
        let mut out = String::new();
        for group in line.chunks(3) {
            let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for digit in 0..4 {
                let is_padding = digit > group.len();
                let place = (bits >> (18 - 6 * digit) & 63) as usize;
                out.push(if is_padding { '=' } else { char::from(DIGITS[place]) });
            }
        }
        out
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn of_base64(text: &str) -> Result<Vec<u8>> {
    let (mut out, mut bits, mut digits, mut padding) = (Vec::new(), 0_u32, 0, 0);
    for next in text.chars() {
        if matches!(next, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        let digit = DIGITS.iter().position(|digit| char::from(*digit) == next);
        let value = match digit {
            Some(digit) if padding == 0 => digit as u32,
            _ if next == '=' && digits >= 2 => {
                padding += 1;
                0
            }
            _ if next == '=' => {
                return Err(invalid("unexpected \"=\" while decoding base64 sequence"));
            }
            _ => {
                let message =
                    format!("invalid symbol \"{next}\" found while decoding base64 sequence");
                return Err(invalid(message));
            }
        };
        (bits, digits) = (bits << 6 | value, digits + 1);
        if digits == 4 {
            let group = [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8];
            out.extend_from_slice(&group[..3 - padding.min(2)]);
            (bits, digits) = (0, 0);
        }
    }
    if digits != 0 {
        let hint = "Input data is missing padding, is truncated, or is otherwise corrupted.";
        return Err(invalid("invalid base64 end sequence").with_hint(hint));
    }
    Ok(out)
}

fn of_hex(text: &str) -> Result<Vec<u8>> {
    let digits: Vec<char> = text.chars().filter(|next| !" \t\n\r".contains(*next)).collect();
    let value = |digit: char| {
        let message = format!("invalid hexadecimal digit: \"{digit}\"");
        digit.to_digit(16).map(|value| value as u8).ok_or_else(|| invalid(message))
    };
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => Ok(value(*high)? << 4 | value(*low)?),
        [odd, ..] => {
            value(*odd)?;
            Err(invalid("invalid hexadecimal data: odd number of digits"))
        }
        [] => Err(invalid("invalid hexadecimal data")),
    });
    pairs.collect()
}

fn to_escapes(bytes: &[u8]) -> String {
    let mut out = String::new();
    for byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            1..=127 => out.push(char::from(*byte)),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out
}

fn of_escapes(text: &str) -> Result<Vec<u8>> {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        let octal = bytes.get(at + 1..at + 4).filter(|digits| {
            (b'0'..=b'3').contains(&digits[0]) && digits.iter().all(|d| (b'0'..=b'7').contains(d))
        });
        match (byte, octal, bytes.get(at + 1)) {
            (b'\\', Some(digits), _) => {
                out.push(digits.iter().fold(0, |value, digit| value << 3 | (digit - b'0')));
                at += 4;
            }
            (b'\\', None, Some(b'\\')) => {
                out.push(b'\\');
                at += 2;
            }
            (b'\\', ..) => {
                let message = "invalid input syntax for type bytea";
                return Err(Error::new(SqlState::InvalidTextRepresentation, message));
            }
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    Ok(out)
}
