//! Column types with PostgreSQL names, and the Arrow types that represent them.

use crate::system_type::SystemType;
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
        /// Total number of digits, 1 to 38; 0 without a declaration.
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
    /// A time, time stamp or interval of a declared precision, or a numeric of one that [`Self::Numeric`] does not hold: the
    /// type without it, and PostgreSQL's modifier.
    Precise(Box<SqlType>, u32),
    /// A type that a user has defined.
    User(#[serde(with = "crate::arrow_serde::shared")] Arc<UserType>),
    /// A type without an SQL name, by its Arrow type.
    Other(#[serde(with = "crate::arrow_serde::data_type")] DataType),
    /// A type of the system catalogs.
    System(SystemType),
}

/// Id of a type that a user has defined, or of arrays of one. No relation has the number of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TypeId(pub u32);

/// A type that a user has defined.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UserType {
    /// The id, which no relation has.
    pub id: TypeId,
    /// The id of the type of arrays of it.
    pub array: TypeId,
    /// The schema.
    pub schema: String,
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: UserTypeKind,
    /// The text of COMMENT ON.
    pub comment: Option<String>,
}

/// The kinds of types that users define.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UserTypeKind {
    /// An enum, with its labels in order.
    Enum(Vec<EnumLabel>),
    /// A domain.
    Domain(Domain),
    /// A composite type, with its attributes in order. Also the type of the rows of a relation.
    Composite(Vec<Attribute>),
}

/// An attribute of a composite type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Attribute {
    /// The name.
    pub name: String,
    /// The type.
    pub sql_type: SqlType,
}

/// A label of an enum.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EnumLabel {
    /// The label.
    pub name: String,
    /// The number that represents it in values. It never changes, and numbers are in the order of labels.
    pub order: i64,
    /// Whether it has been added by the open transaction, in which no value may have it yet. No committed definition has
    /// this: see [`settled`](crate::settled()).
    #[serde(skip)]
    pub is_new: bool,
}

/// A type with conditions.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Domain {
    /// The type that it restricts.
    pub base: Box<SqlType>,
    /// Whether it has NULL.
    pub nullable: bool,
    /// The expression of DEFAULT.
    pub default: Option<String>,
    /// The conditions, in which VALUE is the value.
    pub checks: Vec<DomainCheck>,
}

/// A condition of a domain.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DomainCheck {
    /// The name.
    pub name: String,
    /// The condition as SQL text.
    pub expression: String,
    /// Whether all values in columns have been checked; not with NOT VALID.
    pub is_valid: bool,
    /// The text of COMMENT ON.
    pub comment: Option<String>,
}

impl SqlType {
    /// `numeric` without precision and scale: each value has a scale of its own.
    pub const NUMERIC: Self = Self::Numeric { precision: 0, scale: 0 };

    /// Returns the Arrow type that represents its values.
    pub fn arrow(&self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::SmallInt => DataType::Int16,
            Self::Integer => DataType::Int32,
            Self::BigInt => DataType::Int64,
            Self::Real => DataType::Float32,
            Self::Double => DataType::Float64,
            // Of numbers with a scale each, the bytes; nothing else has this type.
            Self::Numeric { precision: 0, .. } => DataType::LargeBinary,
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
            Self::Precise(of, _) => of.arrow(),
            Self::User(user) => user.arrow(),
            Self::Other(data_type) => data_type.clone(),
            Self::System(of) => of.arrow(),
        }
    }

    /// The precision and scale of PostgreSQL's modifier of `numeric`.
    pub fn numeric_digits(modifier: u32) -> (u16, i16) {
        let digits = modifier.saturating_sub(4);
        // The scale has 11 bits, one of which is its sign.
        let scale = i16::try_from(digits & 0x7ff).unwrap_or_default();
        (u16::try_from(digits >> 16).unwrap_or(u16::MAX), (scale ^ 1024) - 1024)
    }

    /// Whether its values are what a parameter of a type would be: they need no conversion but that to a larger integer.
    pub fn fits(&self, wanted: &Self) -> bool {
        let converts = matches!(
            (self, wanted),
            (Self::SmallInt, Self::Integer | Self::BigInt)
                | (Self::Integer, Self::BigInt)
                | (Self::Text | Self::Varchar(_), Self::Text | Self::Varchar(_))
        );
        self == wanted || converts
    }

    /// Whether a value does not say that it is of this type, since values of another type are represented as its values are:
    /// `uuid` and `varchar` as text, `oid` as a number, and all arrays of texts.
    pub fn is_represented_as_another(&self) -> bool {
        match self {
            Self::Text => false,
            Self::Array(item) => item.arrow().is_string() || item.is_represented_as_another(),
            Self::Other(_) | Self::System(_) => true,
            other => other.arrow().is_string(),
        }
    }

    /// The type of the system catalogs that it is, or that its items are.
    pub fn system_type(&self) -> Option<SystemType> {
        match self {
            Self::System(of) => Some(*of),
            Self::Array(item) => item.system_type(),
            Self::User(user) => user.domain()?.base.system_type(),
            _ => None,
        }
    }

    /// Whether clients get its values in a form of their own, which the values alone do not show: names for object ids, and
    /// vectors with blanks between their items.
    pub fn has_shown_form(&self) -> bool {
        self.system_type().is_some_and(|of| of.is_named_id() || of.is_vector())
    }

    /// The type without a declared precision of times or wide numerics.
    pub fn imprecise(&self) -> &Self {
        match self {
            Self::Precise(of, _) => of,
            other => other,
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
            Self::Precise(of, modifier) if **of == Self::Interval => write_interval(f, *modifier),
            Self::Precise(of, modifier) if **of == Self::NUMERIC => {
                let (precision, scale) = Self::numeric_digits(*modifier);
                write!(f, "numeric({precision},{scale})")
            }
            Self::Precise(of, digits) => {
                let name = of.to_string();
                let (first, rest) = name.split_once(' ').unwrap_or((&name, ""));
                write!(f, "{first}({digits}) {rest}")
            }
            Self::User(user) => f.write_str(&user.name),
            Self::Other(DataType::Struct(_)) => f.write_str("record"),
            Self::Other(data_type) => write!(f, "{data_type}"),
            Self::System(of) => f.write_str(of.name()),
        }
    }
}

/// The precision in the modifier of an interval that declares its fields only.
const ANY_PRECISION: u32 = 0xffff;
/// The fields in the modifier of an interval that declares its precision only.
const ALL_FIELDS: u32 = 0x7fff;

/// Writes `interval` with the fields and the precision of a modifier.
fn write_interval(f: &mut fmt::Formatter<'_>, modifier: u32) -> fmt::Result {
    const FIELDS: [(u32, &str); 6] =
        [(2, "year"), (1, "month"), (3, "day"), (10, "hour"), (11, "minute"), (12, "second")];
    let fields = (modifier >> 16) & ALL_FIELDS;
    let mut named = FIELDS.iter().filter(|(bit, _)| fields & (1 << bit) != 0);
    f.write_str("interval")?;
    if fields != ALL_FIELDS
        && let Some((_, first)) = named.next()
    {
        write!(f, " {first}")?;
        if let Some((_, last)) = named.next_back() {
            write!(f, " to {last}")?;
        }
    }
    match modifier & ANY_PRECISION {
        ANY_PRECISION => Ok(()),
        precision => write!(f, "({precision})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precisions_are_written_as_postgresql_writes_them() {
        let of = |of, modifier| SqlType::Precise(Box::new(of), modifier).to_string();
        assert_eq!(of(SqlType::Timestamp, 0), "timestamp(0) without time zone");
        assert_eq!(of(SqlType::TimestampTz, 3), "timestamp(3) with time zone");
        assert_eq!(of(SqlType::Time, 2), "time(2) without time zone");
        assert_eq!(of(SqlType::Interval, 0x7fff_0002), "interval(2)");
        assert_eq!(of(SqlType::Interval, 0x1c08_0003), "interval day to second(3)");
        assert_eq!(of(SqlType::Interval, 0x0004_ffff), "interval year");
    }

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
