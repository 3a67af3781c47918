//! Texts of types of the system catalogs.
//!
//! Names of objects are read where the catalog is known; here they are refused.

use crate::error::{Error, Result, SqlState};
use crate::shown;
use crate::translate::refused_text;
use datafusion::arrow::array::{
    ArrayRef, AsArray, Int16Builder, Int64Array, Int64Builder, ListBuilder, StringViewArray,
};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use std::sync::Arc;
use store::catalog::SystemType;

/// The most bytes of a name.
const NAME_BYTES_MAX: usize = 63;

/// Values as those of a type of the system catalogs. They are texts, what holds the values of the type, or integers.
///
/// # Errors
/// 22P02 and 22003: a value is not of the type. 0A000: texts of names that only the catalog knows.
pub fn values(array: &ArrayRef, of: SystemType) -> Result<ArrayRef> {
    let array = &shown::sent(array);
    let options = CastOptions { safe: false, ..CastOptions::default() };
    match array.data_type() {
        known if *known == of.arrow() => return of_held(array, of),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {}
        _ => return of_held(&cast_with_options(array, &of.arrow(), &options)?, of),
    }
    let texts = cast_with_options(array, &DataType::Utf8View, &options)?;
    if of.arrow() == DataType::Utf8View {
        return of_held(&texts, of);
    }
    let texts = texts.as_string_view();
    Ok(match of {
        SystemType::Int2Vector => {
            let mut lists = ListBuilder::new(Int16Builder::new());
            for text in texts {
                lists.append_option(text.map(|text| numbers(text, "smallint")).transpose()?);
            }
            Arc::new(lists.finish())
        }
        SystemType::OidVector => {
            let mut lists = ListBuilder::new(Int64Builder::new());
            for text in texts {
                lists.append_option(text.map(ids).transpose()?);
            }
            Arc::new(lists.finish())
        }
        _ => {
            let ids = texts.iter().map(|text| text.map(|text| id_of(text, of)).transpose());
            Arc::new(ids.collect::<Result<Int64Array>>()?)
        }
    })
}

/// Values that are held as those of a type, of which some are too long or out of its range.
fn of_held(array: &ArrayRef, of: SystemType) -> Result<ArrayRef> {
    match of {
        SystemType::Name => {
            let names = array.as_string_view().iter().map(|text| text.map(name));
            Ok(Arc::new(names.collect::<StringViewArray>()))
        }
        SystemType::Char => {
            let letters = array.as_string_view().iter();
            let letters = letters.map(|text| text.map(letter).transpose());
            Ok(Arc::new(letters.collect::<Result<StringViewArray>>()?))
        }
        id if id.is_id() => {
            let ids = array.as_primitive::<Int64Type>().iter().flatten();
            match ids.map(u32::try_from).all(|id| id.is_ok()) {
                true => Ok(Arc::clone(array)),
                false => Err(out_of_range()),
            }
        }
        _ => Ok(Arc::clone(array)),
    }
}

/// The error for a number that is no object id.
fn out_of_range() -> Error {
    Error::new(SqlState::NumericValueOutOfRange, "OID out of range")
}

/// The number that a text is for a type of ids.
fn id_of(text: &str, of: SystemType) -> Result<i64> {
    if of == SystemType::Xid8 {
        let number = text.trim().parse::<u64>().map(u64::cast_signed);
        return number.map_err(|_| refused_text(text, of.name()));
    }
    if of.is_named_id() && !text.bytes().all(|byte| byte.is_ascii_digit()) {
        let message =
            format!("the name of an object as a value of type {} is not supported here", of.name());
        return Err(Error::unsupported(message).with_hint("Write its object id."));
    }
    object_id(text, if of.is_named_id() { SystemType::Oid.name() } else { of.name() })
        .map(i64::from)
}

/// The object id that a text is. It may be written as a negative number of 32 bits.
///
/// # Errors
/// 22P02: it is no number. 22003: it has more than 32 bits.
pub fn object_id(text: &str, type_name: &str) -> Result<u32> {
    let number = text.trim();
    let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refused_text(text, type_name));
    }
    let id = match number.parse::<i64>() {
        Ok(id @ 0..) => u32::try_from(id).ok(),
        Ok(id) => i32::try_from(id).ok().map(i32::cast_unsigned),
        Err(_) => None,
    };
    id.ok_or_else(|| {
        let message = format!("value \"{text}\" is out of range for type {type_name}");
        Error::new(SqlState::NumericValueOutOfRange, message).at_literal(text)
    })
}

/// The object ids of a vector.
fn ids(text: &str) -> Result<Vec<Option<i64>>> {
    let id = |text| object_id(text, SystemType::Oid.name()).map(|id| Some(i64::from(id)));
    text.split_ascii_whitespace().map(id).collect()
}

/// The small integers of a vector, which have blanks between them.
fn numbers(text: &str, type_name: &str) -> Result<Vec<Option<i16>>> {
    let number =
        |text: &str| text.parse::<i16>().map(Some).map_err(|_| refused_text(text, type_name));
    text.split_ascii_whitespace().map(number).collect()
}

/// A text as a value of type `name`, which has at most 63 bytes.
pub fn name(text: &str) -> &str {
    &text[..text.floor_char_boundary(NAME_BYTES_MAX)]
}

/// The one byte that a text of type `"char"` is: the first, or the one whose octal number is written.
///
/// # Errors
/// 0A000 for a byte beyond ASCII.
pub fn letter(text: &str) -> Result<String> {
    let octal = text.strip_prefix('\\').filter(|digits| digits.len() == 3);
    let byte = match octal.map(|digits| u8::from_str_radix(digits, 8)) {
        Some(Ok(byte)) => Some(byte),
        _ => text.bytes().next(),
    };
    match byte {
        None | Some(0) => Ok(String::new()),
        Some(byte) if byte.is_ascii() => Ok(char::from(byte).to_string()),
        Some(_) => Err(Error::unsupported("a \"char\" beyond ASCII is not supported")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state_of(text: &str) -> Result<u32, String> {
        object_id(text, "oid").map_err(|error| error.state().code().to_owned())
    }

    #[test]
    fn object_ids_have_32_bits_without_a_sign() {
        assert_eq!(state_of(" 12 "), Ok(12));
        assert_eq!(state_of("4294967295"), Ok(u32::MAX));
        assert_eq!(state_of("-1"), Ok(u32::MAX));
        assert_eq!(state_of("4294967296"), Err("22003".to_owned()));
        assert_eq!(state_of("-2147483649"), Err("22003".to_owned()));
        assert_eq!(state_of("99999999999999999999"), Err("22003".to_owned()));
        for text in ["", "abc", "0x10", "1.5", "-"] {
            assert_eq!(state_of(text), Err("22P02".to_owned()), "{text}");
        }
    }

    #[test]
    fn texts_become_values_of_their_types() {
        let of = |text: &str, of| {
            let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values([text]));
            values(&texts, of)
        };
        let vector = of("1 2  3", SystemType::Int2Vector).expect("a vector");
        assert_eq!(vector.as_list::<i32>().value(0).len(), 3);
        assert!(of("1 a", SystemType::Int2Vector).is_err());
        assert_eq!(of("7", SystemType::Regclass).expect("an id").data_type(), &DataType::Int64);
        assert!(of("pg_class", SystemType::Regclass).is_err());
        let long = of(&"x".repeat(70), SystemType::Name).expect("a name");
        assert_eq!(long.as_string_view().value(0).len(), NAME_BYTES_MAX);
        let letter = of("abc", SystemType::Char).expect("a letter");
        assert_eq!(letter.as_string_view().value(0), "a");
    }
}
