//! Arrow fields of types: metadata names what the Arrow type does not express.

use crate::sql_type::{Attribute, SqlType};
use crate::stable;
use arrow::datatypes::{DataType, Field};
use std::collections::HashMap;

/// The metadata key of the name of a type that Arrow does not have.
pub const TYPE_KEY: &str = "pando.type";

/// Begins the name of a user's type in metadata, which is followed by its definition in hexadecimal digits.
pub const USER_TYPE: &str = "user ";

impl SqlType {
    /// The Arrow field of a column in plans. Metadata names types that Arrow does not have.
    pub fn field(&self, name: &str, nullable: bool) -> Field {
        let field = Field::new(name, self.arrow(), nullable);
        match is_more_than_arrow(self) {
            true => field.with_metadata(HashMap::from([(TYPE_KEY.to_owned(), name_of(self))])),
            false => field,
        }
    }
}

/// The Arrow type of the values of a composite type. It does not say which types of users the attributes have, so that it
/// stays when those change.
pub(crate) fn of_attributes(attributes: &[Attribute]) -> DataType {
    let field = |attribute: &Attribute| match attribute.sql_type.user_type() {
        Some(_) => Field::new(&attribute.name, attribute.sql_type.arrow(), true),
        None => attribute.sql_type.field(&attribute.name, true),
    };
    DataType::Struct(attributes.iter().map(field).collect())
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from_digit(half.into(), 16).unwrap_or('0'));
        }
    }
    text
}

/// The name of a type in metadata.
fn name_of(sql_type: &SqlType) -> String {
    match sql_type {
        SqlType::Array(item) => format!("{}[]", name_of(item)),
        SqlType::Precise(of, modifier) => format!("{of}({modifier})"),
        SqlType::User(user) => format!("{USER_TYPE}{}", hex(&stable::encode(&user.marked()))),
        other => other.to_string(),
    }
}

/// Whether a type is more specific than the Arrow type of its values.
fn is_more_than_arrow(sql_type: &SqlType) -> bool {
    match sql_type {
        SqlType::User(_)
        | SqlType::Uuid
        | SqlType::Json
        | SqlType::Jsonb
        | SqlType::Varchar(_)
        | SqlType::Char(_)
        | SqlType::Precise(..)
        | SqlType::System(_) => true,
        SqlType::Numeric { .. } => *sql_type != SqlType::NUMERIC,
        SqlType::Array(item) => is_more_than_arrow(item),
        _ => false,
    }
}
