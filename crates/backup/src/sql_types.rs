//! Types as text: as SQL writes them, types of users as quoted names with their schemas, and types without an SQL name
//! as `arrow` and Arrow's text.

use std::sync::Arc;
use store::catalog::{Catalog, SqlType, SystemType};

/// Begins the text of a type without an SQL name.
const ARROW: &str = "arrow ";
/// The digits of the type `numeric`, at most.
const PRECISION_MAX: u8 = 38;

/// Returns the text of a type; `None` if it has none that can be read again with a catalog.
pub(crate) fn text(sql_type: &SqlType, catalog: &Catalog) -> Option<String> {
    let text = match sql_type {
        SqlType::Array(item) => return Some(format!("{}[]", text(item, catalog)?)),
        SqlType::User(user) => {
            let known = catalog.user_type_by_id(user.id)?;
            return Some(format!("{}.{}", quoted(&known.schema), quoted(&known.name)));
        }
        SqlType::Precise(of, modifier) => format!("precise({modifier} {of})"),
        SqlType::Other(data_type) => format!("{ARROW}{data_type}"),
        named => named.to_string(),
    };
    (parse(&text, catalog).as_ref() == Some(sql_type)).then_some(text)
}

/// Reads the text of a type. Types of users are in the catalog.
pub(crate) fn parse(text: &str, catalog: &Catalog) -> Option<SqlType> {
    if let Some(item) = text.strip_suffix("[]") {
        return Some(SqlType::Array(Box::new(parse(item, catalog)?)));
    }
    if let Some((schema, name)) = user_type(text) {
        return Some(SqlType::User(Arc::clone(catalog.user_type(&schema, &name)?)));
    }
    if let Some(data_type) = text.strip_prefix(ARROW) {
        return Some(SqlType::Other(data_type.parse().ok()?));
    }
    let (name, arguments) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((name, arguments)) => (name, Some(arguments)),
        None => (text, None),
    };
    Some(match (name, arguments) {
        ("boolean", None) => SqlType::Boolean,
        ("smallint", None) => SqlType::SmallInt,
        ("integer", None) => SqlType::Integer,
        ("bigint", None) => SqlType::BigInt,
        ("real", None) => SqlType::Real,
        ("double precision", None) => SqlType::Double,
        ("numeric", None) => SqlType::NUMERIC,
        ("numeric", Some(digits)) => numeric(digits)?,
        ("text", None) => SqlType::Text,
        ("character varying", None) => SqlType::Varchar(None),
        ("character varying", Some(length)) => SqlType::Varchar(Some(length.parse().ok()?)),
        ("character", Some(length)) => SqlType::Char(length.parse().ok()?),
        ("bytea", None) => SqlType::Bytea,
        ("date", None) => SqlType::Date,
        ("precise", Some(inner)) => {
            let (modifier, of) = inner.split_once(' ')?;
            SqlType::Precise(Box::new(parse(of, catalog)?), modifier.parse().ok()?)
        }
        ("time without time zone", None) => SqlType::Time,
        ("timestamp without time zone", None) => SqlType::Timestamp,
        ("timestamp with time zone", None) => SqlType::TimestampTz,
        ("interval", None) => SqlType::Interval,
        ("uuid", None) => SqlType::Uuid,
        ("json", None) => SqlType::Json,
        ("jsonb", None) => SqlType::Jsonb,
        (system, None) => SqlType::System(SystemType::of_name(system)?),
        _ => return None,
    })
}

/// Returns the schema and the name of the user's type in a text, or of that of the items; `None` if there is none.
pub(crate) fn user_type(text: &str) -> Option<(String, String)> {
    let (schema, rest) = unquoted(text.trim_end_matches("[]"))?;
    let (name, rest) = unquoted(rest.strip_prefix('.')?)?;
    rest.is_empty().then_some((schema, name))
}

/// A quoted name.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Reads a quoted name. Returns it with the text behind it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('"')?;
    let mut name = String::new();
    loop {
        let (part, behind) = rest.split_once('"')?;
        name.push_str(part);
        let Some(more) = behind.strip_prefix('"') else { return Some((name, behind)) };
        name.push('"');
        rest = more;
    }
}

fn numeric(digits: &str) -> Option<SqlType> {
    let (precision, scale) = digits.split_once(',')?;
    let (precision, scale) = (precision.parse().ok()?, scale.parse().ok()?);
    let fits = (1..=PRECISION_MAX).contains(&precision) && scale <= precision as i8;
    fits.then_some(SqlType::Numeric { precision, scale })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::DataType;
    use store::catalog::{CatalogChange, DEFAULT_SCHEMA, TypeId, UserType, UserTypeKind, labels};

    #[test]
    fn types_of_users_are_names() {
        let user = UserType {
            id: TypeId(7),
            array: TypeId(8),
            schema: DEFAULT_SCHEMA.to_owned(),
            name: "a \".\"b(1)[]".to_owned(),
            kind: UserTypeKind::Enum(labels(["x".to_owned()])),
            comment: None,
        };
        let catalog = Catalog::new().apply(&CatalogChange::CreateType(user.clone()));
        let catalog = catalog.expect("a valid change");
        let one = SqlType::User(Arc::new(user));
        for (sql_type, end) in [(one.clone(), ""), (SqlType::Array(Box::new(one)), "[]")] {
            let text = text(&sql_type, &catalog).expect("a text");
            assert_eq!(text, format!(r#""public"."a "".""b(1)[]"{end}"#));
            assert_eq!(parse(&text, &catalog), Some(sql_type));
            assert_eq!(parse(&text, &Catalog::new()), None);
        }
    }

    #[test]
    fn every_type_can_be_read_again() {
        let plain = [
            SqlType::Boolean,
            SqlType::SmallInt,
            SqlType::Integer,
            SqlType::BigInt,
            SqlType::Real,
            SqlType::Double,
            SqlType::NUMERIC,
            SqlType::Numeric { precision: 12, scale: 2 },
            SqlType::Numeric { precision: 5, scale: -2 },
            SqlType::Text,
            SqlType::Varchar(None),
            SqlType::Varchar(Some(10)),
            SqlType::Char(3),
            SqlType::Bytea,
            SqlType::Date,
            SqlType::Time,
            SqlType::Timestamp,
            SqlType::TimestampTz,
            SqlType::Interval,
            SqlType::Precise(Box::new(SqlType::TimestampTz), 3),
            SqlType::Precise(Box::new(SqlType::Interval), 0x1c08_0003),
            SqlType::Uuid,
            SqlType::Json,
            SqlType::Jsonb,
            SqlType::Other(DataType::UInt64),
            SqlType::Other(DataType::Float16),
            SqlType::System(SystemType::Oid),
            SqlType::System(SystemType::Char),
        ];
        let catalog = Catalog::new();
        for one in plain {
            let array = SqlType::Array(Box::new(one.clone()));
            for sql_type in [one, array] {
                let text = text(&sql_type, &catalog).unwrap_or_else(|| panic!("{sql_type:?}"));
                assert_eq!(parse(&text, &catalog).as_ref(), Some(&sql_type), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_type_is_refused() {
        let catalog = Catalog::new();
        for text in [
            "",
            "int",
            "numeric(3)",
            "numeric(50,1)",
            "character",
            "text(3)",
            "arrow X",
            "[]",
            "\"a\".",
        ] {
            assert_eq!(parse(text, &catalog), None, "{text}");
        }
    }
}
