//! SQL's types as the parser spells them, as the catalog keeps them, and as results name them.
//!
//! One function a direction: [`from_ast`] for what a statement says, [`of_field`] for what a plan
//! computes. The Arrow form of a type is the catalog's business ([`SqlType::arrow`]).

use crate::values::error::{Error, Result, SqlState};
use crate::values::translate::external;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::planner::TypePlanner;
use datafusion::logical_expr::{Expr, ExprSchemable};
use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, CharacterLength, DataType as Ast, ExactNumberInfo, ObjectName,
    ObjectNamePart, TimezoneInfo,
};
use std::sync::Arc;
use store::catalog::SqlType;

/// The metadata key under which a field carries the name of a type that Arrow does not know.
pub(crate) const TYPE_KEY: &str = "pando.type";

/// The metadata key under which a field of a system table carries PostgreSQL's name of its type.
pub(crate) const SYSTEM_TYPE_KEY: &str = "pando.system_type";

/// PostgreSQL's `oid`, as results name it.
pub const OID: SqlType = SqlType::Other(DataType::UInt32);
/// PostgreSQL's `"char"`, a single byte, as results name it.
pub const CHAR: SqlType = SqlType::Other(DataType::UInt8);
/// PostgreSQL's `name`, as results name it.
pub const NAME: SqlType = SqlType::Other(DataType::LargeUtf8);

/// Whether values of a type are rows of several, which PostgreSQL calls `record`.
pub fn is_record(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::Other(DataType::Struct(_)))
}

/// Arrays of `oid`, as results hold them.
pub(crate) fn oids() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::UInt32, true)))
}

/// Digits of a `numeric`, at most.
const NUMERIC_MAX_PRECISION: u8 = 38;

/// The catalog's type for a type in a statement. `serial` types are for the caller, who makes a sequence.
pub(crate) fn from_ast(ast: &Ast) -> Result<SqlType> {
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

/// A type's name without needless quotes: only `"char"` is another type than `char`.
fn spelled(name: &ObjectName) -> String {
    let part = |part: &ObjectNamePart| match part.as_ident() {
        Some(ident) if ident.value == "char" => ident.to_string(),
        Some(ident) => ident.value.clone(),
        None => part.to_string(),
    };
    name.0.iter().map(part).collect::<Vec<_>>().join(".")
}

/// The type that a client is told for a parameter that is cast: as [`from_ast`], and ids are `oid`. asyncpg knows
/// how to write `oid[]` before it has asked about any other array.
pub(crate) fn of_parameter(ast: &Ast) -> Result<SqlType> {
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

/// PostgreSQL names that the parser hands on as custom types.
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

/// The type of a computed column: the one its metadata names, else the one its Arrow type suggests.
pub(crate) fn of_field(field: &Field) -> SqlType {
    named_by(field).unwrap_or_else(|| of_arrow(field.data_type()))
}

/// Whether a computed column has the digits and the length of its type from a declaration: a column's or a cast's.
pub(crate) fn is_declared(field: &Field) -> bool {
    named_by(field).is_some()
}

/// The type that a field's metadata names, if it is one of the field's values.
fn named_by(field: &Field) -> Option<SqlType> {
    let sql_type = of_name(field.metadata().get(TYPE_KEY)?)?;
    let fits = sql_type.arrow() == *field.data_type() || matches!(sql_type, SqlType::Other(_));
    (fits || matches!(field.data_type(), DataType::List(_))).then_some(sql_type)
}

/// The type of a name that [`plan_field`] and the system's tables give.
fn of_name(name: &str) -> Option<SqlType> {
    if let Some(item) = name.strip_suffix("[]") {
        return Some(SqlType::Array(Box::new(of_name(item)?)));
    }
    let (name, digits) = match name.split_once('(') {
        Some((name, digits)) => (name, digits.strip_suffix(')')?),
        None => (name, ""),
    };
    Some(match name {
        "uuid" => SqlType::Uuid,
        "json" => SqlType::Json,
        "jsonb" => SqlType::Jsonb,
        "oid" => OID,
        "name" => NAME,
        "\"char\"" => CHAR,
        "character varying" if digits.is_empty() => SqlType::Varchar(None),
        "character varying" => SqlType::Varchar(Some(digits.parse().ok()?)),
        "character" => SqlType::Char(digits.parse().ok()?),
        "numeric" => {
            let (precision, scale) = digits.split_once(',')?;
            SqlType::Numeric { precision: precision.parse().ok()?, scale: scale.parse().ok()? }
        }
        _ => return None,
    })
}

/// The SQL type that holds the values of an Arrow type without loss, where there is one.
pub(crate) fn of_arrow(data_type: &DataType) -> SqlType {
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
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => SqlType::Bytea,
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

/// Functions that give one of their arguments.
pub(crate) const CHOOSES: [&str; 4] = ["coalesce", "greatest", "least", "nullif"];

/// The type of an expression; `None` for what has none yet: a quoted constant, NULL, a parameter. The engine forgets the
/// types that Arrow does not know where one of several values is chosen.
pub(crate) fn of_expression(expr: &Expr, schema: &DFSchema) -> Option<SqlType> {
    let of_any = |mut choices: Vec<&Expr>| {
        choices.drain(..).find_map(|choice| of_expression(choice, schema))
    };
    match expr {
        // What is written as a whole number is an integer where it fits, which the engine is told later.
        Expr::Literal(ScalarValue::Int64(Some(number)), None) if i32::try_from(*number).is_ok() => {
            Some(SqlType::Integer)
        }
        Expr::Literal(value, None) if value.is_null() || value.try_as_str().is_some() => None,
        Expr::Placeholder(Placeholder { field, .. }) => {
            let field = field.as_ref().filter(|field| !field.data_type().is_null())?;
            Some(of_field(field)).filter(|known| *known != SqlType::Text)
        }
        Expr::Alias(alias) => of_expression(&alias.expr, schema),
        Expr::Cast(cast) => Some(of_field(&cast.field)),
        Expr::Case(case) => {
            let thens = case.when_then_expr.iter().map(|(_, then)| &**then);
            of_any(thens.chain(case.else_expr.as_deref()).collect())
        }
        Expr::ScalarFunction(call) if CHOOSES.contains(&call.name()) => {
            of_any(call.args.iter().collect())
        }
        Expr::ScalarFunction(call) if call.name() == "array_element" => {
            match of_expression(call.args.first()?, schema)? {
                SqlType::Array(item) => Some(*item),
                _ => None,
            }
        }
        other => other.to_field(schema).ok().map(|(_, field)| of_field(&field)),
    }
}

/// A field for a column of a table as plans see it: types that Arrow lacks are named in the metadata.
pub(crate) fn plan_field(name: &str, sql_type: &SqlType, nullable: bool) -> Field {
    let field = Field::new(name, sql_type.arrow(), nullable);
    match is_more_than_arrow(sql_type) {
        true => field.with_metadata([(TYPE_KEY.to_owned(), sql_type.to_string())].into()),
        false => field,
    }
}

/// Whether a type says more than the Arrow type of its values.
fn is_more_than_arrow(sql_type: &SqlType) -> bool {
    match sql_type {
        SqlType::Uuid | SqlType::Json | SqlType::Jsonb | SqlType::Varchar(_) | SqlType::Char(_) => {
            true
        }
        SqlType::Numeric { .. } => *sql_type != SqlType::NUMERIC,
        SqlType::Array(item) => is_more_than_arrow(item),
        _ => false,
    }
}

/// A field that says which of the system's own types it has, if it is one that clients tell apart.
pub(crate) fn with_system_type(field: Field, name: &str) -> Field {
    let name = name.to_lowercase();
    match name.strip_prefix("pg_catalog.").unwrap_or(&name) {
        known @ ("oid" | "xid" | "cid" | "name" | "\"char\"" | "int2vector" | "oidvector"
        | "oid[]" | "regproc" | "regclass" | "regtype" | "regprocedure"
        | "regnamespace" | "regrole") => {
            field.with_metadata([(SYSTEM_TYPE_KEY.to_owned(), known.to_owned())].into())
        }
        _ => field,
    }
}

/// A type as `pg_typeof` names it: digits and lengths belong to columns.
pub(crate) fn name_without_length(sql_type: &SqlType) -> String {
    let name = sql_type.to_string();
    match name.split_once('(') {
        Some((name, rest)) => {
            format!("{name}{}", rest.split_once(')').map_or("", |(_, rest)| rest))
        }
        None => name,
    }
}

/// Gives DataFusion's planner our reading of the types in casts.
#[derive(Debug)]
pub(crate) struct Types;

impl TypePlanner for Types {
    fn plan_type_field(&self, ast: &Ast) -> datafusion::common::Result<Option<FieldRef>> {
        if matches!(ast, Ast::Regclass) {
            return Ok(Some(Arc::new(Field::new("", DataType::Utf8View, true))));
        }
        match from_ast(ast) {
            Ok(SqlType::Interval) => Ok(None),
            Ok(sql_type) => {
                // A name says that the field is all that is known of the result, also where it says nothing more:
                // otherwise the engine would take a `json` that is cast to text for `json` still.
                let field = plan_field("cast", &sql_type, true);
                Ok(Some(Arc::new(match ast {
                    Ast::Custom(name, _) => with_system_type(field, &name.to_string()),
                    _ => field,
                })))
            }
            Err(error) if error.state() == SqlState::InvalidParameterValue => Err(external(error)),
            Err(_) => Ok(None),
        }
    }
}
