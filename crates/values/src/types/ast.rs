//! Types in statements.

use super::names::OID;
use crate::error::{Error, Result, SqlState};
use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, CharacterLength, DataType as Ast, ExactNumberInfo, ObjectName,
    ObjectNamePart, TimezoneInfo,
};
use store::catalog::SqlType;

/// The maximum precision of a `numeric`.
const NUMERIC_MAX_PRECISION: u8 = 38;

/// The type in a statement. The caller resolves `serial` types, which need a sequence.
///
/// # Errors
/// 42704: unknown type. 22023: a length, precision or scale is out of range.
pub fn from_ast(ast: &Ast) -> Result<SqlType> {
    Ok(match ast {
        Ast::Boolean | Ast::Bool => SqlType::Boolean,
        Ast::SmallInt(_) | Ast::Int2(_) | Ast::Int16 => SqlType::SmallInt,
        Ast::Int(_) | Ast::Integer(_) | Ast::Int4(_) | Ast::Int32 => SqlType::Integer,
        Ast::BigInt(_) | Ast::Int8(_) | Ast::Int64 => SqlType::BigInt,
        Ast::Real | Ast::Float4 | Ast::Float32 => SqlType::Real,
        Ast::Double(_) | Ast::DoublePrecision | Ast::Float8 | Ast::Float64 => SqlType::Double,
        Ast::Float(info) => float(info)?,
        Ast::Numeric(info) | Ast::Decimal(info) | Ast::Dec(info) => numeric(info)?,
        Ast::Text | Ast::String(_) | Ast::Clob(_) => SqlType::Text,
        Ast::Varchar(n) | Ast::CharacterVarying(n) | Ast::CharVarying(n) | Ast::Nvarchar(n) => {
            SqlType::Varchar(length(n, ast)?)
        }
        Ast::Char(n) | Ast::Character(n) => SqlType::Char(length(n, ast)?.unwrap_or(1)),
        Ast::Bytea | Ast::Blob(_) | Ast::Varbinary(_) | Ast::Binary(_) => SqlType::Bytea,
        Ast::Date | Ast::Date32 => SqlType::Date,
        Ast::Time(_, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => SqlType::Time,
        Ast::Timestamp(_, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone)
        | Ast::TimestampNtz(_)
        | Ast::Datetime(_) => SqlType::Timestamp,
        Ast::Timestamp(_, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => SqlType::TimestampTz,
        Ast::Interval { .. } => SqlType::Interval,
        Ast::Uuid => SqlType::Uuid,
        Ast::JSON => SqlType::Json,
        Ast::JSONB => SqlType::Jsonb,
        Ast::Array(
            ArrayElemTypeDef::SquareBracket(inner, _)
            | ArrayElemTypeDef::AngleBracket(inner)
            | ArrayElemTypeDef::Parenthesis(inner),
        ) => SqlType::Array(Box::new(from_ast(inner)?)),
        Ast::Custom(name, _) => named(&spelled(name), ast)?,
        other => return Err(unknown(other)),
    })
}

/// A type's name without quotes, except for `"char"`, which is another type than `char`.
fn spelled(name: &ObjectName) -> String {
    let part = |part: &ObjectNamePart| match part.as_ident() {
        Some(ident) if ident.value == "char" => ident.to_string(),
        Some(ident) => ident.value.clone(),
        None => part.to_string(),
    };
    name.0.iter().map(part).collect::<Vec<_>>().join(".")
}

/// The type of a parameter in a cast, for the client: as [`from_ast`], but `oid` stays `oid`. asyncpg can write `oid[]`
/// before it has looked up any other array type.
///
/// # Errors
/// As [`from_ast`].
pub fn of_parameter(ast: &Ast) -> Result<SqlType> {
    match ast {
        Ast::Array(ArrayElemTypeDef::SquareBracket(item, _)) => {
            Ok(SqlType::Array(Box::new(of_parameter(item)?)))
        }
        Ast::Custom(name, _) if matches!(spelled(name).as_str(), "oid" | "pg_catalog.oid") => {
            Ok(OID)
        }
        other => from_ast(other),
    }
}

fn unknown(ast: &Ast) -> Error {
    Error::new(SqlState::UndefinedObject, format!("type \"{ast}\" does not exist")).with_hint(
        "types: boolean, smallint, integer, bigint, real, double precision, numeric(p,s), text, \
         varchar(n), char(n), bytea, date, time, timestamp, timestamptz, interval, uuid, json, jsonb, and arrays",
    )
}

/// Types that the parser does not know.
fn named(name: &str, ast: &Ast) -> Result<SqlType> {
    let lower = name.to_ascii_lowercase();
    Ok(match lower.strip_prefix("pg_catalog.").unwrap_or(&lower) {
        "name" | "citext" | "bpchar" | "text" | "varchar" | "\"char\"" | "\"name\"" | "cstring"
        | "unknown" | "pg_node_tree" | "aclitem" | "refcursor" => SqlType::Text,
        "oid" | "xid" | "xid8" | "cid" | "regproc" | "int8" => SqlType::BigInt,
        "bool" => SqlType::Boolean,
        "int2" => SqlType::SmallInt,
        "int4" => SqlType::Integer,
        "float4" => SqlType::Real,
        "float8" => SqlType::Double,
        "numeric" => numeric(&ExactNumberInfo::None)?,
        "bytea" => SqlType::Bytea,
        "date" => SqlType::Date,
        "time" => SqlType::Time,
        "timestamp" => SqlType::Timestamp,
        "timestamptz" => SqlType::TimestampTz,
        "interval" => SqlType::Interval,
        "uuid" => SqlType::Uuid,
        "json" => SqlType::Json,
        "jsonb" => SqlType::Jsonb,
        "int2vector" => SqlType::Array(Box::new(SqlType::SmallInt)),
        "oidvector" => SqlType::Array(Box::new(SqlType::BigInt)),
        _ => return Err(unknown(ast)),
    })
}

fn length(declared: &Option<CharacterLength>, ast: &Ast) -> Result<Option<u32>> {
    match declared {
        None | Some(CharacterLength::Max) => Ok(None),
        Some(CharacterLength::IntegerLength { length, .. }) => match u32::try_from(*length) {
            Ok(n) if n > 0 => Ok(Some(n)),
            _ => Err(Error::new(
                SqlState::InvalidParameterValue,
                format!("length for type {} must be at least 1", kind_of(ast)),
            )),
        },
    }
}

/// A type's name without its length.
fn kind_of(ast: &Ast) -> &'static str {
    match ast {
        Ast::Char(_) | Ast::Character(_) => "char",
        _ => "varchar",
    }
}

fn float(info: &ExactNumberInfo) -> Result<SqlType> {
    match info {
        ExactNumberInfo::None => Ok(SqlType::Double),
        ExactNumberInfo::Precision(1..=24) => Ok(SqlType::Real),
        ExactNumberInfo::Precision(25..=53) => Ok(SqlType::Double),
        ExactNumberInfo::Precision(p) | ExactNumberInfo::PrecisionAndScale(p, _) => {
            Err(Error::new(
                SqlState::InvalidParameterValue,
                format!("precision {p} for type float must be between 1 and 53"),
            ))
        }
    }
}

fn numeric(info: &ExactNumberInfo) -> Result<SqlType> {
    let (precision, scale) = match info {
        ExactNumberInfo::None => return Ok(SqlType::NUMERIC),
        ExactNumberInfo::Precision(p) => (*p, 0),
        ExactNumberInfo::PrecisionAndScale(p, s) => (*p, *s),
    };
    let p = u8::try_from(precision).ok().filter(|p| (1..=NUMERIC_MAX_PRECISION).contains(p));
    let Some(precision) = p else {
        return Err(Error::new(
            SqlState::InvalidParameterValue,
            format!("NUMERIC precision {precision} must be between 1 and {NUMERIC_MAX_PRECISION}"),
        ));
    };
    match i8::try_from(scale).ok().filter(|s| (0..=precision as i8).contains(s)) {
        Some(scale) => Ok(SqlType::Numeric { precision, scale }),
        None => Err(Error::new(
            SqlState::InvalidParameterValue,
            format!("NUMERIC scale {scale} must be between 0 and precision {precision}"),
        )),
    }
}
