//! Names in SQL text: case folding and qualified names.

use datafusion::sql::sqlparser::ast::{Ident, ObjectName};
use values::error::{Error, Result, SqlState};

/// The name that an identifier denotes: lower case, unless it is quoted.
pub fn fold(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// The schema, if any, and the name of an object. A leading database name is ignored.
///
/// # Errors
/// 42602 if the name has more than three parts.
pub fn split_name(name: &ObjectName) -> Result<(Option<String>, String)> {
    let parts: Vec<String> = name.0.iter().filter_map(|part| part.as_ident()).map(fold).collect();
    match &parts[..] {
        [name] => Ok((None, name.clone())),
        [schema, name] | [_, schema, name] => Ok((Some(schema.clone()), name.clone())),
        _ => Err(Error::new(SqlState::InvalidName, format!("improper relation name: {name}"))),
    }
}
