//! Columns of results: the short names of their types in PostgreSQL, and the kinds of their values.

use query::{Field, SqlType, SystemType};

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) kind: Kind,
}

/// The kind of a column's values, which determines alignment and JSON.
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
    /// The column for a field of a result in this process.
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
            | SqlType::System(SystemType::Oid) => Self::Number,
            SqlType::Boolean => Self::Boolean,
            SqlType::Json => Self::Json,
            SqlType::Timestamp | SqlType::TimestampTz => Self::Timestamp,
            SqlType::Precise(of, _) => Self::of(of),
            SqlType::Array(item) => Self::Array(Box::new(Self::of(item))),
            _ => Self::Text,
        }
    }
}

/// The short name of a type: `timestamptz` for `timestamp with time zone`.
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
        other => other.to_string(),
    }
}
