//! The types of the tree, as the engine holds their values.
//!
//! Within plans, types of the system catalogs are those that hold their values: object ids are 64-bit integers and names are
//! texts. [`shown`] has the types of results.

use crate::refusal::{Result, missing};
use analyzer::system::types::numeric_digits;
use analyzer::system::{Oid, SqlType};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use std::sync::Arc;
use store::catalog::{SqlType as Held, SystemType};
use values::numbers::is_open;
use values::types;

/// The maximum precision of a `numeric`.
pub(crate) const DIGITS_MAX: u8 = 38;

/// The ids of types that Arrow does not have, and that the analysis does not name.
mod oids {
    use analyzer::system::Oid;

    pub(super) const XID8: Oid = Oid(5069);
    pub(super) const NODE_TREE: Oid = Oid(194);
    pub(super) const ACL_ITEM: Oid = Oid(1033);
    pub(super) const INET: Oid = Oid(869);
    pub(super) const PG_LSN: Oid = Oid(3220);
}

/// The type that holds the values of a type.
///
/// # Errors
/// Missing for types without values in the engine.
pub(crate) fn held(sql_type: SqlType) -> Result<Held> {
    Ok(match sql_type.oid {
        Oid::BOOL => Held::Boolean,
        Oid::INT2 => Held::SmallInt,
        Oid::INT4 => Held::Integer,
        Oid::INT8 => Held::BigInt,
        Oid::FLOAT4 => Held::Real,
        Oid::FLOAT8 => Held::Double,
        Oid::NUMERIC => numeric(sql_type)?,
        Oid::TEXT | Oid::NAME | Oid::CHAR | Oid::UNKNOWN | Oid::VOID => Held::Text,
        Oid::JSONPATH | Oid::CSTRING | oids::NODE_TREE | oids::ACL_ITEM | Oid::ANYARRAY => {
            Held::Text
        }
        // Of system tables.
        oids::INET | oids::PG_LSN | Oid::REFCURSOR | Oid::TID => Held::Text,
        Oid::VARCHAR => Held::Varchar(length(sql_type)),
        Oid::BPCHAR => length(sql_type).map_or(Held::Text, Held::Char),
        Oid::BYTEA => Held::Bytea,
        Oid::DATE => Held::Date,
        Oid::TIME => Held::Time,
        Oid::TIMESTAMP => Held::Timestamp,
        Oid::TIMESTAMPTZ => Held::TimestampTz,
        Oid::INTERVAL => Held::Interval,
        Oid::UUID => Held::Uuid,
        Oid::JSON => Held::Json,
        Oid::JSONB => Held::Jsonb,
        Oid::INT2VECTOR => Held::Array(Box::new(Held::SmallInt)),
        Oid::OIDVECTOR => Held::Array(Box::new(Held::BigInt)),
        oid if is_id(oid) => Held::BigInt,
        oid if let Some(user) = user_types::definition_of(oid) => Held::User(user),
        oid => match oid.element().filter(|item| *item != Oid::RECORD) {
            Some(item) if is_wide_numeric(SqlType { oid: item, modifier: sql_type.modifier }) => {
                return missing(format!("type {sql_type}"));
            }
            Some(Oid::INT2VECTOR | Oid::OIDVECTOR) | None => {
                return missing(format!("type {sql_type}"));
            }
            Some(item) => {
                Held::Array(Box::new(held(SqlType { oid: item, modifier: sql_type.modifier })?))
            }
        },
    })
}

/// Whether an id has 64 bits.
pub(crate) fn is_long_id(oid: Oid) -> bool {
    oid == oids::XID8
}

/// Whether the values of a type are object ids, which are held as integers.
pub(crate) fn is_id(oid: Oid) -> bool {
    matches!(oid, Oid::OID | Oid::XID | Oid::CID | oids::XID8) || is_named_id(oid)
}

/// Whether the values of a type are object ids that are written as names.
pub(crate) fn is_named_id(oid: Oid) -> bool {
    SystemType::of_oid(oid.0).is_some_and(SystemType::is_named_id)
}

/// Whether values are ids of objects that are written as names, or arrays of them.
pub(crate) fn has_names(sql_type: SqlType) -> bool {
    let of = system(sql_type).and_then(|held| held.system_type());
    of.is_some_and(SystemType::is_named_id)
}

/// The type of the system catalogs that a type is, or that the items of arrays are; `None` for other types.
pub(crate) fn system(sql_type: SqlType) -> Option<Held> {
    let sql_type = sql_type.base();
    if let Some(of) = SystemType::of_oid(sql_type.oid.0) {
        let has_length = of == SystemType::Bpchar && sql_type.modifier >= 0;
        return (!has_length).then_some(Held::System(of));
    }
    let item = SqlType { oid: sql_type.oid.element()?, modifier: sql_type.modifier };
    Some(Held::Array(Box::new(system(item)?)))
}

/// The type as which values of other types are read.
pub(crate) fn read(sql_type: SqlType) -> Result<Held> {
    let of_system = system(sql_type).filter(|of| of.system_type() != Some(SystemType::Bpchar));
    of_system.map_or_else(|| held(sql_type), Ok)
}

/// Whether the values of a type are texts of any length, without a form of their own.
pub(crate) fn is_text(oid: Oid) -> bool {
    matches!(oid, Oid::TEXT | Oid::VARCHAR | Oid::NAME | Oid::CHAR | Oid::UNKNOWN)
        || oid == Oid::REFCURSOR
        || matches!(oid, Oid::CSTRING | oids::ACL_ITEM | oids::NODE_TREE)
}

/// Whether the values of a type are 16, 32 or 64 bit integers.
pub(crate) fn is_integer(oid: Oid) -> bool {
    matches!(oid, Oid::INT2 | Oid::INT4 | Oid::INT8)
}

fn numeric(sql_type: SqlType) -> Result<Held> {
    if sql_type.modifier < 0 {
        return Ok(Held::NUMERIC);
    }
    let (precision, scale) = numeric_digits(sql_type.modifier);
    let fits =
        |precision: &u8| *precision <= DIGITS_MAX && (0..=i32::from(*precision)).contains(&scale);
    match (u8::try_from(precision).ok().filter(fits), i8::try_from(scale)) {
        (Some(precision), Ok(scale)) => Ok(Held::Numeric { precision, scale }),
        _ => Ok(Held::NUMERIC),
    }
}

/// Whether a type is a numeric with a declared precision and scale that decimals do not have. Its values have a scale each, and
/// are rounded.
pub(crate) fn is_wide_numeric(sql_type: SqlType) -> bool {
    sql_type.oid == Oid::NUMERIC
        && sql_type.modifier >= 0
        && numeric(sql_type).is_ok_and(|held| held == Held::NUMERIC)
}

/// The length of a type of texts.
pub(crate) fn length(sql_type: SqlType) -> Option<u32> {
    let length = sql_type.modifier.checked_sub(4)?;
    u32::try_from(length).ok().filter(|length| *length > 0)
}

/// Whether values of an Arrow type represent a type: for `numeric` without a modifier, decimals of any scale do.
pub(crate) fn fits(data_type: &DataType, sql_type: SqlType) -> Result<bool> {
    if sql_type == SqlType::plain(Oid::NUMERIC) {
        return Ok(matches!(data_type, DataType::Decimal128(..)) || is_open(data_type));
    }
    if sql_type.oid == Oid::RECORD {
        return Ok(matches!(data_type, DataType::Struct(_) | DataType::Null));
    }
    if sql_type.oid.is_of_users() && sql_type.oid.base() != sql_type.oid {
        return fits(data_type, sql_type.base());
    }
    if let (Some(item), DataType::List(field)) = (sql_type.oid.element(), data_type) {
        // The arrays in an array of several dimensions are of its type.
        let oid = if field.data_type().is_list() { sql_type.oid } else { item };
        return fits(field.data_type(), SqlType { oid, modifier: sql_type.modifier });
    }
    Ok(held(sql_type)?.arrow() == *data_type)
}

/// The field of a value in plans: its metadata names types that Arrow does not have.
pub(crate) fn field(sql_type: SqlType, data_type: &DataType) -> FieldRef {
    match held(sql_type) {
        Ok(held) if held.arrow() == *data_type => Arc::new(types::plan_field("", &held, true)),
        _ => Arc::new(Field::new("", data_type.clone(), true)),
    }
}

/// Whether values are arrays of several dimensions.
fn is_nested(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(item) if item.data_type().is_list())
}

/// The type of a result column.
pub(crate) fn shown(sql_type: SqlType, data_type: &DataType) -> Held {
    // Clients see the base types of domains.
    let sql_type = sql_type.base();
    match (sql_type.oid, data_type) {
        (Oid::NUMERIC, _) if sql_type.modifier < 0 => Held::NUMERIC,
        (Oid::NUMERIC, _) if is_wide_numeric(sql_type) => {
            Held::Precise(Box::new(Held::NUMERIC), sql_type.modifier.unsigned_abs())
        }
        _ if let Some(held) = system(sql_type).filter(|_| !is_nested(data_type)) => held,
        _ => match held(sql_type) {
            Ok(held) if held.arrow() == *data_type => precise(held, sql_type.modifier),
            _ => types::of_arrow(data_type),
        },
    }
}

/// A type of times, or of arrays of them, with its declared precision.
fn precise(held: Held, modifier: i32) -> Held {
    match (held, u32::try_from(modifier)) {
        (Held::Array(item), Ok(_)) => Held::Array(Box::new(precise(*item, modifier))),
        (
            of @ (Held::Time | Held::Timestamp | Held::TimestampTz | Held::Interval),
            Ok(modifier),
        ) => Held::Precise(Box::new(of), modifier),
        (held, _) => held,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analyzer::system::types::numeric_modifier;

    #[test]
    fn modifiers_are_lengths_and_digits() {
        let of = |oid, modifier| held(SqlType { oid, modifier }).expect("held");
        assert_eq!(of(Oid::VARCHAR, 9), Held::Varchar(Some(5)));
        assert_eq!(of(Oid::BPCHAR, -1), Held::Text);
        let price = numeric_modifier(10, 2);
        assert_eq!(of(Oid::NUMERIC, price), Held::Numeric { precision: 10, scale: 2 });
        assert_eq!(of(Oid::TEXT_ARRAY, -1), Held::Array(Box::new(Held::Text)));
        assert!(held(SqlType::plain(Oid::MONEY)).is_err());
    }
}
