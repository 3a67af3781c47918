//! Types of the analyzer, and types as the catalog holds them.

use analyzer::RowsOf;
use analyzer::system::types::{note_typed, numeric_digits, numeric_modifier};
use analyzer::system::{Oid, SqlType};
use analyzer::tree::Column;
use commands::{DataType as Written, Prepare};
use datafusion::arrow::datatypes::{DataType, Field};
use grammar::tree::TypeName;
use std::sync::Arc;
use store::catalog::{Attribute, RelationId, SqlType as Held, SystemType, UserType};
use user_types::Visible;
use values::error::{Error, Result, SqlState};
use values::types::{self, SYSTEM_TYPE_KEY};

/// The analyzer's type for a held one. `None` for types that PostgreSQL does not have.
pub fn of_held(held: &Held) -> Option<SqlType> {
    let length = |oid, length: u32| {
        Some(SqlType { oid, modifier: i32::try_from(length).ok()?.checked_add(4)? })
    };
    let oid = match held {
        Held::Boolean => Oid::BOOL,
        Held::SmallInt => Oid::INT2,
        Held::Integer => Oid::INT4,
        Held::BigInt => Oid::INT8,
        Held::Real => Oid::FLOAT4,
        Held::Double => Oid::FLOAT8,
        numeric if *numeric == Held::NUMERIC => Oid::NUMERIC,
        Held::Numeric { precision, scale } => {
            let modifier = numeric_modifier(i32::from(*precision), i32::from(*scale));
            return Some(SqlType { oid: Oid::NUMERIC, modifier });
        }
        Held::Text => Oid::TEXT,
        Held::Varchar(None) => Oid::VARCHAR,
        Held::Varchar(Some(most)) => return length(Oid::VARCHAR, *most),
        Held::Char(exact) => return length(Oid::BPCHAR, *exact),
        Held::Bytea => Oid::BYTEA,
        Held::Date => Oid::DATE,
        Held::Time => Oid::TIME,
        Held::Timestamp => Oid::TIMESTAMP,
        Held::TimestampTz => Oid::TIMESTAMPTZ,
        Held::Interval => Oid::INTERVAL,
        Held::Uuid => Oid::UUID,
        Held::Json => Oid::JSON,
        Held::Jsonb => Oid::JSONB,
        Held::Array(item) => {
            let item = of_held(item)?;
            return Some(SqlType { oid: item.oid.array()?, modifier: item.modifier });
        }
        Held::Precise(of, modifier) => {
            let modifier = i32::try_from(*modifier).ok()?;
            return Some(SqlType { modifier, ..of_held(of)? });
        }
        Held::User(user) => user_types::oid_of(user, of_held)?,
        Held::System(of) => Oid(of.oid()),
        // Columns that CREATE TABLE AS made before types of the system catalogs had definitions.
        Held::Other(DataType::UInt32) => Oid::OID,
        Held::Other(DataType::LargeUtf8) => Oid::NAME,
        Held::Other(DataType::UInt8) => Oid::CHAR,
        Held::Other(DataType::Utf8) => Oid::BPCHAR,
        Held::Other(_) => return None,
    };
    Some(SqlType::plain(oid))
}

/// The analyzer's type of the rows of a relation. `None` if it has none: a view has columns of types of the system.
pub fn of_rows(rows: &RowsOf, users: &Visible) -> Option<Oid> {
    let relation = RelationId(rows.number);
    let of_view = || {
        let attribute = |column: &Column| {
            let sql_type = held(column.sql_type).filter(|of| of.system_type().is_none())?;
            Some(Attribute { name: column.name.clone(), sql_type })
        };
        let columns = rows.columns.iter().map(attribute).collect::<Option<Vec<_>>>()?;
        let (schema, name) = &rows.name;
        let named = (schema.as_str(), name.as_str());
        (!columns.is_empty()).then(|| Arc::new(UserType::of_rows(relation, named, columns)))
    };
    let user = users.rows_of(relation).or_else(of_view)?;
    let rows = of_held(&Held::User(user))?.oid;
    let of = users.type_of(relation).and_then(|of| of_held(&Held::User(of)));
    note_typed(rows, of.map(|of| of.oid));
    Some(rows)
}

/// The largest length of `char`, for a parameter without a length.
const CHAR_MAX: u32 = 10_485_760;

/// The held type for an analyzer's. `None` for types without values here.
pub fn held(sql_type: SqlType) -> Option<Held> {
    let length = || u32::try_from(sql_type.modifier.checked_sub(4)?).ok();
    let precise = |of: Held| match u32::try_from(sql_type.modifier) {
        Ok(modifier) => Held::Precise(Box::new(of), modifier),
        Err(_) => of,
    };
    Some(match sql_type.oid {
        Oid::BOOL => Held::Boolean,
        Oid::INT2 => Held::SmallInt,
        Oid::INT4 => Held::Integer,
        Oid::INT8 => Held::BigInt,
        Oid::FLOAT4 => Held::Real,
        Oid::FLOAT8 => Held::Double,
        Oid::NUMERIC if sql_type.modifier < 0 => Held::NUMERIC,
        Oid::NUMERIC => {
            let (precision, scale) = numeric_digits(sql_type.modifier);
            match (u8::try_from(precision), i8::try_from(scale)) {
                (Ok(precision @ ..=NUMERIC_MAX_PRECISION), Ok(scale @ 0..))
                    if scale.unsigned_abs() <= precision =>
                {
                    Held::Numeric { precision, scale }
                }
                _ => precise(Held::NUMERIC),
            }
        }
        Oid::TEXT | Oid::UNKNOWN => Held::Text,
        Oid::VARCHAR => Held::Varchar(length()),
        Oid::BPCHAR => Held::Char(length().unwrap_or(CHAR_MAX)),
        Oid::BYTEA => Held::Bytea,
        Oid::DATE => Held::Date,
        Oid::TIME => precise(Held::Time),
        Oid::TIMESTAMP => precise(Held::Timestamp),
        Oid::TIMESTAMPTZ => precise(Held::TimestampTz),
        Oid::INTERVAL => precise(Held::Interval),
        Oid::UUID => Held::Uuid,
        Oid::JSON => Held::Json,
        Oid::JSONB => Held::Jsonb,
        // Of what functions without a value return, there are no values.
        Oid::VOID | Oid::CSTRING => return None,
        oid if let Some(system) = SystemType::of_oid(oid.0) => Held::System(system),
        oid if let Some(user) = user_types::definition_of(oid) => Held::User(user),
        oid => {
            let item = SqlType { oid: oid.element()?, modifier: sql_type.modifier };
            Held::Array(Box::new(held(item)?))
        }
    })
}

/// The digits that a `numeric` can have.
const NUMERIC_MAX_PRECISION: u8 = 38;

/// The type of a name in a parse tree. `None` for what is no type here.
pub fn of_name(name: &TypeName) -> Option<Held> {
    held(analyzer::declared_type(name).ok()?)
}

/// The type of a column, a parameter or a sequence in a statement, whose text is `text`.
///
/// # Errors
/// 42704 for a name of no type; 0A000 for types that PostgreSQL has and Pando has not.
pub fn of_written(written: &Written, users: &Visible, text: &str) -> Result<Held> {
    let sql_type = written.sql_type;
    let refused =
        |error: analyzer::Error| crate::errors::of_analyzer(error.at(written.location), text);
    let missing = |what: String| refused(analyzer::Error::missing(what));
    if let Some(named) = &written.of_users {
        let Some((user, is_array)) = users.find(named.schema.as_deref(), &named.name) else {
            let brackets = if written.is_array { "[]" } else { "" };
            let message = format!("type \"{named}{brackets}\" does not exist");
            return Err(refused(analyzer::Error::new("42704", message)));
        };
        let user = Held::User(user);
        let is_array = is_array || written.is_array;
        return Ok(if is_array { Held::Array(Box::new(user)) } else { user });
    }
    let found = held(sql_type).ok_or_else(|| missing(format!("type {}", sql_type.oid)))?;
    match &found {
        Held::Array(item) if matches!(&**item, Held::Precise(of, _) if **of == Held::NUMERIC) => {
            Err(missing(format!("{item}[]")).with_hint(format!(
                "The items of an array have up to {NUMERIC_MAX_PRECISION} declared digits; without a declaration there is no limit."
            )))
        }
        _ => Ok(found),
    }
}

/// The types that PREPARE declares for `$1`, `$2`, ...; `None` for `unknown`.
///
/// # Errors
/// As [`of_written`].
pub fn of_parameters(prepare: &Prepare, users: &Visible, text: &str) -> Result<Vec<Option<Held>>> {
    let of = |written: &Option<Written>| -> Result<Option<Held>> {
        let Some(written) = written else { return Ok(None) };
        let given = of_written(written, users, text)?;
        // Lengths and precisions of parameters do not count.
        let declared = of_held(&given).filter(|known| known.modifier >= 0);
        let plain = declared.and_then(|known| held(SqlType::plain(known.oid)));
        Ok(Some(plain.unwrap_or(given)))
    };
    prepare.types.iter().map(of).collect()
}

/// As [`of_written`], for a column.
///
/// # Errors
/// As [`of_written`]; 0A000 for types of system tables whose values cannot be stored.
pub fn of_column_definition(written: &Written, users: &Visible, text: &str) -> Result<Held> {
    let sql_type = of_written(written, users, text)?;
    refuse_rows(&sql_type)?;
    Ok(match sql_type {
        Held::Char(CHAR_MAX) => Held::Text,
        other if let Some(of) = other.system_type().filter(|of| !of.is_storable()) => {
            return Err(unstorable(of));
        }
        Held::Array(item) if is_domain(&item) => {
            return Err(Error::unsupported("an array of a domain is not supported")
                .with_hint("Make a domain over the array instead."));
        }
        other => other,
    })
}

/// Refuses a column that a query gives a type whose values cannot be stored.
///
/// # Errors
/// 42P16 for pseudo-types; 0A000 for types of system tables.
pub fn refuse_unstorable(column: &str, held: &Held) -> Result<()> {
    match held.system_type().filter(|of| !of.is_storable()) {
        Some(of @ (SystemType::Void | SystemType::Cstring)) => {
            let message = format!("column \"{column}\" has pseudo-type {}", of.name());
            Err(Error::new(SqlState::InvalidTableDefinition, message))
        }
        Some(of) => Err(unstorable(of)),
        None => Ok(()),
    }
}

fn unstorable(of: SystemType) -> Error {
    Error::unsupported(format!("a column of type {} is not supported", of.name()))
}

/// Refuses a column of the type of a relation's rows: changes of the relation would change its values.
///
/// # Errors
/// 0A000.
pub fn refuse_rows(held: &Held) -> Result<()> {
    match held.user_type() {
        Some(user) if user.id.rows_of().is_some() => {
            let message =
                format!("a column of the type of the rows of \"{}\" is not supported", user.name);
            Err(Error::unsupported(message).with_hint("Make a composite type with CREATE TYPE."))
        }
        _ => Ok(()),
    }
}

/// Refuses a column of a query whose rows a table or view would have: rows without a type of their own.
///
/// # Errors
/// 42P16.
pub fn refuse_record(name: &str, held: &Held) -> Result<()> {
    let pseudo = match held {
        Held::Array(item) if types::is_record(item) => "record[]",
        held if types::is_record(held) => "record",
        _ => return Ok(()),
    };
    let message = format!("column \"{name}\" has pseudo-type {pseudo}");
    Err(Error::new(SqlState::InvalidTableDefinition, message))
}

fn is_domain(held: &Held) -> bool {
    matches!(held, Held::User(user) if user.domain().is_some())
}

/// The type of a name as the definitions of system tables write it.
pub fn of_system_name(name: &str) -> Option<SqlType> {
    let name = name.strip_prefix("information_schema.").unwrap_or(name);
    let (name, is_array) = match name.strip_suffix("[]") {
        Some(item) => (item, true),
        None => (name, false),
    };
    let name = match name.trim_matches('"') {
        "sql_identifier" => "name",
        "character_data" | "yes_or_no" => "varchar",
        "cardinal_number" => "int4",
        "time_stamp" => "timestamptz",
        other => other,
    };
    let oid = match name {
        // System tables hold the names.
        "regtype" if is_array => Oid::TEXT,
        name => Oid::of_type_name(name)?,
    };
    Some(SqlType::plain(if is_array { oid.array()? } else { oid }))
}

/// The type of a column of a relation.
pub fn of_column(field: &Field) -> Option<SqlType> {
    if let Some(name) = field.metadata().get(SYSTEM_TYPE_KEY) {
        return of_system_name(name);
    }
    let held = types::of_field(field);
    if held.user_type().is_some() {
        return of_held(&held);
    }
    // Computed columns that only Arrow describes have the type that holds their values.
    match field.data_type() {
        DataType::Null => Some(SqlType::plain(Oid::TEXT)),
        // Files may have rows in columns.
        DataType::Struct(_) => Some(SqlType::plain(Oid::RECORD)),
        _ => of_held(&held),
    }
}
