//! Types of a server's columns. The names of user-defined types are queried once, and again after a statement that creates a
//! type.

use crate::error::SqlError;
use crate::output::{Column, Kind};
use crate::protocol::{Connection, Described};
use query::TransactionStatus;
use std::collections::HashMap;
use tokio_postgres::types::{Kind as Nature, Type};

/// Query for user-defined types.
const QUERY: &str =
    "SELECT oid, pg_catalog.format_type(oid, NULL) FROM pg_catalog.pg_type WHERE oid >= 16384";
/// Tags of statements that create types.
const CREATING: [&str; 3] = ["CREATE TYPE", "CREATE DOMAIN", "CREATE EXTENSION"];

/// The names of user-defined types.
#[derive(Debug, Default)]
pub(super) struct TypeNames {
    names: Option<HashMap<u32, String>>,
}

impl TypeNames {
    /// Queries the names if they are not known.
    pub(super) async fn refresh(&mut self, connection: &mut Connection) -> Result<(), SqlError> {
        if self.names.is_some() || connection.status() == TransactionStatus::Failed {
            return Ok(());
        }
        self.names = Some(HashMap::new());
        match connection.texts(QUERY).await {
            Ok(rows) => self.names = Some(rows.into_iter().filter_map(pair).collect()),
            Err(lost) if connection.is_over() => return Err(lost),
            // Without the privilege, numbers are shown instead of names.
            Err(_) => {}
        }
        Ok(())
    }

    /// Notes the tag of a completed statement, which may have created types.
    pub(super) fn done(&mut self, tag: &str) {
        if CREATING.contains(&tag) {
            self.names = None;
        }
    }

    /// The column for a description.
    pub(super) fn column(&self, Described { name, type_id, modifier }: Described) -> Column {
        let (type_name, kind) = match Type::from_oid(type_id) {
            Some(known) => shown(&known, modifier),
            None => {
                let known = self.names.as_ref().and_then(|names| names.get(&type_id));
                (known.cloned().unwrap_or_else(|| format!("type {type_id}")), Kind::Text)
            }
        };
        Column { name, type_name, kind }
    }
}

fn pair(row: Vec<Option<String>>) -> Option<(u32, String)> {
    let [id, name] = <[_; 2]>::try_from(row).ok()?;
    Some((id?.parse().ok()?, name?))
}

/// The short name of a built-in type, and the kind of its values.
fn shown(known: &Type, modifier: i32) -> (String, Kind) {
    if let Nature::Array(item) = known.kind() {
        let (name, kind) = shown(item, modifier);
        return (format!("{name}[]"), Kind::Array(Box::new(kind)));
    }
    let (name, kind) = match *known {
        Type::INT2 => ("smallint", Kind::Number),
        Type::INT4 => ("integer", Kind::Number),
        Type::INT8 => ("bigint", Kind::Number),
        Type::FLOAT4 => ("real", Kind::Number),
        Type::FLOAT8 => ("double", Kind::Number),
        Type::NUMERIC | Type::OID => (known.name(), Kind::Number),
        Type::BOOL => ("boolean", Kind::Boolean),
        Type::JSON | Type::JSONB => (known.name(), Kind::Json),
        Type::TIMESTAMP | Type::TIMESTAMPTZ => (known.name(), Kind::Timestamp),
        Type::BPCHAR if modifier >= 0 => ("char", Kind::Text),
        Type::CHAR => ("\"char\"", Kind::Text),
        _ => (known.name(), Kind::Text),
    };
    (format!("{name}{}", modifier_text(known, modifier)), kind)
}

/// The type modifier as text: `(10,2)`.
fn modifier_text(known: &Type, modifier: i32) -> String {
    /// PostgreSQL's modifiers include the size of a header.
    const HEADER: i32 = 4;
    if modifier < 0 {
        return String::new();
    }
    match *known {
        Type::VARCHAR | Type::BPCHAR => format!("({})", modifier - HEADER),
        Type::NUMERIC => {
            let both = modifier - HEADER;
            // The scale has eleven bits with a sign.
            let scale = ((both & 0x7ff) ^ 0x400) - 0x400;
            format!("({},{scale})", (both >> 16) & 0xffff)
        }
        Type::TIMESTAMP | Type::TIMESTAMPTZ | Type::TIME | Type::TIMETZ => format!("({modifier})"),
        Type::BIT | Type::VARBIT => format!("({modifier})"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_short_names() {
        let name = |known: &Type, modifier| shown(known, modifier).0;
        assert_eq!(name(&Type::INT8, -1), "bigint");
        assert_eq!(name(&Type::INT4_ARRAY, -1), "integer[]");
        assert_eq!(name(&Type::VARCHAR, 14), "varchar(10)");
        assert_eq!(name(&Type::BPCHAR, 7), "char(3)");
        assert_eq!(name(&Type::NUMERIC, (10 << 16) + 2 + 4), "numeric(10,2)");
        assert_eq!(name(&Type::NUMERIC, (3 << 16) + (-2 & 0x7ff) + 4), "numeric(3,-2)");
        assert_eq!(name(&Type::TIMESTAMPTZ, 3), "timestamptz(3)");
        let unknown = Described { name: "c".to_owned(), type_id: 99_999, modifier: -1 };
        assert_eq!(TypeNames::default().column(unknown).type_name, "type 99999");
    }
}
