//! The orders of indexes: types that have one, and operator classes that mean it.

use store::catalog::{SqlType, SystemType};
use values::error::{Error, Result, SqlState};

/// The error for a type that PostgreSQL cannot order.
pub fn without_order(sql_type: &str) -> Error {
    let message =
        format!("data type {sql_type} has no default operator class for access method \"btree\"");
    Error::new(SqlState::UndefinedObject, message).with_hint(
        "You must specify an operator class for the index or define a default operator class \
         for the data type.",
    )
}

/// Refuses a type whose values have no order, or one that entries cannot have.
///
/// # Errors
/// 42704 if PostgreSQL has no order, either; 0A000.
pub fn require_order(sql_type: &SqlType) -> Result<()> {
    let sql_type = sql_type.representation();
    if *sql_type == SqlType::Json {
        return Err(without_order("json"));
    }
    if let SqlType::System(of) = sql_type
        && !of.is_ordered()
    {
        return Err(without_order(of.name()));
    }
    if has_documents(sql_type) || !store::key::is_key_type(&sql_type.arrow()) {
        let message = format!("an index on a column of type {sql_type} is not supported");
        return Err(Error::unsupported(message));
    }
    Ok(())
}

/// Refuses a type that keys of tables cannot have, and columns of constraints that compare values elsewhere than in an
/// index; `what` is the key or constraint.
///
/// # Errors
/// 42704 if PostgreSQL has no order, either; 0A000.
pub fn require_key_order(sql_type: &SqlType, what: &str) -> Result<()> {
    let of = sql_type.representation();
    if of.attributes().is_some() {
        return Err(Error::unsupported(format!("{what} of a composite type is not supported")));
    }
    if *of == SqlType::Jsonb {
        return Err(Error::unsupported(format!("{what} of type {sql_type} is not supported")));
    }
    require_order(sql_type)
}

/// Whether a type is one of arrays of documents, in whose order they are not held.
fn has_documents(sql_type: &SqlType) -> bool {
    match sql_type {
        SqlType::Array(item) => {
            matches!(item.representation(), SqlType::Json | SqlType::Jsonb) || has_documents(item)
        }
        _ => false,
    }
}

/// Refuses an operator class with another order than that of the type.
///
/// # Errors
/// 42704 for one that does not exist, 42804 for one of other types; 0A000.
pub fn require_class(class: &str, given: &SqlType) -> Result<()> {
    let sql_type = below_domains(given);
    let fits = match class {
        "int2_ops" => matches!(sql_type, SqlType::SmallInt),
        "int4_ops" => matches!(sql_type, SqlType::Integer),
        "int8_ops" => matches!(sql_type, SqlType::BigInt),
        "float4_ops" => matches!(sql_type, SqlType::Real),
        "float8_ops" => matches!(sql_type, SqlType::Double),
        "numeric_ops" => matches!(sql_type, SqlType::Numeric { .. }),
        "bool_ops" => matches!(sql_type, SqlType::Boolean),
        "bytea_ops" => matches!(sql_type, SqlType::Bytea),
        "date_ops" => matches!(sql_type, SqlType::Date),
        "time_ops" => matches!(sql_type, SqlType::Time),
        "timestamp_ops" => matches!(sql_type, SqlType::Timestamp),
        "timestamptz_ops" => matches!(sql_type, SqlType::TimestampTz),
        "uuid_ops" => matches!(sql_type, SqlType::Uuid),
        "text_ops" | "varchar_ops" | "text_pattern_ops" | "varchar_pattern_ops" => {
            matches!(sql_type, SqlType::Text | SqlType::Varchar(_))
        }
        "bpchar_ops" if *sql_type == SqlType::Text => {
            let message = format!("the operator class \"{class}\" of {sql_type} is not supported");
            return Err(Error::unsupported(message));
        }
        "bpchar_ops" | "bpchar_pattern_ops" => matches!(sql_type, SqlType::Char(_)),
        "jsonb_ops" => matches!(sql_type, SqlType::Jsonb),
        "interval_ops" => matches!(sql_type, SqlType::Interval),
        "array_ops" => matches!(sql_type, SqlType::Array(_)),
        "oid_ops" => matches!(sql_type, SqlType::System(of) if of.is_id() && of.is_ordered()),
        "name_ops" => *sql_type == SqlType::System(SystemType::Name),
        "char_ops" => *sql_type == SqlType::System(SystemType::Char),
        "oidvector_ops" => *sql_type == SqlType::System(SystemType::OidVector),
        "bit_ops" | "cidr_ops" | "inet_ops" | "macaddr_ops" | "money_ops" | "range_ops"
        | "record_ops" | "timetz_ops" | "tsvector_ops" | "varbit_ops" => false,
        "enum_ops" => matches!(sql_type, SqlType::User(user) if user.domain().is_none()),
        _ => {
            let message =
                format!("operator class \"{class}\" does not exist for access method \"btree\"");
            return Err(Error::new(SqlState::UndefinedObject, message));
        }
    };
    if fits {
        return Ok(());
    }
    let of = given.imprecise();
    let message = format!("operator class \"{class}\" does not accept data type {of}");
    Err(Error::new(SqlState::DatatypeMismatch, message))
}

/// The type that domains restrict, without the precision of times and wide numerics.
fn below_domains(sql_type: &SqlType) -> &SqlType {
    match sql_type {
        SqlType::User(user) => user.domain().map_or(sql_type, |domain| below_domains(&domain.base)),
        other => other.imprecise(),
    }
}
