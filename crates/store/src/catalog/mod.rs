//! What tables, views and sequences there are, as plain data.
//!
//! A [`Catalog`] is an immutable value: a change makes a new one ([`Catalog::apply`]), and readers keep
//! the one that they began with. SQL text (defaults, checks, view bodies) is kept as text; its meaning is
//! the business of the layer above.

mod change;
mod definitions;
mod role;
mod sql_type;
mod wire;

pub use change::CatalogChange;
pub use definitions::{
    BUCKET_SIZE_MAX, BUCKET_SIZE_MIN, Check, Column, ColumnId, DEFAULT_BUCKET_SIZE, Identity,
    OnCommit, Relation, RelationId, Schema, Sequence, Table, TableId, View, is_temporary_schema,
    temporary_schema,
};
pub use role::{Object, PUBLIC, Privileges, Role};
pub use sql_type::SqlType;

use imbl::OrdMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The schema that exists from the start, where unqualified names lead.
pub const DEFAULT_SCHEMA: &str = "public";

/// Names that are the system's own.
pub const RESERVED_SCHEMAS: [&str; 3] = ["pando", "information_schema", "pg_catalog"];

/// All schemas and relations at one moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "wire::Definitions", into = "wire::Definitions")]
pub struct Catalog {
    schemas: OrdMap<String, Arc<Schema>>,
    names: OrdMap<(String, String), RelationId>,
    relations: OrdMap<RelationId, Relation>,
    roles: OrdMap<String, Arc<Role>>,
    public: Arc<Role>,
}

impl Default for Catalog {
    fn default() -> Self {
        Self::new()
    }
}

impl Catalog {
    /// The catalog of a new database: one empty schema.
    pub fn new() -> Self {
        let public = Schema { name: DEFAULT_SCHEMA.to_owned(), comment: None };
        Self {
            schemas: OrdMap::unit(DEFAULT_SCHEMA.to_owned(), Arc::new(public)),
            names: OrdMap::new(),
            relations: OrdMap::new(),
            roles: OrdMap::new(),
            public: Arc::new(public_role()),
        }
    }

    /// The schema of a name.
    pub fn schema(&self, name: &str) -> Option<&Arc<Schema>> {
        self.schemas.get(name)
    }

    /// All schemas by name.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<Schema>> {
        self.schemas.values()
    }

    /// The role of a name.
    pub fn role(&self, name: &str) -> Option<&Arc<Role>> {
        self.roles.get(name)
    }

    /// What everybody may do.
    pub fn public(&self) -> &Arc<Role> {
        &self.public
    }

    /// All roles by name, without that of everybody.
    pub fn roles(&self) -> impl ExactSizeIterator<Item = &Arc<Role>> {
        self.roles.values()
    }

    /// The relation of a name.
    pub fn relation(&self, schema: &str, name: &str) -> Option<&Relation> {
        let id = self.names.get(&(schema.to_owned(), name.to_owned()))?;
        self.relations.get(id)
    }

    /// The relation of an id.
    pub fn relation_by_id(&self, id: RelationId) -> Option<&Relation> {
        self.relations.get(&id)
    }

    /// The table of an id.
    pub fn table_by_id(&self, id: TableId) -> Option<&Arc<Table>> {
        match self.relations.get(&id.relation())? {
            Relation::Table(table) => Some(table),
            Relation::View(_) | Relation::Sequence(_) => None,
        }
    }

    /// The table that another one lies beside ([`Table::colocate_with`]), if it still exists.
    pub fn colocated(&self, table: &Table) -> Option<&Arc<Table>> {
        table.colocate_with.and_then(|other| self.table_by_id(other))
    }

    /// All relations, by schema and name.
    pub fn relations(&self) -> impl Iterator<Item = &Relation> {
        self.names.values().filter_map(|id| self.relations.get(id))
    }

    /// The relations of one schema, by name.
    pub fn relations_in<'a>(&'a self, schema: &'a str) -> impl Iterator<Item = &'a Relation> {
        let first = (schema.to_owned(), String::new());
        let names = self.names.range(first..).take_while(move |((of, _), _)| of == schema);
        names.filter_map(|(_, id)| self.relations.get(id))
    }
}

/// At first everybody may use the schema that exists from the start, and make nothing in it.
fn public_role() -> Role {
    let schemas = [(DEFAULT_SCHEMA.to_owned(), Privileges::USAGE)].into();
    Role { schemas, ..Role::new(PUBLIC) }
}
