//! The types that names in a statement can mean.

use std::sync::Arc;
use store::catalog::{Catalog, Table, UserType};

/// The types of a catalog, and the schemas in which names are looked up.
#[derive(Debug, Clone, Default)]
pub struct Visible {
    types: Vec<Arc<UserType>>,
    path: Vec<String>,
}

impl Visible {
    /// The types of a catalog, for names in these schemas.
    pub fn new<'a>(catalog: &Catalog, path: impl Iterator<Item = &'a str>) -> Self {
        let types: Vec<Arc<UserType>> = catalog.user_types().cloned().collect();
        let path = if types.is_empty() { Vec::new() } else { path.map(str::to_owned).collect() };
        Self { types, path }
    }

    /// The types of a table's columns, by their names alone or with their schemas.
    pub fn of_columns(table: &Table) -> Self {
        let types = table.columns.iter().filter_map(|column| column.sql_type.user_type());
        let types: Vec<Arc<UserType>> = types.cloned().collect();
        let path = types.iter().map(|user| user.schema.clone()).collect();
        Self { types, path }
    }

    /// The type of a name, and whether the name means arrays of it.
    pub fn find(&self, schema: Option<&str>, name: &str) -> Option<(&Arc<UserType>, bool)> {
        let item = name.strip_prefix('_');
        let exact = self.named(schema, name).map(|user| (user, false));
        exact.or_else(|| Some((self.named(schema, item?)?, true)))
    }

    fn named(&self, schema: Option<&str>, name: &str) -> Option<&Arc<UserType>> {
        let within = |schema: &str| {
            self.types.iter().find(|user| user.schema == schema && user.name == name)
        };
        match schema {
            Some(schema) => within(schema),
            None => self.path.iter().find_map(|schema| within(schema)),
        }
    }
}
