//! The serialized form of a catalog: its definitions. The index of names is rebuilt.

use crate::{Catalog, Relation, Role, Schema, is_temporary_schema};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The definitions of a catalog.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Definitions {
    pub(super) schemas: Vec<Schema>,
    pub(super) relations: Vec<Relation>,
    pub(super) roles: Vec<Role>,
    pub(super) public: Role,
}

impl From<Catalog> for Definitions {
    fn from(catalog: Catalog) -> Self {
        Self {
            schemas: catalog.schemas.values().map(|schema| Schema::clone(schema)).collect(),
            relations: catalog.relations.values().cloned().collect(),
            roles: catalog.roles.values().map(|role| Role::clone(role)).collect(),
            public: Role::clone(&catalog.public),
        }
    }
}

impl From<Definitions> for Catalog {
    fn from(definitions: Definitions) -> Self {
        let Definitions { schemas, relations, roles, public } = definitions;
        let name = |r: &Relation| ((r.schema().to_owned(), r.name().to_owned()), r.id());
        Self {
            names: relations.iter().map(name).collect(),
            schemas: schemas.into_iter().map(|s| (s.name.clone(), Arc::new(s))).collect(),
            relations: relations.into_iter().map(|r| (r.id(), r)).collect(),
            roles: roles.into_iter().map(|r| (r.name.clone(), Arc::new(r))).collect(),
            public: Arc::new(public),
        }
    }
}

impl Catalog {
    /// Returns the catalog without temporary schemas and relations: the part that all servers
    /// share.
    pub fn shared(&self) -> Self {
        let mut definitions = Definitions::from(self.clone());
        definitions.schemas.retain(|schema| !is_temporary_schema(&schema.name));
        definitions.relations.retain(|relation| !relation.is_temporary());
        definitions.into()
    }
}
