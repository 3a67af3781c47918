//! Plain values.

use super::numbers::fitting;
use crate::value::Value;
use datafusion::arrow::array::Array;
use datafusion::common::ScalarValue;
use store::catalog::SqlType;
use values::numbers;

/// A plain value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Datum {
    /// NULL.
    Null,
    /// A boolean.
    Truth(bool),
    /// A value of an integer type.
    Integer(i64),
    /// A double precision number.
    Double(f64),
    /// A decimal number: digits, and how many of them are behind the point.
    Number(i128, i8),
    /// A text.
    Text(String),
}

impl Datum {
    /// A value of a type. `None` if the type is not plain, or the value is of another.
    pub(super) fn of(value: &ScalarValue, of: &SqlType) -> Option<Self> {
        use ScalarValue as V;
        Some(match (value, of) {
            (V::Int32(value), SqlType::Integer) => Self::integer(value.map(i64::from)),
            (V::Int64(value), SqlType::BigInt) => Self::integer(*value),
            (V::Int16(value), SqlType::SmallInt) => Self::integer(value.map(i64::from)),
            (V::Boolean(value), SqlType::Boolean) => value.map_or(Self::Null, Self::Truth),
            (V::Float64(value), SqlType::Double) => value.map_or(Self::Null, Self::Double),
            (V::Utf8View(value), SqlType::Text | SqlType::Varchar(None)) => {
                value.clone().map_or(Self::Null, Self::Text)
            }
            (V::Decimal128(value, _, scale), SqlType::Numeric { .. }) => {
                value.map_or(Self::Null, |digits| Self::Number(digits, *scale))
            }
            (V::LargeBinary(value), SqlType::Numeric { .. }) => match value {
                None => Self::Null,
                Some(bytes) => {
                    let (digits, scale) = numbers::read(bytes).ok()?.small_parts()?;
                    let (digits, scale) = fitting((digits, i8::try_from(scale).ok()?))?;
                    Self::Number(digits, scale)
                }
            },
            _ => return None,
        })
    }

    /// The item of an array of one dimension at a subscript, which is NULL beyond its ends. `None` as for [`Self::of`].
    pub(super) fn item(array: &ScalarValue, subscript: i64, of: &SqlType) -> Option<Self> {
        let ScalarValue::List(list) = array else { return None };
        if list.is_null(0) {
            return Some(Self::Null);
        }
        let items = list.value(0);
        let at = usize::try_from(subscript).ok().and_then(|subscript| subscript.checked_sub(1));
        match at.filter(|at| *at < items.len()) {
            Some(at) => Self::of(&ScalarValue::try_from_array(&items, at).ok()?, of),
            // The items of arrays of several dimensions are arrays.
            None if items.is_empty() || *items.data_type() == of.arrow() => Some(Self::Null),
            None => None,
        }
    }

    fn integer(value: Option<i64>) -> Self {
        value.map_or(Self::Null, Self::Integer)
    }

    /// The value as one of a type that it has.
    pub(super) fn value(self, of: &SqlType) -> Value {
        use ScalarValue as V;
        let scalar = match (self, of) {
            (Self::Integer(value), SqlType::Integer) => V::Int32(i32::try_from(value).ok()),
            (Self::Integer(value), SqlType::SmallInt) => V::Int16(i16::try_from(value).ok()),
            (Self::Integer(value), _) => V::Int64(Some(value)),
            (Self::Truth(value), _) => V::Boolean(Some(value)),
            (Self::Double(value), _) => V::Float64(Some(value)),
            (Self::Text(value), _) => V::Utf8View(Some(value)),
            (Self::Number(digits, scale), _) => {
                let of = SqlType::Numeric { precision: 38, scale };
                return Value { scalar: V::Decimal128(Some(digits), 38, scale), of };
            }
            (Self::Null, SqlType::Integer) => V::Int32(None),
            (Self::Null, SqlType::SmallInt) => V::Int16(None),
            (Self::Null, SqlType::BigInt) => V::Int64(None),
            (Self::Null, SqlType::Boolean) => V::Boolean(None),
            (Self::Null, SqlType::Double) => V::Float64(None),
            (Self::Null, SqlType::Numeric { precision: 0, .. }) => V::LargeBinary(None),
            (Self::Null, SqlType::Numeric { precision, scale }) => {
                V::Decimal128(None, *precision, *scale)
            }
            (Self::Null, _) => V::Utf8View(None),
        };
        Value { scalar, of: of.clone() }
    }
}

/// Whether the values of a type are plain.
pub(super) fn is_plain(of: &SqlType) -> bool {
    use SqlType as T;
    matches!(
        of,
        T::Integer | T::BigInt | T::SmallInt | T::Boolean | T::Double | T::Text | T::Varchar(None)
    ) || matches!(of, T::Numeric { .. })
}
