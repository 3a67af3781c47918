//! Columns: the names of their types as they stand over them (PostgreSQL's, in their short forms), and what their
//! values are to whoever shows them.

use super::grid::Align;
use arrow::datatypes::DataType;
use pando::{Field, SqlType};

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) kind: Kind,
}

/// What values are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Boolean,
    Json,
    Timestamp,
    Array(Box<Kind>),
    /// Everything else.
    Text,
}

impl Column {
    /// A column of a result of ours.
    pub(crate) fn of_field(field: &Field) -> Self {
        let (type_name, kind) = (short_name(&field.sql_type), Kind::of(&field.sql_type));
        Self { name: field.name.clone(), type_name, kind }
    }
}

impl Kind {
    fn of(sql_type: &SqlType) -> Self {
        match sql_type {
            SqlType::SmallInt
            | SqlType::Integer
            | SqlType::BigInt
            | SqlType::Real
            | SqlType::Double
            | SqlType::Numeric { .. }
            | SqlType::Other(DataType::UInt32) => Self::Number,
            SqlType::Boolean => Self::Boolean,
            SqlType::Json => Self::Json,
            SqlType::Timestamp | SqlType::TimestampTz => Self::Timestamp,
            SqlType::Array(item) => Self::Array(Box::new(Self::of(item))),
            _ => Self::Text,
        }
    }

    /// Which side values line up on.
    pub(crate) fn align(&self) -> Align {
        if *self == Self::Number { Align::Right } else { Align::Left }
    }
}

/// `timestamptz` rather than `timestamp with time zone`.
fn short_name(sql_type: &SqlType) -> String {
    match sql_type {
        SqlType::Double => "double".to_owned(),
        SqlType::Varchar(None) => "varchar".to_owned(),
        SqlType::Varchar(Some(length)) => format!("varchar({length})"),
        SqlType::Char(length) => format!("char({length})"),
        SqlType::Time => "time".to_owned(),
        SqlType::Timestamp => "timestamp".to_owned(),
        SqlType::TimestampTz => "timestamptz".to_owned(),
        SqlType::Array(item) => format!("{}[]", short_name(item)),
        SqlType::Other(DataType::UInt32) => "oid".to_owned(),
        SqlType::Other(DataType::UInt8) => "\"char\"".to_owned(),
        SqlType::Other(DataType::LargeUtf8) => "name".to_owned(),
        other => other.to_string(),
    }
}
