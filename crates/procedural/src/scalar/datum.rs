//! Plain values.

use super::numbers::fitting;
use crate::value::Value;
use datafusion::arrow::datatypes::{DataType, IntervalMonthDayNano};
use datafusion::common::ScalarValue;
use std::borrow::Cow;
use std::sync::Arc;
use store::catalog::SqlType;
use values::numbers;

/// A plain value. Its text may be that of a variable or of a constant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Datum<'d> {
    /// NULL.
    Null,
    /// A boolean.
    Truth(bool),
    /// A value of an integer type, the days of a date, or the microseconds of a timestamp.
    Integer(i64),
    /// A double precision number.
    Double(f64),
    /// A decimal number: digits, and how many of them are behind the point.
    Number(i128, i8),
    /// A text.
    Text(Cow<'d, str>),
    /// An interval.
    Span(IntervalMonthDayNano),
}

impl<'d> Datum<'d> {
    /// A value of a type. `None` if the type is not plain, or the value is of another.
    pub(super) fn of(value: &'d ScalarValue, of: &SqlType) -> Option<Self> {
        use ScalarValue as V;
        Some(match (value, of) {
            (V::Int32(value), SqlType::Integer) => Self::integer(value.map(i64::from)),
            (V::Int64(value), SqlType::BigInt) => Self::integer(*value),
            (V::Int16(value), SqlType::SmallInt) => Self::integer(value.map(i64::from)),
            (V::Boolean(value), SqlType::Boolean) => value.map_or(Self::Null, Self::Truth),
            (V::Float64(value), SqlType::Double) => value.map_or(Self::Null, Self::Double),
            (V::Utf8View(value), SqlType::Text | SqlType::Varchar(None)) => match value {
                Some(text) => Self::Text(Cow::Borrowed(text)),
                None => Self::Null,
            },
            (V::Date32(value), SqlType::Date) => Self::integer(value.map(i64::from)),
            (V::TimestampMicrosecond(value, _), SqlType::Timestamp | SqlType::TimestampTz) => {
                Self::integer(*value)
            }
            (V::IntervalMonthDayNano(value), SqlType::Interval) => {
                value.map_or(Self::Null, Self::Span)
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

    fn integer(value: Option<i64>) -> Self {
        value.map_or(Self::Null, Self::Integer)
    }

    /// The same value, whose text is that of this one.
    pub(super) fn borrowed(&self) -> Datum<'_> {
        match self {
            Self::Null => Datum::Null,
            Self::Truth(value) => Datum::Truth(*value),
            Self::Integer(value) => Datum::Integer(*value),
            Self::Double(value) => Datum::Double(*value),
            Self::Number(digits, scale) => Datum::Number(*digits, *scale),
            Self::Text(value) => Datum::Text(Cow::Borrowed(value)),
            Self::Span(value) => Datum::Span(*value),
        }
    }

    /// The value as one of a type that it has.
    pub(super) fn value(self, of: &SqlType) -> Value {
        use ScalarValue as V;
        let scalar = match (self, of) {
            (Self::Integer(value), SqlType::Integer) => V::Int32(i32::try_from(value).ok()),
            (Self::Integer(value), SqlType::SmallInt) => V::Int16(i16::try_from(value).ok()),
            (Self::Integer(value), SqlType::Date) => V::Date32(i32::try_from(value).ok()),
            (Self::Integer(value), SqlType::Timestamp | SqlType::TimestampTz) => {
                V::TimestampMicrosecond(Some(value), zone(of))
            }
            (Self::Integer(value), _) => V::Int64(Some(value)),
            (Self::Truth(value), _) => V::Boolean(Some(value)),
            (Self::Double(value), _) => V::Float64(Some(value)),
            (Self::Text(value), _) => V::Utf8View(Some(value.into_owned())),
            (Self::Span(value), _) => V::IntervalMonthDayNano(Some(value)),
            (Self::Number(digits, scale), _) => {
                let of = SqlType::Numeric { precision: 38, scale };
                return Value { scalar: V::Decimal128(Some(digits), 38, scale), of };
            }
            (Self::Null, SqlType::Integer) => V::Int32(None),
            (Self::Null, SqlType::SmallInt) => V::Int16(None),
            (Self::Null, SqlType::BigInt) => V::Int64(None),
            (Self::Null, SqlType::Boolean) => V::Boolean(None),
            (Self::Null, SqlType::Double) => V::Float64(None),
            (Self::Null, SqlType::Date) => V::Date32(None),
            (Self::Null, SqlType::Timestamp | SqlType::TimestampTz) => {
                V::TimestampMicrosecond(None, zone(of))
            }
            (Self::Null, SqlType::Interval) => V::IntervalMonthDayNano(None),
            (Self::Null, SqlType::Numeric { precision: 0, .. }) => V::LargeBinary(None),
            (Self::Null, SqlType::Numeric { precision, scale }) => {
                V::Decimal128(None, *precision, *scale)
            }
            (Self::Null, _) => V::Utf8View(None),
        };
        Value { scalar, of: of.clone() }
    }
}

/// The zone of the values of a type, as the engine has it.
fn zone(of: &SqlType) -> Option<Arc<str>> {
    match of {
        SqlType::TimestampTz => match of.arrow() {
            DataType::Timestamp(_, zone) => zone,
            _ => None,
        },
        _ => None,
    }
}

/// Whether the values of a type are plain.
pub(super) fn is_plain(of: &SqlType) -> bool {
    use SqlType as T;
    matches!(
        of,
        T::Integer
            | T::BigInt
            | T::SmallInt
            | T::Boolean
            | T::Double
            | T::Text
            | T::Varchar(None)
            | T::Numeric { .. }
            | T::Date
            | T::Timestamp
            | T::TimestampTz
            | T::Interval
    )
}
