//! The types of columns, by PostgreSQL's names, and the Arrow types that hold them.

use arrow::datatypes::{DataType, Field, IntervalUnit, TimeUnit};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A column's type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SqlType {
    /// true, false
    Boolean,
    /// 16 bits
    SmallInt,
    /// 32 bits
    Integer,
    /// 64 bits
    BigInt,
    /// 32-bit floating point
    Real,
    /// 64-bit floating point
    Double,
    /// Exact decimals.
    Numeric {
        /// Digits in all, 1 to 38.
        precision: u8,
        /// Digits after the point.
        scale: i8,
    },
    /// Text of any length.
    Text,
    /// Text of at most so many characters.
    Varchar(Option<u32>),
    /// Text of so many characters; trailing blanks do not count and are not kept.
    Char(u32),
    /// Bytes.
    Bytea,
    /// A day.
    Date,
    /// A time of day, in microseconds.
    Time,
    /// A day and time without a zone, in microseconds.
    Timestamp,
    /// A moment, in microseconds.
    TimestampTz,
    /// Months, days and nanoseconds.
    Interval,
    /// 16 bytes; kept as its lower-case text.
    Uuid,
    /// Checked JSON text, as it was given.
    Json,
    /// JSON in its normal form.
    Jsonb,
    /// A list.
    Array(Box<SqlType>),
    /// A type that only the engine has.
    Other(#[serde(with = "crate::wire::data_type")] DataType),
}

impl SqlType {
    /// `numeric` without digits. It is held as one of 38 digits, of which 10 are behind the point; one that is declared
    /// with just these is the same type.
    pub const NUMERIC: Self = Self::Numeric { precision: 38, scale: 10 };

    /// The Arrow type that holds its values.
    pub fn arrow(&self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::SmallInt => DataType::Int16,
            Self::Integer => DataType::Int32,
            Self::BigInt => DataType::Int64,
            Self::Real => DataType::Float32,
            Self::Double => DataType::Float64,
            Self::Numeric { precision, scale } => DataType::Decimal128(*precision, *scale),
            Self::Text
            | Self::Varchar(_)
            | Self::Char(_)
            | Self::Uuid
            | Self::Json
            | Self::Jsonb => DataType::Utf8View,
            Self::Bytea => DataType::BinaryView,
            Self::Date => DataType::Date32,
            Self::Time => DataType::Time64(TimeUnit::Microsecond),
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::TimestampTz => DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
            Self::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
            Self::Array(item) => {
                DataType::List(Arc::new(Field::new_list_field(item.arrow(), true)))
            }
            Self::Other(data_type) => data_type.clone(),
        }
    }
}

impl fmt::Display for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("boolean"),
            Self::SmallInt => f.write_str("smallint"),
            Self::Integer => f.write_str("integer"),
            Self::BigInt => f.write_str("bigint"),
            Self::Real => f.write_str("real"),
            Self::Double => f.write_str("double precision"),
            numeric if *numeric == Self::NUMERIC => f.write_str("numeric"),
            Self::Numeric { precision, scale } => write!(f, "numeric({precision},{scale})"),
            Self::Text => f.write_str("text"),
            Self::Varchar(None) => f.write_str("character varying"),
            Self::Varchar(Some(n)) => write!(f, "character varying({n})"),
            Self::Char(n) => write!(f, "character({n})"),
            Self::Bytea => f.write_str("bytea"),
            Self::Date => f.write_str("date"),
            Self::Time => f.write_str("time without time zone"),
            Self::Timestamp => f.write_str("timestamp without time zone"),
            Self::TimestampTz => f.write_str("timestamp with time zone"),
            Self::Interval => f.write_str("interval"),
            Self::Uuid => f.write_str("uuid"),
            Self::Json => f.write_str("json"),
            Self::Jsonb => f.write_str("jsonb"),
            Self::Array(item) => write!(f, "{item}[]"),
            Self::Other(DataType::Struct(_)) => f.write_str("record"),
            Self::Other(data_type) => write!(f, "{data_type}"),
        }
    }
}
