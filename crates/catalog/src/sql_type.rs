//! Column types with PostgreSQL names, and the Arrow types that represent them.

use arrow::datatypes::{DataType, Field, IntervalUnit, TimeUnit};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A column's type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SqlType {
    /// `boolean`
    Boolean,
    /// `smallint`, 16 bits
    SmallInt,
    /// `integer`, 32 bits
    Integer,
    /// `bigint`, 64 bits
    BigInt,
    /// `real`, 32 bits
    Real,
    /// `double precision`, 64 bits
    Double,
    /// `numeric`: exact decimals.
    Numeric {
        /// Total number of digits, 1 to 38.
        precision: u8,
        /// Number of digits after the decimal point.
        scale: i8,
    },
    /// `text`
    Text,
    /// `character varying` with an optional maximum length in characters.
    Varchar(Option<u32>),
    /// `character` of this length. Trailing blanks are insignificant and not stored.
    Char(u32),
    /// `bytea`
    Bytea,
    /// `date`
    Date,
    /// `time without time zone`, in microseconds.
    Time,
    /// `timestamp without time zone`, in microseconds.
    Timestamp,
    /// `timestamp with time zone`, in microseconds.
    TimestampTz,
    /// `interval`: months, days and nanoseconds.
    Interval,
    /// `uuid`, stored as lower-case text.
    Uuid,
    /// `json`, stored as validated text.
    Json,
    /// `jsonb`, stored as normalized text.
    Jsonb,
    /// An array of a type.
    Array(Box<SqlType>),
    /// A type without an SQL name, by its Arrow type.
    Other(#[serde(with = "crate::arrow_serde::data_type")] DataType),
}

impl SqlType {
    /// `numeric` without precision and scale. It is stored as `numeric(38,10)` and is the same
    /// type.
    pub const NUMERIC: Self = Self::Numeric { precision: 38, scale: 10 };

    /// Returns the Arrow type that represents its values.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_survive_serialization_and_damaged_bytes_cause_no_panic() {
        let other = SqlType::Array(Box::new(SqlType::Other(DataType::UInt64)));
        let mut bytes = postcard::to_allocvec(&other).expect("written");
        assert_eq!(postcard::from_bytes::<SqlType>(&bytes).expect("read"), other);
        for at in 0..bytes.len() {
            bytes[at] ^= 0x5a;
            let _ = postcard::from_bytes::<SqlType>(&bytes);
            bytes[at] ^= 0x5a;
        }
    }
}
