//! Looking up relations by name along a search path.

use super::search_path::SearchPath;
use crate::parser::names::split_name;
use crate::values::error::{Error, Result, SqlState};
use datafusion::sql::sqlparser::ast::ObjectName;
use store::catalog::{Catalog, Relation};

/// The relation of a name, by the search path where the name has no schema.
pub(crate) fn find<'a>(
    catalog: &'a Catalog,
    path: SearchPath<'_>,
    name: &ObjectName,
) -> Result<Option<&'a Relation>> {
    let (schema, name) = split_name(name)?;
    if let Some(schema) = &schema {
        path.refuse_others(schema)?;
    }
    Ok(find_in(catalog, path, schema.as_deref(), &name))
}

fn find_in<'a>(
    catalog: &'a Catalog,
    path: SearchPath<'_>,
    schema: Option<&str>,
    name: &str,
) -> Option<&'a Relation> {
    match schema {
        Some(schema) => catalog.relation(path.resolve(schema), name),
        None => path.schemas().find_map(|schema| catalog.relation(schema, name)),
    }
}

/// The relation of a name in parts, the database's name in front passed over.
pub(crate) fn find_parts<'a>(
    catalog: &'a Catalog,
    path: SearchPath<'_>,
    parts: &[String],
) -> Option<&'a Relation> {
    match parts {
        [name] => find_in(catalog, path, None, name),
        [schema, name] | [_, schema, name] => find_in(catalog, path, Some(schema), name),
        _ => None,
    }
}

/// What a relation that does not exist is answered with.
pub(crate) fn undefined(name: &ObjectName) -> Error {
    let message = format!("relation \"{}\" does not exist", name.to_string().replace('"', ""));
    Error::new(SqlState::UndefinedTable, message)
}
