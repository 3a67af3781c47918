//! Objects that have owners and privileges, by name.

use crate::context::Frame;
use catalog_views::relation_names::{find_parts, missing_relation, undefined};
use parser::commands::RelationName;
use store::catalog::{Catalog, Function, Object, Privileges, Relation};
use values::error::{Error, Result, SqlState};

/// The name of the database. There is only one.
const DATABASE: &str = "pando";

/// An object on which privileges are granted.
pub(super) struct GrantTarget {
    /// The kind of object in messages: `table`, `schema`, ...
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) object: Object,
    /// All privileges that exist for the kind.
    pub(super) all: Privileges,
}

/// A relation by its name, qualified or found in the search path.
///
/// # Errors
/// 42P01 if it does not exist; 3F000 if its schema does not.
pub(super) fn relation<'a>(
    frame: &Frame<'_>,
    catalog: &'a Catalog,
    name: &[String],
) -> Result<&'a Relation> {
    find_parts(catalog, frame.path(), name).ok_or_else(|| match name {
        [schema, name] => {
            let name = RelationName { schema: Some(schema.clone()), name: name.clone() };
            missing_relation(catalog, frame.path(), &name)
        }
        _ => undefined(name.join(".")),
    })
}

/// A relation as a target of GRANT.
pub(super) fn of_relation(relation: &Relation) -> GrantTarget {
    let all = match relation {
        Relation::Sequence(_) => Privileges::OF_SEQUENCES,
        Relation::Table(_) | Relation::View(_) | Relation::Index(_) => Privileges::OF_TABLES,
    };
    let object = Object::Relation(relation.id());
    GrantTarget { kind: relation.kind(), name: relation.name().to_owned(), object, all }
}

/// A function as a target of GRANT.
pub(super) fn of_function(function: &Function) -> GrantTarget {
    let (object, all) = (Object::Relation(function.id), Privileges::OF_FUNCTIONS);
    GrantTarget { kind: function.kind(), name: function.name.clone(), object, all }
}

/// A schema as a target of GRANT.
///
/// # Errors
/// 3F000 if it does not exist.
pub(super) fn schema(catalog: &Catalog, name: &str) -> Result<GrantTarget> {
    if catalog.schema(name).is_none() {
        let message = format!("schema \"{name}\" does not exist");
        return Err(Error::new(SqlState::InvalidSchemaName, message));
    }
    let object = Object::Schema(name.to_owned());
    Ok(GrantTarget { kind: "schema", name: name.to_owned(), object, all: Privileges::OF_SCHEMAS })
}

/// The database as a target of GRANT.
///
/// # Errors
/// 3D000 for another name.
pub(super) fn database(name: &str) -> Result<GrantTarget> {
    if name != DATABASE {
        let message = format!("database \"{name}\" does not exist");
        return Err(Error::new(SqlState::InvalidCatalogName, message));
    }
    let all = Privileges::CREATE;
    Ok(GrantTarget { kind: "database", name: name.to_owned(), object: Object::Database, all })
}
