//! Objects that have owners and privileges, by name.

use crate::session::Frame;
use catalog_views::relation_names::find_parts;
use store::catalog::{Catalog, Object, Privileges, Relation};
use values::error::{Error, Result, SqlState};

/// The name of the one database, and what tools take it for.
const DATABASE: &str = "pando";

/// Something that privileges are granted on, and what it is called.
pub(super) struct Thing {
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) object: Object,
    pub(super) all: Privileges,
}

pub(super) fn relation<'a>(
    frame: &Frame<'_>,
    catalog: &'a Catalog,
    name: &[String],
) -> Result<&'a Relation> {
    find_parts(catalog, frame.path(), name).ok_or_else(|| {
        let message = format!("relation \"{}\" does not exist", name.join("."));
        Error::new(SqlState::UndefinedTable, message)
    })
}

pub(super) fn of_relation(relation: &Relation) -> Thing {
    let all = match relation {
        Relation::Sequence(_) => Privileges::OF_SEQUENCES,
        Relation::Table(_) | Relation::View(_) => Privileges::OF_TABLES,
    };
    let object = Object::Relation(relation.id());
    Thing { kind: relation.kind(), name: relation.name().to_owned(), object, all }
}

pub(super) fn schema(catalog: &Catalog, name: &str) -> Result<Thing> {
    if catalog.schema(name).is_none() {
        let message = format!("schema \"{name}\" does not exist");
        return Err(Error::new(SqlState::InvalidSchemaName, message));
    }
    let object = Object::Schema(name.to_owned());
    Ok(Thing { kind: "schema", name: name.to_owned(), object, all: Privileges::OF_SCHEMAS })
}

pub(super) fn database(name: &str) -> Result<Thing> {
    if name != DATABASE {
        let message = format!("database \"{name}\" does not exist");
        return Err(Error::new(SqlState::InvalidCatalogName, message));
    }
    let all = Privileges::CREATE;
    Ok(Thing { kind: "database", name: name.to_owned(), object: Object::Database, all })
}
