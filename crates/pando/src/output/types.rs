//! The names of types over a column: PostgreSQL's, in their short forms.

use pando::SqlType;

/// `timestamptz` rather than `timestamp with time zone`.
pub(crate) fn short_name(sql_type: &SqlType) -> String {
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

/// Whether values line up on the right: numbers do.
pub(crate) fn is_number(sql_type: &SqlType) -> bool {
    matches!(
        sql_type,
        SqlType::SmallInt
            | SqlType::Integer
            | SqlType::BigInt
            | SqlType::Real
            | SqlType::Double
            | SqlType::Numeric { .. }
    )
}
