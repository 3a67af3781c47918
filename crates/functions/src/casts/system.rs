//! Casts of types of the system catalogs: object ids have 32 bits without a sign, integers one with it, and a `"char"` is a
//! byte.

use columnar::function;
use datafusion::arrow::array::{ArrayRef, AsArray, Int32Array, Int64Array, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Int32Type, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use store::catalog::SystemType;
use values::error::{Error, Result, SqlState};
use values::input::system::values;

/// From `integer` to object ids: the same bits.
pub const OID_OF_INT4: &str = "oid_of_int4";
/// From object ids to `integer`: the same bits.
pub const INT4_OF_OID: &str = "int4_of_oid";
/// From `bigint` to object ids.
pub const OID_OF_INT8: &str = "oid_of_int8";
/// From texts to `"char"`.
pub const CHAR_OF_TEXT: &str = "char_of_text";
/// From `integer` to `"char"`.
pub const CHAR_OF_INT4: &str = "char_of_int4";
/// From `"char"` to `integer`.
pub const INT4_OF_CHAR: &str = "int4_of_char";

const INT4: DataType = DataType::Int32;
const INT8: DataType = DataType::Int64;
const TEXT: DataType = DataType::Utf8View;

/// The functions of this file.
pub(crate) fn all() -> [ScalarUDF; 6] {
    [
        function(OID_OF_INT4, |_| Ok((vec![INT4], INT8)), |args| Ok(ids_of_integers(&args[0]))),
        function(INT4_OF_OID, |_| Ok((vec![INT8], INT4)), |args| Ok(integers_of_ids(&args[0]))),
        function(OID_OF_INT8, |_| Ok((vec![INT8], INT8)), |args| values(&args[0], SystemType::Oid)),
        function(
            CHAR_OF_TEXT,
            |_| Ok((vec![TEXT], TEXT)),
            |args| values(&args[0], SystemType::Char),
        ),
        function(CHAR_OF_INT4, |_| Ok((vec![INT4], TEXT)), |args| letters_of_bytes(&args[0])),
        function(INT4_OF_CHAR, |_| Ok((vec![TEXT], INT4)), |args| Ok(bytes_of_letters(&args[0]))),
    ]
}

/// The object id with the bits of an integer.
fn id_of_integer(number: i32) -> i64 {
    number.cast_unsigned().into()
}

fn ids_of_integers(numbers: &ArrayRef) -> ArrayRef {
    let numbers = numbers.as_primitive::<Int32Type>().iter();
    Arc::new(numbers.map(|number| number.map(id_of_integer)).collect::<Int64Array>())
}

fn integers_of_ids(ids: &ArrayRef) -> ArrayRef {
    let ids = ids.as_primitive::<Int64Type>().iter();
    Arc::new(ids.map(|id| id.map(|id| id as i32)).collect::<Int32Array>())
}

fn letters_of_bytes(numbers: &ArrayRef) -> Result<ArrayRef> {
    let letter = |number: i32| match u8::try_from(number) {
        Ok(0) => Ok(String::new()),
        Ok(byte) if byte.is_ascii() => Ok(char::from(byte).to_string()),
        _ if i8::try_from(number).is_ok() => {
            Err(Error::unsupported("a \"char\" beyond ASCII is not supported"))
        }
        _ => Err(Error::new(SqlState::NumericValueOutOfRange, "\"char\" out of range")),
    };
    let numbers = numbers.as_primitive::<Int32Type>().iter();
    let letters = numbers.map(|number| number.map(letter).transpose());
    Ok(Arc::new(letters.collect::<Result<StringViewArray>>()?))
}

fn bytes_of_letters(letters: &ArrayRef) -> ArrayRef {
    let byte = |letter: &str| i32::from(letter.bytes().next().unwrap_or(0));
    let letters = letters.as_string_view().iter();
    Arc::new(letters.map(|letter| letter.map(byte)).collect::<Int32Array>())
}
