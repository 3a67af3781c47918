//! Types of columns.

use crate::names::{RelationName, texts};
use crate::{Error, Result};
use analyzer::declared_type;
use analyzer::system::types::TypeKind;
use analyzer::system::{Oid, SqlType};
use grammar::tree::TypeName;

/// The SQLSTATE of types that do not exist.
const UNDEFINED: &str = "42704";

/// The type of a column, a parameter or a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataType {
    /// The type.
    pub sql_type: SqlType,
    /// The byte of the statement at which it begins, or -1.
    pub location: i32,
    /// The name, if it is none of PostgreSQL's types. Then `sql_type` says nothing.
    pub of_users: Option<RelationName>,
    /// Whether the name is followed by brackets, if it is none of PostgreSQL's types.
    pub is_array: bool,
}

impl DataType {
    pub(crate) fn of(name: &TypeName) -> Result<Self> {
        match declared_type(name) {
            Ok(sql_type) => Ok(Self::known(sql_type, name.location)),
            Err(error) if error.state == UNDEFINED && !name.pct_type && name.typmods.is_empty() => {
                let of_users = Some(RelationName::of_parts(&texts(&name.names))?);
                let is_array = !name.array_bounds.is_empty();
                let unknown = Self::known(SqlType::plain(Oid::UNKNOWN), name.location);
                Ok(Self { of_users, is_array, ..unknown })
            }
            Err(error) => Err(error),
        }
    }

    /// Whether it is a pseudo-type, which no column has.
    pub fn is_pseudo(&self) -> bool {
        let definition = self.sql_type.oid.definition();
        self.of_users.is_none() && definition.is_some_and(|of| of.kind == TypeKind::Pseudo)
    }

    /// One of PostgreSQL's types.
    pub(crate) fn known(sql_type: SqlType, location: i32) -> Self {
        Self { sql_type, location, of_users: None, is_array: false }
    }
}

/// A type that makes a sequence for its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serial {
    /// smallserial.
    Small,
    /// serial.
    Integer,
    /// bigserial.
    Big,
}

impl Serial {
    /// The serial type of a name.
    ///
    /// # Errors
    /// 0A000 for an array of one.
    pub(crate) fn of(name: &TypeName) -> Result<Option<Self>> {
        let names = texts(&name.names);
        let [bare] = names.as_slice() else { return Ok(None) };
        let serial = match bare.as_str() {
            "smallserial" | "serial2" => Self::Small,
            "serial" | "serial4" => Self::Integer,
            "bigserial" | "serial8" => Self::Big,
            _ => return Ok(None),
        };
        match name.array_bounds.is_empty() {
            true => Ok(Some(serial)),
            false => {
                let message = "array of serial is not implemented";
                Err(Error::new("0A000", message).at(name.location))
            }
        }
    }

    /// The type of the column.
    pub(crate) fn sql_type(self) -> SqlType {
        SqlType::plain(match self {
            Self::Small => Oid::INT2,
            Self::Integer => Oid::INT4,
            Self::Big => Oid::INT8,
        })
    }
}
