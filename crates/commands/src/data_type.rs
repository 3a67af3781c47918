//! Types of columns.

use crate::names::texts;
use crate::{Error, Result};
use analyzer::declared_type;
use analyzer::system::SqlType;
use grammar::tree::TypeName;

/// The type of a column, a parameter or a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataType {
    /// The type.
    pub sql_type: SqlType,
    /// The byte of the statement at which it begins, or -1.
    pub location: i32,
}

impl DataType {
    pub(crate) fn of(name: &TypeName) -> Result<Self> {
        Ok(Self { sql_type: declared_type(name)?, location: name.location })
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
        use analyzer::system::Oid;
        SqlType::plain(match self {
            Self::Small => Oid::INT2,
            Self::Integer => Oid::INT4,
            Self::Big => Oid::INT8,
        })
    }
}
