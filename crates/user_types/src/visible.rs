//! The types that names in a statement can mean.

use std::sync::Arc;
use store::catalog::{Catalog, Relation, RelationId, Table, TypeId, UserType};

/// The types of a catalog, and the schemas in which names are looked up.
#[derive(Debug, Clone)]
pub struct Visible {
    known: Known,
    path: Vec<String>,
}

impl Default for Visible {
    /// No types.
    fn default() -> Self {
        Self { known: Known::Types(Vec::new()), path: Vec::new() }
    }
}

/// Where types are looked up.
#[derive(Debug, Clone)]
enum Known {
    /// In a catalog, in which the name of a table is a type, too.
    Catalog(Arc<Catalog>),
    /// Among these.
    Types(Vec<Arc<UserType>>),
}

impl Visible {
    /// The types of a catalog, for names in these schemas.
    pub fn new<'a>(catalog: &Arc<Catalog>, path: impl Iterator<Item = &'a str>) -> Self {
        let path = path.map(str::to_owned).collect();
        Self { known: Known::Catalog(Arc::clone(catalog)), path }
    }

    /// The types of a table's columns, by their names alone or with their schemas.
    pub fn of_columns(table: &Table) -> Self {
        let types = table.columns.iter().filter_map(|column| column.sql_type.user_type());
        let types: Vec<Arc<UserType>> = types.cloned().collect();
        let path = types.iter().map(|user| user.schema.clone()).collect();
        Self { known: Known::Types(types), path }
    }

    /// The type of a name, and whether the name means arrays of it.
    pub fn find(&self, schema: Option<&str>, name: &str) -> Option<(Arc<UserType>, bool)> {
        let item = name.strip_prefix('_');
        let exact = self.named(schema, name).map(|user| (user, false));
        exact.or_else(|| Some((self.named(schema, item?)?, true)))
    }

    /// The type of the rows of a table.
    pub fn rows_of(&self, table: RelationId) -> Option<Arc<UserType>> {
        match &self.known {
            Known::Catalog(catalog) => catalog.type_by_id(TypeId::of_rows(table)),
            Known::Types(_) => None,
        }
    }

    /// The composite type that a table is of.
    pub fn type_of(&self, table: RelationId) -> Option<Arc<UserType>> {
        let Known::Catalog(catalog) = &self.known else { return None };
        match catalog.relation_by_id(table)? {
            Relation::Table(table) => catalog.type_by_id(table.extension.of_type?),
            _ => None,
        }
    }

    fn named(&self, schema: Option<&str>, name: &str) -> Option<Arc<UserType>> {
        match schema {
            Some(schema) => self.within(schema, name),
            None => self.path.iter().find_map(|schema| self.within(schema, name)),
        }
    }

    fn within(&self, schema: &str, name: &str) -> Option<Arc<UserType>> {
        match &self.known {
            Known::Catalog(catalog) => catalog.type_named(schema, name),
            Known::Types(types) => {
                let found = types.iter().find(|user| user.schema == schema && user.name == name);
                found.cloned()
            }
        }
    }
}
