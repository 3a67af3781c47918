//! Upper and lower case letter by letter, characters by code, and `concat` of Booleans.

use crate::overload::{Overload, overloaded};
use columnar::checked;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int32Array, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::functions::string::concat;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

const TEXT: DataType = DataType::Utf8View;

/// The functions of this file.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        checked("upper", |_| Ok((vec![TEXT], TEXT)), |args| each(args, in_upper_case)),
        checked("lower", |_| Ok((vec![TEXT], TEXT)), |args| each(args, in_lower_case)),
        checked("initcap", |_| Ok((vec![TEXT], TEXT)), capitals),
        checked("chr", |_| Ok((vec![DataType::Int64], TEXT)), character),
        checked("num_nulls", counting, |args| count(args, true)),
        checked("num_nonnulls", counting, |args| count(args, false)),
        overloaded(concat(), &[Overload { types: with_booleans, body: joined }]),
    ]
}

/// A text in upper case.
pub fn in_upper_case(text: &str) -> String {
    match text.is_ascii() {
        true => text.to_ascii_uppercase(),
        false => text.chars().map(upper).collect(),
    }
}

/// A text in lower case.
pub fn in_lower_case(text: &str) -> String {
    match text.is_ascii() {
        true => text.to_ascii_lowercase(),
        false => text.chars().map(lower).collect(),
    }
}

fn upper(letter: char) -> char {
    one(letter, letter.to_uppercase())
}

fn lower(letter: char) -> char {
    // The only letter whose lower case is written with another one in Unicode, but not in PostgreSQL.
    if letter == 'İ' { 'i' } else { one(letter, letter.to_lowercase()) }
}

/// A letter's other case, if that is a single letter; the sharp s has none.
fn one(letter: char, mut other: impl Iterator<Item = char>) -> char {
    match (other.next(), other.next()) {
        (Some(other), None) => other,
        _ => letter,
    }
}

fn each(args: &[ArrayRef], change: fn(&str) -> String) -> Result<ArrayRef> {
    let texts = args[0].as_string_view().iter();
    let texts = texts.map(|text| text.map(change));
    Ok(Arc::new(texts.collect::<StringViewArray>()))
}

fn capitals(args: &[ArrayRef]) -> Result<ArrayRef> {
    let texts = args[0].as_string_view().iter().map(|text| {
        let mut is_inside = false;
        let changed = text?.chars().map(|letter| {
            let changed = if is_inside { lower(letter) } else { upper(letter) };
            is_inside = letter.is_alphanumeric();
            changed
        });
        Some(changed.collect::<String>())
    });
    Ok(Arc::new(texts.collect::<StringViewArray>()))
}

fn character(args: &[ArrayRef]) -> Result<ArrayRef> {
    let codes = args[0].as_primitive::<Int64Type>().iter();
    let texts = codes.map(|code| code.map(|code| of_code(code).map(String::from)).transpose());
    Ok(Arc::new(texts.collect::<Result<StringViewArray>>()?))
}

/// The character of a code.
///
/// # Errors
/// 22023 for a negative code; 54000 for other codes without a character.
pub fn of_code(code: i64) -> Result<char> {
    let refuse = |message: String| Err(Error::new(SqlState::ProgramLimitExceeded, message));
    match code {
        0 => refuse("null character not permitted".to_owned()),
        ..0 => {
            let message = "character number must be positive";
            Err(Error::new(SqlState::InvalidParameterValue, message))
        }
        code => match u32::try_from(code).ok().and_then(char::from_u32) {
            Some(letter) => Ok(letter),
            None => refuse(format!("requested character not valid for encoding: {code}")),
        },
    }
}

fn counting(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    Ok((types.to_vec(), DataType::Int32))
}

/// How many arguments are NULL, or not.
fn count(args: &[ArrayRef], nulls: bool) -> Result<ArrayRef> {
    let rows = args.first().map_or(0, |array| array.len());
    let nulls_of: Vec<_> = args.iter().map(|array| array.logical_nulls()).collect();
    let counts = (0..rows).map(|row| {
        let is_null = |nulls: &&Option<datafusion::arrow::buffer::NullBuffer>| {
            nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
        };
        i32::try_from(nulls_of.iter().filter(|of| is_null(of) == nulls).count()).ok()
    });
    Ok(Arc::new(counts.collect::<Int32Array>()))
}

/// The engine would write Booleans in words.
fn with_booleans(types: &[DataType]) -> Option<(Vec<DataType>, DataType)> {
    let is_boolean = |of: &DataType| *of == DataType::Boolean;
    let kept = |of: &DataType| if is_boolean(of) { DataType::Boolean } else { TEXT };
    types.iter().any(is_boolean).then(|| (types.iter().map(kept).collect(), TEXT))
}

fn joined(args: &[ArrayRef]) -> Result<ArrayRef> {
    let rows = args.first().map_or(0, |array| array.len());
    let texts = (0..rows).map(|row| {
        let mut text = String::new();
        for array in args.iter().filter(|array| array.is_valid(row)) {
            match array.as_boolean_opt() {
                Some(flags) => text.push(if flags.value(row) { 't' } else { 'f' }),
                None => text.push_str(array.as_string_view().value(row)),
            }
        }
        Some(text)
    });
    Ok(Arc::new(texts.collect::<StringViewArray>()))
}
