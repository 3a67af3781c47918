//! Types of Arrow fields: metadata holds what the Arrow type cannot express.

use crate::numbers;
use datafusion::arrow::datatypes::{DataType, Field};
use std::sync::Arc;
use store::catalog::{SqlType, SystemType, USER_TYPE, UserType, stable};

pub use store::catalog::TYPE_KEY;

/// The metadata key of PostgreSQL's name of a system type.
pub const SYSTEM_TYPE_KEY: &str = "pando.system_type";

/// The type of a field: the one that its metadata names, else the one of its Arrow type.
pub fn of_field(field: &Field) -> SqlType {
    named_by(field).unwrap_or_else(|| of_arrow(field.data_type()))
}

/// Whether the length, precision and scale of a field's type were declared, by a column or a cast.
pub fn is_declared(field: &Field) -> bool {
    named_by(field).is_some()
}

/// The type that a field's metadata names, if the field's Arrow type fits it.
fn named_by(field: &Field) -> Option<SqlType> {
    let sql_type = of_name(field.metadata().get(TYPE_KEY)?)?;
    let is_label = sql_type.user_type().is_some() && !field.data_type().is_integer();
    if is_label && sql_type.arrow() != *field.data_type() {
        // The labels of an enum, as results have them.
        return None;
    }
    let fits = sql_type.arrow() == *field.data_type() || matches!(sql_type, SqlType::Other(_));
    (fits || matches!(field.data_type(), DataType::List(_))).then_some(sql_type)
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?;
    Some(digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, half| byte << 4 | half)).collect())
}

/// The type of a name in metadata.
fn of_name(name: &str) -> Option<SqlType> {
    if let Some(item) = name.strip_suffix("[]") {
        return Some(SqlType::Array(Box::new(of_name(item)?)));
    }
    if let Some(user) = name.strip_prefix(USER_TYPE) {
        let user: UserType = stable::decode(&bytes_of_hex(user)?).ok()?;
        return Some(SqlType::User(Arc::new(user.unmarked())));
    }
    let (name, digits) = match name.split_once('(') {
        Some((name, digits)) => (name, digits.strip_suffix(')')?),
        None => (name, ""),
    };
    let precise = |of| Some(SqlType::Precise(Box::new(of), digits.parse().ok()?));
    Some(match name {
        "time without time zone" => precise(SqlType::Time)?,
        "timestamp without time zone" => precise(SqlType::Timestamp)?,
        "timestamp with time zone" => precise(SqlType::TimestampTz)?,
        "interval" => precise(SqlType::Interval)?,
        "uuid" => SqlType::Uuid,
        "json" => SqlType::Json,
        "jsonb" => SqlType::Jsonb,
        "character varying" if digits.is_empty() => SqlType::Varchar(None),
        "character varying" => SqlType::Varchar(Some(digits.parse().ok()?)),
        "character" => SqlType::Char(digits.parse().ok()?),
        "numeric" if !digits.contains(',') => precise(SqlType::NUMERIC)?,
        "numeric" => {
            let (precision, scale) = digits.split_once(',')?;
            SqlType::Numeric { precision: precision.parse().ok()?, scale: scale.parse().ok()? }
        }
        other if digits.is_empty() => SqlType::System(SystemType::of_name(other)?),
        _ => return None,
    })
}

/// The SQL type that holds the values of an Arrow type without loss, else [`SqlType::Other`].
pub fn of_arrow(data_type: &DataType) -> SqlType {
    match data_type {
        DataType::Boolean => SqlType::Boolean,
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => SqlType::SmallInt,
        DataType::Int32 | DataType::UInt16 => SqlType::Integer,
        DataType::Int64 | DataType::UInt32 => SqlType::BigInt,
        DataType::UInt64 => SqlType::Numeric { precision: 20, scale: 0 },
        DataType::Float16 | DataType::Float32 => SqlType::Real,
        DataType::Float64 => SqlType::Double,
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s) => {
            SqlType::Numeric { precision: *p, scale: *s }
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => SqlType::Text,
        open if numbers::is_open(open) => SqlType::NUMERIC,
        DataType::Binary | DataType::BinaryView | DataType::FixedSizeBinary(_) => SqlType::Bytea,
        DataType::Date32 | DataType::Date64 => SqlType::Date,
        DataType::Time32(_) | DataType::Time64(_) => SqlType::Time,
        DataType::Timestamp(_, None) => SqlType::Timestamp,
        DataType::Timestamp(_, Some(_)) => SqlType::TimestampTz,
        DataType::Interval(_) | DataType::Duration(_) => SqlType::Interval,
        DataType::Dictionary(_, value) => of_arrow(value),
        DataType::List(item) | DataType::LargeList(item) | DataType::ListView(item) => {
            SqlType::Array(Box::new(of_field(item)))
        }
        DataType::FixedSizeList(item, _) => SqlType::Array(Box::new(of_field(item))),
        other => SqlType::Other(other.clone()),
    }
}

/// The Arrow field of a column in plans. Metadata names types that Arrow does not have.
pub fn plan_field(name: &str, sql_type: &SqlType, nullable: bool) -> Field {
    sql_type.field(name, nullable)
}

/// Adds the name of a system type to a field's metadata, if clients distinguish the type.
pub fn with_system_type(field: Field, name: &str) -> Field {
    let name = name.to_lowercase();
    let name = name.strip_prefix("pg_catalog.").unwrap_or(&name);
    let is_known = match name.strip_suffix("[]") {
        Some(item) => matches!(item, "oid" | "name" | "\"char\""),
        None => SystemType::of_name(name).is_some_and(SystemType::is_storable),
    };
    match is_known {
        true => field.with_metadata([(SYSTEM_TYPE_KEY.to_owned(), name.to_owned())].into()),
        false => field,
    }
}
