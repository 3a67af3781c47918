//! Resolution of relation names with a search path.

use crate::search_path::SearchPath;
use parser::commands::RelationName;
use store::catalog::{Catalog, RESERVED_SCHEMAS, Relation};
use values::{Error, Result, SqlState};

/// The relation with a name; `None` if there is none. A name without a schema is looked up in the
/// search path.
///
/// # Errors
/// The schema of the name belongs to another session.
pub fn find_named<'a>(
    catalog: &'a Catalog,
    path: SearchPath<'_>,
    name: &RelationName,
) -> Result<Option<&'a Relation>> {
    if let Some(schema) = &name.schema {
        path.refuse_others(schema)?;
    }
    Ok(find_in(catalog, path, name.schema.as_deref(), &name.name))
}

/// Like [`find_named`], for a name in parts as the catalog has them. `None` also if the schema does not exist.
pub fn find_in<'a>(
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

/// The relation with a name in parts. The first of three parts is the database and is ignored.
pub fn find_parts<'a>(
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

/// The kind of a relation with its article: `a table`, `an index`.
pub fn a_kind(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}

/// The error of a relation that a definition names, and that does not exist: 3F000 if its schema does not, else 42P01.
pub fn missing_relation(catalog: &Catalog, path: SearchPath<'_>, name: &RelationName) -> Error {
    let is_there = |schema: &str| {
        let is_own = schema == path.own() || RESERVED_SCHEMAS.contains(&schema);
        is_own || catalog.schema(schema).is_some()
    };
    match &name.schema {
        Some(schema) if !is_there(path.resolve(schema)) => {
            let message = format!("schema \"{schema}\" does not exist");
            Error::new(SqlState::InvalidSchemaName, message)
        }
        _ => undefined(name),
    }
}

/// The error of a relation that does not exist: 42P01.
pub fn undefined(name: impl std::fmt::Display) -> Error {
    let message = format!("relation \"{}\" does not exist", name.to_string().replace('"', ""));
    Error::new(SqlState::UndefinedTable, message)
}
