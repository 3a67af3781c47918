//! Names in SQL text: case folding, and qualified names in parts.

use crate::values::error::{Error, Result, SqlState};
use datafusion::sql::sqlparser::ast::{Ident, ObjectName};

/// A name as SQL means it: lower case, unless it is quoted.
pub(crate) fn fold(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// The schema (if any) and the name of an object; a database name in front is passed over.
pub(crate) fn split_name(name: &ObjectName) -> Result<(Option<String>, String)> {
    let parts: Vec<String> = name.0.iter().filter_map(|part| part.as_ident()).map(fold).collect();
    match &parts[..] {
        [name] => Ok((None, name.clone())),
        [schema, name] | [_, schema, name] => Ok((Some(schema.clone()), name.clone())),
        _ => Err(Error::new(SqlState::InvalidName, format!("improper relation name: {name}"))),
    }
}
